/**
 * @fileoverview File descriptors and where they were made, for --track-fds. See descriptors.h.
 *
 * Which calls make descriptors: section 2 of the manual pages. Whether one is still open is asked of the kernel at the end.
 */
#include "descriptors.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "report.h"

#define STANDARD 3 /* descriptors that a program has at its start */

typedef struct descriptor {
    int number;
    const mc_stack *stack; /**< NULL: the program had it at the start */
} descriptor;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    descriptor *items; /**< in the order in which they were made last */
    size_t count, room;
} made;

static void forget(int number) {
    for (size_t i = 0; i < made.count; i++) {
        if (made.items[i].number == number) {
            memmove(&made.items[i], &made.items[i + 1], (made.count - i - 1) * sizeof *made.items);
            made.count--;
            return;
        }
    }
}

static void note(int number, const mc_stack *stack) {
    pthread_mutex_lock(&lock);
    forget(number);
    mc_grow(&made.items, &made.room, made.count + 1, sizeof *made.items);
    made.items[made.count++] = (descriptor){number, stack};
    pthread_mutex_unlock(&lock);
}

/** Calls whose result is a descriptor. */
static bool returns_descriptor(const sn_system_call *call) {
    static const char *const names[] = {
        "open", "openat", "openat2", "creat", "dup", "dup2", "dup3", "socket", "accept", "accept4", "eventfd", "eventfd2",
        "epoll_create", "epoll_create1", "timerfd_create", "signalfd", "signalfd4", "inotify_init", "inotify_init1", "memfd_create",
        "pidfd_open", "pidfd_getfd", "userfaultfd", "perf_event_open", "fanotify_init", "io_uring_setup", "memfd_secret", "fsopen",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], call->name) == 0) {
            return true;
        }
    }
    return strcmp(call->name, "fcntl") == 0 && (call->arguments[1] == F_DUPFD || call->arguments[1] == F_DUPFD_CLOEXEC);
}

/** Calls that write two descriptors to an address, or 0. */
static uint64_t pair_at(const sn_system_call *call) {
    if (strcmp(call->name, "pipe") == 0 || strcmp(call->name, "pipe2") == 0) {
        return call->arguments[0];
    }
    return strcmp(call->name, "socketpair") == 0 ? call->arguments[3] : 0;
}

void mc_descriptors_after(sn_thread *thread, const sn_system_call *call) {
    if (mc_current.track_descriptors == MC_TRACK_NO || call->result < 0 || call->name == NULL) {
        return;
    }
    uint64_t pair = pair_at(call);
    if (pair == 0 && !returns_descriptor(call)) {
        return;
    }
    const mc_stack *stack = mc_stack_of(sn_context_of(thread), call->address);
    int numbers[2] = {(int)call->result, -1};
    struct iovec here = {numbers, sizeof numbers}, there = {(void *)(uintptr_t)pair, sizeof numbers};
    if (pair != 0 && process_vm_readv(getpid(), &here, 1, &there, 1, 0) != (ssize_t)sizeof numbers) {
        return;
    }
    for (unsigned i = 0; i < 2 && numbers[i] >= 0; i++) {
        note(numbers[i], stack);
    }
}

static bool is_open(int number) { return fcntl(number, F_GETFD) >= 0; }

static void print(const descriptor *item) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", item->number);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length >= 0) {
        path[length] = 0;
        mc_line("Open file descriptor %d: %s", item->number, path);
    } else {
        mc_line("Open file descriptor %d:", item->number);
    }
    if (item->stack != NULL) {
        mc_print_stack(item->stack);
    } else {
        mc_line("   <inherited from parent>");
    }
    mc_line(NULL);
}

static bool was_made(int number) {
    for (size_t i = 0; i < made.count; i++) {
        if (made.items[i].number == number) {
            return true;
        }
    }
    return false;
}

void mc_descriptors_print(void) {
    unsigned open_count = 0, standard = 0;
    if (mc_current.track_descriptors == MC_TRACK_NO) {
        return;
    }
    for (int number = 0; number < STANDARD; number++) {
        bool is_inherited = is_open(number) && !was_made(number);
        standard += is_open(number);
        open_count += is_inherited;
    }
    for (size_t i = 0; i < made.count; i++) {
        open_count += is_open(made.items[i].number);
    }
    mc_line("FILE DESCRIPTORS: %u open (%u std) at exit.", open_count, standard);
    for (size_t i = made.count; i-- > 0;) {
        if (is_open(made.items[i].number)) {
            print(&made.items[i]);
        }
    }
    for (int number = STANDARD; number-- > 0;) {
        if (mc_current.track_descriptors == MC_TRACK_ALL && is_open(number) && !was_made(number)) {
            print(&(descriptor){number, NULL});
        }
    }
    mc_line(NULL);
}
