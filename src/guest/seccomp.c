/**
 * @fileoverview Seccomp for the client: see seccomp.h. What results mean follows the kernel's
 * Documentation/userspace-api/seccomp_filter.rst.
 */
#include "guest/seccomp.h"

#include <asm/unistd.h>
#include <errno.h>
#include <linux/audit.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/log.h"
#include "guest/events.h"
#include "guest/host_memory.h"
#include "guest/packet_filter.h"
#include "guest/process.h"
#include "guest/signal.h"
#include "guest/syscall.h"
#include "guest/thread.h"
#include "guest/x86_64/abi.h"
#include "jit/cache.h"
#include "jit/runtime.h"

/** What the engine can apply; no listener: only the kernel can make its descriptor. */
#define KNOWN_FLAGS \
    (SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_LOG | SECCOMP_FILTER_FLAG_SPEC_ALLOW | SECCOMP_FILTER_FLAG_TSYNC_ESRCH)
#define SYNCHRONISING_FLAGS (SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_TSYNC_ESRCH)
/** The kernel's limit for all filters of a thread together, and what it adds for each. */
#define MOST_INSTRUCTIONS 32768u
#define FILTER_PENALTY 4u
#define MOST_ERROR 4095u
/** si_code of a SIGSYS by a filter, in kernels' headers only (asm-generic/siginfo.h). */
#ifndef SYS_SECCOMP
#define SYS_SECCOMP 1
#endif

/** Immutable once a thread points to it; never freed, as in the kernel while any thread lives that has it. */
typedef struct sn_filter {
    const struct sn_filter *older;
    uint32_t length;
    uint32_t total;    /**< instructions of this and all older ones, as the kernel counts them */
    uint32_t flags;    /**< as it was installed */
    uint32_t by_prctl; /**< which call installed it: older filters may allow only one of the two */
    struct sock_filter program[];
} sn_filter;

/** Held while a filter is made the newest of one or all threads. */
static sn_lock install_lock;
/** What the last TSYNC gave all threads: a thread that was being made meanwhile takes it when it begins. */
static const sn_filter *_Atomic synchronised;

static size_t size_of(uint32_t length) { return sizeof(sn_filter) + length * sizeof(struct sock_filter); }

static bool is_ancestor(const sn_filter *older, const sn_filter *newer) {
    while (newer && newer != older) newer = newer->older;
    return newer == older;
}

/* --------------------------------------------------------------------- installing */

/** Ask the kernel to install a filter for this thread, by the call that the client used. */
static long kernel_install(bool by_prctl, uint32_t flags, const struct sock_filter *program, uint32_t length) {
    struct sock_fprog whole = {.len = (unsigned short)length, .filter = (struct sock_filter *)program};
    if (by_prctl) return sn_syscall(__NR_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole, 0, 0);
    return sn_syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags, &whole);
}

/** The kernel's checks that come before it looks at the program, with a program that can't be read. */
static long kernel_check(bool by_prctl, uint32_t flags, uint32_t length) {
    const struct sock_filter *unreadable = (const void *)UINT64_C(0xfffffffffffff000);
    long result = kernel_install(by_prctl, flags, unreadable, length);
    return result == -EFAULT ? 0 : result;
}

/** Copy the client's program into a new node. */
static long read_program(uint64_t address, uint32_t length, sn_filter **filter) {
    sn_filter *made = sn_host_allocate(size_of(length));
    if (!made) return -ENOMEM;
    made->length = length;
    long result = 0;
    if (!sn_copy_safely(made->program, (const void *)address, length * sizeof *made->program)) result = -EFAULT;
    else if (!sn_packet_filter_check(made->program, length)) result = -EINVAL;
    if (result) sn_host_free(made, size_of(length));
    else *filter = made;
    return result;
}

static void adopt_synchronised(sn_thread *thread) {
    const sn_filter *newest = synchronised;
    if (newest && !thread->borrowed && is_ancestor(thread->filters, newest))
        __atomic_store_n(&thread->filters, newest, __ATOMIC_RELEASE);
}

static void visit_to_synchronise(sn_thread *thread, void *data) {
    (void)data;
    adopt_synchronised(thread);
}

