/**
 * @fileoverview The engine's own file descriptors. See descriptor.h.
 */
#include "base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    HOLDERS = 16,     /* more than the engine ever has open at once */
    HIGHEST = 1024,   /* a higher number makes the kernel enlarge its table: memory in every process */
    LOWEST_HIGH = 10, /* below it, shells and the client's first files live */
};

static _Atomic(int *) holders[HOLDERS];

/** The client has every number that its soft limit allows: one above, which the hard limit may allow. */
static int duplicate_beyond_limit(int descriptor) {
    struct rlimit limit, higher;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return -1;
    higher = (struct rlimit){limit.rlim_cur + 2 * HOLDERS, limit.rlim_max};
    if (higher.rlim_cur > higher.rlim_max)
        higher.rlim_cur = higher.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &higher) != 0)
        return -1;
    int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, (int)limit.rlim_cur);
    int error = errno;
    setrlimit(RLIMIT_NOFILE, &limit);
    errno = error;
    return copy;
}

static int duplicate_high(int descriptor) {
    struct rlimit limit;
    int top = HIGHEST;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < HIGHEST)
        top = (int)limit.rlim_cur;
    for (int from = top - 1; from >= LOWEST_HIGH && from >= top - 2 * HOLDERS; from--) {
        int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, from);
        if (copy >= 0 && copy < top)
            return copy;
        if (copy >= 0)
            close(copy);
    }
    /* The client has all of those: anything above them. */
    int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, top);
    return copy >= 0 ? copy : duplicate_beyond_limit(descriptor);
}

static bool register_holder(int *holder) {
    for (unsigned i = 0; i < HOLDERS; i++) {
        int *expected = NULL;
        if (atomic_compare_exchange_strong(&holders[i], &expected, holder) || expected == holder)
            return true;
    }
    errno = EMFILE;
    return false;
}

static int take(int *holder, int descriptor, bool copy) {
    *holder = -1;
    if (descriptor < 0) {
        errno = EBADF;
        return -1;
    }
    int high = duplicate_high(descriptor);
    if (high < 0 && errno == EBADF)
        return -1;
    if (high < 0)
        high = copy ? fcntl(descriptor, F_DUPFD_CLOEXEC, 3) : descriptor;
    else if (!copy)
        close(descriptor);
    if (high < 0)
        return -1;
    fcntl(high, F_SETFD, FD_CLOEXEC);
    if (!register_holder(holder)) {
        close(high);
        errno = EMFILE;
        return -1;
    }
    *holder = high;
    return high;
}

int sn_descriptor_take(int *holder, int descriptor) {
    return take(holder, descriptor, false);
}

int sn_descriptor_take_copy(int *holder, int descriptor) {
    return take(holder, descriptor, true);
}

int sn_descriptor_close(int *holder) {
    int descriptor = *holder;
    *holder = -1;
    for (unsigned i = 0; i < HOLDERS; i++) {
        int *expected = holder;
        atomic_compare_exchange_strong(&holders[i], &expected, NULL);
    }
    if (descriptor < 0) {
        errno = EBADF;
        return -1;
    }
    return close(descriptor);
}

static int *holder_of(int number) {
    for (unsigned i = 0; number >= 0 && i < HOLDERS; i++) {
        int *holder = atomic_load(&holders[i]);
        if (holder && *holder == number)
            return holder;
    }
    return NULL;
}

bool sn_descriptor_is_taken(int number) {
    return holder_of(number) != NULL;
}

int sn_descriptor_next_taken(int from) {
    int next = -1;
    for (unsigned i = 0; i < HOLDERS; i++) {
        int *holder = atomic_load(&holders[i]);
        if (holder && *holder >= from && (next < 0 || *holder < next))
            next = *holder;
    }
    return next;
}

bool sn_descriptor_give_way(int number) {
    int *holder = holder_of(number);
    if (!holder)
        return true;
    int moved = duplicate_high(number);
    if (moved < 0)
        return false;
    /* The number is left open: the client's dup2 onto it replaces it in one step, with no moment in which another
       thread's open could get it. */
    *holder = moved;
    return true;
}