/** Make a node the newest of this thread, or of all. */
static long attach(sn_thread *thread, sn_filter *filter) {
    static const struct sock_filter allow[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    filter->older = thread->filters;
    filter->total = filter->length + FILTER_PENALTY + (thread->filters ? thread->filters->total : 0);
    if (filter->total - FILTER_PENALTY > MOST_INSTRUCTIONS) return -ENOMEM;
    /* Before a filter of one thread is in force, calls of every thread come here. */
    sn_emulate_all_syscalls();
    long result = kernel_install(filter->by_prctl, filter->flags, allow, 1);
    if (result) return result;
    thread->filters = filter;
    if (filter->flags & SECCOMP_FILTER_FLAG_TSYNC && !thread->borrowed) {
        synchronised = filter;
        sn_threads_visit(visit_to_synchronise, NULL);
    }
    return 0;
}

static long set_filter(sn_thread *thread, bool by_prctl, uint32_t flags, uint64_t address) {
    struct sock_fprog whole;
    sn_filter *filter;
    if (!sn_copy_safely(&whole, (const void *)address, sizeof whole)) return -EFAULT;
    long result = kernel_check(by_prctl, flags, whole.len);
    if (result) return result;
    if (flags & ~(uint32_t)KNOWN_FLAGS || !whole.filter) return -EINVAL;
    result = read_program((uint64_t)whole.filter, whole.len, &filter);
    if (result) return result;
    filter->flags = flags;
    filter->by_prctl = by_prctl;
    sn_lock_acquire(&install_lock);
    result = attach(thread, filter);
    sn_lock_release(&install_lock);
    if (result) sn_host_free(filter, size_of(filter->length));
    return result;
}

static long set_strict(sn_thread *thread) {
    if (thread->filters) return -EINVAL;
    sn_emulate_all_syscalls();
    thread->strict = true;
    return 0;
}

long sn_seccomp(sn_thread *thread, const uint64_t arguments[6]) {
    uint32_t operation = (uint32_t)arguments[0], flags = (uint32_t)arguments[1];
    switch (operation) {
    case SECCOMP_SET_MODE_STRICT: return flags || arguments[2] ? -EINVAL : set_strict(thread);
    case SECCOMP_SET_MODE_FILTER: return set_filter(thread, false, flags, arguments[2]);
    default: return sn_syscall_pass(thread, __NR_seccomp, arguments);
    }
}

long sn_seccomp_set_mode(sn_thread *thread, const uint64_t arguments[6]) {
    switch (arguments[1]) {
    case SECCOMP_MODE_STRICT: return set_strict(thread);
    case SECCOMP_MODE_FILTER: return set_filter(thread, true, 0, arguments[2]);
    default: return -EINVAL;
    }
}

void sn_seccomp_thread_started(sn_thread *thread) { adopt_synchronised(thread); }

void sn_seccomp_after_fork(void) {
    sn_lock_reset(&install_lock);
    synchronised = NULL;
}

/* ----------------------------------------------------------------------- applying */

/** Death by a signal that no handler sees. */
static _Noreturn void kill_process(sn_thread *thread, int number) {
    sn_signals_hold_mask(thread);
    sn_events_note_signal(thread, number);
    sn_events_tell_signal(thread);
    sn_process_end(thread);
    sn_die_by_signal(thread, number);
}

static _Noreturn void kill_thread(sn_thread *thread, int number) {
    if (thread->borrowed || sn_threads_alive() == 1) kill_process(thread, number);
    sn_thread_exit(thread, number);
}

/** SIGSYS instead of the call. The handler sees the registers as they were before it. */
static long trap(sn_thread *thread, const struct seccomp_data *data, uint32_t reason) {
    sn_signals_hold_mask(thread);
    /* A signal came first: after its handler the call is made again. */
    if (thread->pending.present) return SN_INTERRUPTED;
    uint64_t handler = thread->signals->actions[SIGSYS].handler;
    if (handler == (uint64_t)SIG_DFL || handler == (uint64_t)SIG_IGN ||
        sn_client_mask(thread) & SN_SIGNAL_BIT(SIGSYS))
        kill_process(thread, SIGSYS);
    siginfo_t info = {.si_signo = SIGSYS, .si_code = SYS_SECCOMP, .si_errno = (int)reason};
    info.si_call_addr = (void *)data->instruction_pointer;
    info.si_syscall = data->nr;
    info.si_arch = data->arch;
    sn_signal_raise(thread, &info);
    return SN_SYSCALL_NO_RESULT;
}

/** The most restrictive result; of equal ones that of the newest filter. */
static uint32_t ask_filters(const sn_filter *filter, const struct seccomp_data *data) {
    uint32_t result = SECCOMP_RET_ALLOW;
    for (; filter; filter = filter->older) {
        uint32_t one = sn_packet_filter_run(filter->program, data);
        if ((int32_t)(one & SECCOMP_RET_ACTION_FULL) < (int32_t)(result & SECCOMP_RET_ACTION_FULL)) result = one;
    }
    return result;
}

static bool act(sn_thread *thread, const struct seccomp_data *data, uint32_t verdict, long *result) {
    uint32_t reason = verdict & SECCOMP_RET_DATA;
    switch (verdict & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ALLOW:
    case SECCOMP_RET_LOG:
        return true;
    case SECCOMP_RET_ERRNO:
        *result = -(long)(reason < MOST_ERROR ? reason : MOST_ERROR);
        return false;
    case SECCOMP_RET_TRAP:
        *result = trap(thread, data, reason);
        return false;
    case SECCOMP_RET_TRACE:      /* as without a tracer */
    case SECCOMP_RET_USER_NOTIF: /* as without a listener */
        *result = -ENOSYS;
        return false;
    case SECCOMP_RET_KILL_THREAD:
        kill_thread(thread, SIGSYS);
    default:
        kill_process(thread, SIGSYS);
    }
}

static bool is_strictly_permitted(uint32_t number) {
    return number == __NR_read || number == __NR_write || number == __NR_exit || number == __NR_rt_sigreturn;
}

bool sn_seccomp_permits(sn_thread *thread, uint64_t number, const uint64_t arguments[6], long *result) {
    if (thread->strict && !is_strictly_permitted((uint32_t)number)) kill_thread(thread, SIGKILL);
    const sn_filter *filters = __atomic_load_n(&thread->filters, __ATOMIC_ACQUIRE);
    if (!filters) return true;
    struct seccomp_data data = {.nr = (int)number, .arch = SN_ABI_AUDIT_ARCHITECTURE, .instruction_pointer = thread->pc};
    memcpy(data.args, arguments, sizeof data.args);
    return act(thread, &data, ask_filters(filters, &data), result);
}

/* ------------------------------------------------------------------------ handing on */

/** The oldest filter of `newest` that is newer than `known`. */
static const sn_filter *next_newer(const sn_filter *newest, const sn_filter *known) {
    while (newest != known && newest->older != known) newest = newest->older;
    return newest;
}

long sn_seccomp_hand_to_kernel(sn_thread *thread) {
    while (thread->kernel_filters != thread->filters) {
        const sn_filter *filter = next_newer(thread->filters, thread->kernel_filters);
        /* For this thread alone: the others, which execve will end, still run engine code. */
        long result = kernel_install(filter->by_prctl, filter->flags & ~(uint32_t)SYNCHRONISING_FLAGS, filter->program,
                                     filter->length);
        if (result) return result;
        thread->kernel_filters = filter;
    }
    return 0;
}

#define FILE_MAGIC UINT64_C(0x3152544c4946534e)

/** What stands in front of each program in the file; oldest first. */
typedef struct saved_filter {
    uint64_t magic;
    uint32_t length, flags, by_prctl, unused;
} saved_filter;

static long write_all(int descriptor, const void *bytes, size_t size) {
    while (size) {
        long done = sn_syscall(__NR_write, descriptor, bytes, size);
        if (done == -EINTR) continue;
        if (done < 0) return done;
        bytes = (const char *)bytes + done;
        size -= (size_t)done;
    }
    return 0;
}

static long save_one(int descriptor, const sn_filter *filter) {
    saved_filter head = {FILE_MAGIC, filter->length, filter->flags, filter->by_prctl, 0};
    long result = write_all(descriptor, &head, sizeof head);
    return result ? result : write_all(descriptor, filter->program, filter->length * sizeof *filter->program);
}

long sn_seccomp_save(const sn_thread *thread) {
    if (!thread->filters) return -1;
    long descriptor = sn_syscall(__NR_memfd_create, "sonde-filters", 0);
    if (descriptor < 0) return descriptor == -EPERM ? -EACCES : descriptor; /* -1 means something else */
    const sn_filter *saved = NULL;
    while (saved != thread->filters) {
        const sn_filter *filter = next_newer(thread->filters, saved);
        long result = save_one((int)descriptor, filter);
        if (result) {
            sn_syscall(__NR_close, descriptor);
            return result;
        }
        saved = filter;
    }
    sn_syscall(__NR_lseek, descriptor, 0, SEEK_SET);
    return descriptor;
}

static bool read_all(int descriptor, void *bytes, size_t size) {
    for (size_t have = 0; have < size;) {
        long got = sn_syscall(__NR_read, descriptor, (char *)bytes + have, size - have);
        if (got <= 0) return false;
        have += (size_t)got;
    }
    return true;
}

/** The next filter of the file, or NULL. */
static sn_filter *restore_one(int descriptor) {
    saved_filter head;
    if (!read_all(descriptor, &head, sizeof head) || head.magic != FILE_MAGIC || head.length > BPF_MAXINSNS) return NULL;
    sn_filter *filter = sn_host_allocate(size_of(head.length));
    if (!filter) return NULL;
    filter->length = head.length;
    filter->flags = head.flags;
    filter->by_prctl = head.by_prctl;
    if (read_all(descriptor, filter->program, head.length * sizeof *filter->program) &&
        sn_packet_filter_check(filter->program, head.length))
        return filter;
    sn_host_free(filter, size_of(head.length));
    return NULL;
}

void sn_seccomp_restore(sn_thread *thread, int descriptor) {
    off_t size = lseek(descriptor, 0, SEEK_END);
    lseek(descriptor, 0, SEEK_SET);
    while (size > 0 && lseek(descriptor, 0, SEEK_CUR) < size) {
        sn_filter *filter = restore_one(descriptor);
        if (!filter) break;
        filter->older = thread->filters;
        filter->total = filter->length + FILTER_PENALTY + (thread->filters ? thread->filters->total : 0);
        thread->filters = filter;
    }
    if (size <= 0 || lseek(descriptor, 0, SEEK_CUR) != size)
        sn_fail(SN_STATUS_ENGINE, "cannot read the program's seccomp filters from descriptor %d", descriptor);
    close(descriptor);
    sn_emulate_all_syscalls();
}
