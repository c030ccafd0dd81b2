/**
 * @fileoverview The table of emulated system calls, and the short ones: memory, descriptors, paths, segment bases.
 *
 * Everything that is not in the table goes straight from the code cache to the kernel. What is here would change the
 * engine's own memory, signals, threads or descriptors, or would show the client the engine.
 */
#include "guest/syscall.h"

#include <asm/prctl.h>
#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/x86_64/raw_syscall.h"
#include "guest/events.h"
#include "guest/limits.h"
#include "guest/listing.h"
#include "guest/loader.h"
#include "guest/memory_events.h"
#include "guest/process.h"
#include "guest/procfs.h"
#include "guest/seccomp.h"
#include "guest/signal.h"
#include "guest/space.h"
#include "guest/thread.h"
#include "guest/x86_64/abi.h"
#include "jit/cache.h"
#include "jit/runtime.h"

typedef struct call {
    sn_thread *thread;
    uint64_t number;
    uint64_t arguments[6];
} call;

/* --------------------------------------------------------------- passing through */

/** Argument numbers of a mask that is in force during the call, and of its size. */
typedef struct masked_call {
    uint16_t number;
    uint8_t mask, size;
    bool indirect; /**< the mask's argument is the address of {address of the mask, size} */
} masked_call;

static const masked_call masked_calls[] = {
    {__NR_ppoll, 3, 4, false},        {__NR_pselect6, 5, 0, true}, {__NR_epoll_pwait, 4, 5, false},
    {__NR_epoll_pwait2, 4, 5, false}, {__NR_io_pgetevents, 5, 0, true},
};

/** The mask that a call brings; false if it brings none. */
static bool mask_during(uint64_t number, const uint64_t arguments[6], uint64_t *mask) {
    for (size_t i = 0; i < sizeof masked_calls / sizeof *masked_calls; i++) {
        const masked_call *masked = &masked_calls[i];
        if (masked->number != number) continue;
        uint64_t where[2] = {arguments[masked->mask], masked->indirect ? 0 : arguments[masked->size]};
        if (masked->indirect && (!where[0] || !sn_copy_safely(where, (const void *)where[0], sizeof where))) return false;
        return where[0] && where[1] == sizeof *mask && sn_copy_safely(mask, (const void *)where[0], sizeof *mask);
    }
    return false;
}

static long pass_once(sn_thread *thread, uint64_t number, const uint64_t arguments[6]) {
    uint64_t mask;
    bool masked = mask_during(number, arguments, &mask);
    sn_engine_pause(thread);
    long result = sn_blocking_syscall(thread, (long)number, (const long *)arguments);
    sn_engine_resume(thread);
    if (masked && result == -EINTR && thread->pending.present) {
        thread->suspended = true;
        thread->suspended_mask = mask;
    }
    return result;
}

/* The host's mask is the client's unless a signal is pending, and then the call is not made. */
long sn_syscall_pass(sn_thread *thread, uint64_t number, const uint64_t arguments[6]) {
    long result = pass_once(thread, number, arguments);
    return result == -EFAULT && sn_space_unwatch_all() ? pass_once(thread, number, arguments) : result;
}

/* ------------------------------------------------------------------------ memory */

static long do_mmap(call *c) {
    const uint64_t *a = c->arguments;
    return sn_space_mmap(a[0], a[1], (int)a[2], (int)a[3], (int)a[4], a[5]);
}
static long do_munmap(call *c) { return sn_space_munmap(c->arguments[0], c->arguments[1]); }
static long do_mprotect(call *c) { return sn_space_mprotect(c->arguments[0], c->arguments[1], (int)c->arguments[2]); }
static long do_pkey_mprotect(call *c) {
    /* Without a key it is mprotect; with one the engine's view of protections would be wrong. */
    return (int)c->arguments[3] == -1 ? do_mprotect(c) : -EINVAL;
}
static long do_mremap(call *c) {
    const uint64_t *a = c->arguments;
    return sn_space_mremap(a[0], a[1], a[2], (int)a[3], a[4]);
}
static long do_remap_file_pages(call *c) {
    const uint64_t *a = c->arguments;
    return sn_space_remap_pages(a[0], a[1], (int)a[2], a[3], (int)a[4]);
}
/** Advice that throws contents away may bring back other code. */
static long do_madvise(call *c) {
    const uint64_t *a = c->arguments;
    long result = sn_syscall(__NR_madvise, a[0], a[1], a[2]);
    bool discards = a[2] == MADV_DONTNEED || a[2] == MADV_REMOVE || a[2] == MADV_FREE || a[2] == MADV_DONTNEED_LOCKED;
    if (discards) sn_code_discard(a[0], a[0] + a[1]);
    return result;
}
static long do_brk(call *c) { return sn_space_break(c->arguments[0]); }
static long do_shmat(call *c) { return sn_space_shmat((int)c->arguments[0], c->arguments[1], (int)c->arguments[2]); }
static long do_shmdt(call *c) { return sn_space_shmdt(c->arguments[0]); }
/** As a kernel without rseq: what goes with it is not there either. */
static long do_membarrier(call *c) {
    const uint64_t *a = c->arguments;
    const int for_rseq = MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ | MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ;
    if ((int)a[0] & for_rseq) return -EINVAL;
    long result = sn_syscall(__NR_membarrier, a[0], a[1], a[2]);
    return (int)a[0] == MEMBARRIER_CMD_QUERY && result > 0 ? result & ~for_rseq : result;
}
static long do_unknown(call *c) {
    (void)c;
    return -ENOSYS;
}

/* ----------------------------------------------------------------------- signals */

static long do_sigaction(call *c) { return sn_sigaction(c->thread, c->arguments); }
static long do_sigprocmask(call *c) { return sn_sigprocmask(c->thread, c->arguments); }
static long do_sigaltstack(call *c) { return sn_sigaltstack(c->thread, c->arguments); }
static long do_sigsuspend(call *c) { return sn_sigsuspend(c->thread, c->arguments); }
static long do_sigpending(call *c) { return sn_sigpending(c->thread, c->arguments); }
static long do_sigtimedwait(call *c) { return sn_sigtimedwait(c->thread, c->arguments); }
static long do_signalfd(call *c) { return sn_signalfd(c->thread, c->number, c->arguments); }
static long do_sigreturn(call *c) {
    if (!sn_sigreturn(c->thread)) {
        siginfo_t info = {.si_signo = SIGSEGV, .si_code = SI_KERNEL};
        sn_signal_raise(c->thread, &info);
    }
    return SN_SYSCALL_NO_RESULT;
}

/* ----------------------------------------------------------- threads and processes */

static long do_clone(call *c) { return sn_thread_clone(c->thread, c->number, c->arguments); }
static long do_exec(call *c) { return sn_process_exec(c->thread, c->number, c->arguments); }
static long do_exit(call *c) { sn_thread_exit(c->thread, (int)c->arguments[0]); }
static long do_exit_group(call *c) { sn_process_exit(c->thread, (int)c->arguments[0]); }

static long do_arch_prctl(call *c) {
    sn_thread *thread = c->thread;
    uint64_t address = c->arguments[1];
    switch (c->arguments[0]) {
    case ARCH_SET_FS:
    case ARCH_SET_GS:
        if (address >= UINT64_C(1) << 47) return -EPERM;
        if (c->arguments[0] == ARCH_SET_FS) thread->client_base = address;
        else thread->client_base2 = address;
        return 0;
    case ARCH_GET_FS:
        return sn_copy_safely((void *)address, &thread->client_base, 8) ? 0 : -EFAULT;
    case ARCH_GET_GS:
        return sn_copy_safely((void *)address, &thread->client_base2, 8) ? 0 : -EFAULT;
    default:
        return sn_syscall(__NR_arch_prctl, c->arguments[0], address);
    }
}

/* ------------------------------------------------------------- filters and limits */

static long do_seccomp(call *c) { return sn_seccomp(c->thread, c->arguments); }

/** A vfork child that is traced must not stop before it executes a program: its tracer waits in vfork until then. The
    signals that the engine raises itself would stop it. */
static long do_ptrace(call *c) {
    if (c->arguments[0] != PTRACE_TRACEME || !c->thread->borrowed) return sn_syscall_pass(c->thread, c->number, c->arguments);
    c->thread->traced_on_exec = true;
    return 0;
}

static long do_prctl(call *c) {
    switch ((int)c->arguments[0]) {
    case PR_SET_SECCOMP: return sn_seccomp_set_mode(c->thread, c->arguments);
    case PR_SET_SYSCALL_USER_DISPATCH: return -EINVAL; /* the kernel would stop the engine's own calls */
    default: return sn_syscall_pass(c->thread, c->number, c->arguments);
    }
}

static long change_limit(call *c, uint64_t resource, uint64_t new_address, uint64_t old_address) {
    sn_memory_limit new, old;
    if (new_address && !sn_copy_safely(&new, (const void *)new_address, sizeof new)) return -EFAULT;
    long result = sn_limits_change(c->thread, resource, new_address ? &new : NULL, &old);
    if (result) return result;
    return old_address && !sn_copy_safely((void *)old_address, &old, sizeof old) ? -EFAULT : 0;
}

static long do_prlimit(call *c) {
    const uint64_t *a = c->arguments;
    if (!sn_limits_concern(c->thread, a[0], a[1])) return sn_syscall_pass(c->thread, c->number, a);
    return change_limit(c, a[1], a[2], a[3]);
}
static long do_setrlimit(call *c) {
    const uint64_t *a = c->arguments;
    if (!sn_limits_concern(c->thread, 0, a[0])) return sn_syscall_pass(c->thread, c->number, a);
    return a[1] ? change_limit(c, a[0], a[1], 0) : -EFAULT;
}
static long do_getrlimit(call *c) {
    const uint64_t *a = c->arguments;
    if (!sn_limits_concern(c->thread, 0, a[0])) return sn_syscall_pass(c->thread, c->number, a);
    return a[1] ? change_limit(c, a[0], 0, a[1]) : -EFAULT;
}

/* ------------------------------------------------------------------- descriptors */

static long do_close(call *c) {
    return sn_descriptor_is_taken((int)c->arguments[0]) ? -EBADF : sn_syscall(__NR_close, c->arguments[0]);
}

static long do_duplicate(call *c) {
    const uint64_t *a = c->arguments;
    if (sn_descriptor_is_taken((int)a[0])) return -EBADF;
    if (a[0] != a[1] && !sn_descriptor_give_way((int)a[1])) return -EBADF;
    return sn_syscall(c->number, a[0], a[1], a[2]);
}

static long do_dup(call *c) {
    return sn_descriptor_is_taken((int)c->arguments[0]) ? -EBADF : sn_syscall(__NR_dup, c->arguments[0]);
}
static long do_fcntl(call *c) {
    return sn_descriptor_is_taken((int)c->arguments[0]) ? -EBADF : sn_syscall_pass(c->thread, c->number, c->arguments);
}

/** Folders: entries that stand for the engine's descriptors are taken out of what the client read. */
static long do_getdents(call *c) {
    const uint64_t *a = c->arguments;
    for (;;) {
        long result = sn_syscall_pass(c->thread, c->number, a);
        if (result <= 0) return result;
        uint64_t left = sn_listing_clean((int)a[0], c->number == __NR_getdents64, a[1], (uint64_t)result);
        if (left) return (long)left; /* else nothing remains of this part, and 0 would mean the end */
    }
}

/** The engine's descriptors inside the range stay; the pieces around them are closed. */
static long do_close_range(call *c) {
    unsigned first = (unsigned)c->arguments[0], last = (unsigned)c->arguments[1];
    if (first > last) return -EINVAL;
    unsigned from = first;
    while (from <= last) {
        int next = from > INT_MAX ? -1 : sn_descriptor_next_taken((int)from);
        if (next < 0 || (unsigned)next > last) return sn_syscall(__NR_close_range, from, last, c->arguments[2]);
        if ((unsigned)next > from) {
            long result = sn_syscall(__NR_close_range, from, next - 1, c->arguments[2]);
            if (result) return result;
        }
        from = (unsigned)next + 1;
    }
    return 0;
}

/* ------------------------------------------------------------------------- paths */

/** Copy a path of the client: the host sees the client's own string otherwise, so that only what could name a file of
    /proc is of interest. */
static bool names_proc(uint64_t path, char buffer[PATH_MAX]) {
    size_t have = 0;
    while (have < PATH_MAX) {
        size_t piece = 64 - ((path + have) & 63);
        if (piece > PATH_MAX - have) piece = PATH_MAX - have;
        if (!sn_copy_safely(buffer + have, (const void *)(path + have), piece)) return false;
        if (memchr(buffer + have, 0, piece)) return true;
        have += piece;
    }
    return false;
}

static long do_open(call *c) {
    const uint64_t *a = c->arguments;
    bool at = c->number == __NR_openat;
    char path[PATH_MAX];
    long result;
    bool known = names_proc(at ? a[1] : a[0], path);
    if (known && sn_procfs_hides(at ? (int)a[0] : AT_FDCWD, path)) return -ENOENT;
    if (known &&
        sn_procfs_open(at ? (int)a[0] : AT_FDCWD, path, (int)(at ? a[2] : a[1]), (int)(at ? a[3] : a[2]), &result))
        return result;
    return sn_syscall_pass(c->thread, c->number, a);
}

static long do_readlink(call *c) {
    const uint64_t *a = c->arguments;
    unsigned first = c->number == __NR_readlinkat;
    char path[PATH_MAX];
    bool known = names_proc(a[first], path);
    if (known && sn_procfs_hides(first ? (int)a[0] : AT_FDCWD, path)) return -ENOENT;
    const char *program = known ? sn_procfs_exe_path(path) : NULL;
    if (!program) return sn_syscall_pass(c->thread, c->number, a);
    size_t size = strlen(program);
    if ((int)a[first + 2] <= 0) return -EINVAL;
    if (size > a[first + 2]) size = a[first + 2];
    return sn_copy_safely((void *)a[first + 1], program, size) ? (long)size : -EFAULT;
}

/** Whether a call with a path is about a link itself, not about what it leads to. */
static bool is_about_link(const call *c) {
    switch (c->number) {
    case __NR_lstat: return true;
    case __NR_newfstatat:
    case __NR_faccessat2: return c->arguments[3] & AT_SYMLINK_NOFOLLOW;
    case __NR_statx: return c->arguments[2] & AT_SYMLINK_NOFOLLOW;
    default: return false;
    }
}

/** Calls whose path, argument number `argument`, may name the client's own program or a descriptor of the engine. */
static long with_path(call *c, unsigned argument) {
    const uint64_t *a = c->arguments;
    char path[PATH_MAX];
    bool known = names_proc(a[argument], path);
    if (known && sn_procfs_hides(argument ? (int)a[0] : AT_FDCWD, path)) return -ENOENT;
    const char *program = known && !is_about_link(c) ? sn_procfs_exe_path(path) : NULL;
    uint64_t changed[6];
    memcpy(changed, a, sizeof changed);
    if (program) changed[argument] = (uint64_t)program;
    return sn_syscall_pass(c->thread, c->number, changed);
}
static long do_path_first(call *c) { return with_path(c, 0); }
static long do_path_second(call *c) { return with_path(c, 1); }

/* ------------------------------------------------------------------------ table */

typedef struct emulation {
    uint16_t number;
    long (*run)(call *c);
} emulation;

static const emulation emulations[] = {
    {__NR_mmap, do_mmap},
    {__NR_munmap, do_munmap},
    {__NR_mprotect, do_mprotect},
    {__NR_pkey_mprotect, do_pkey_mprotect},
    {__NR_mremap, do_mremap},
    {__NR_remap_file_pages, do_remap_file_pages},
    {__NR_madvise, do_madvise},
    {__NR_brk, do_brk},
    {__NR_shmat, do_shmat},
    {__NR_shmdt, do_shmdt},
    {__NR_rt_sigaction, do_sigaction},
    {__NR_rt_sigprocmask, do_sigprocmask},
    {__NR_sigaltstack, do_sigaltstack},
    {__NR_rt_sigsuspend, do_sigsuspend},
    {__NR_rt_sigpending, do_sigpending},
    {__NR_rt_sigtimedwait, do_sigtimedwait},
    {__NR_signalfd, do_signalfd},
    {__NR_signalfd4, do_signalfd},
    {__NR_rt_sigreturn, do_sigreturn},
    {__NR_clone, do_clone},
    {__NR_clone3, do_clone},
    {__NR_fork, do_clone},
    {__NR_vfork, do_clone},
    {__NR_execve, do_exec},
    {__NR_execveat, do_exec},
    {__NR_exit, do_exit},
    {__NR_exit_group, do_exit_group},
    {__NR_arch_prctl, do_arch_prctl},
    {__NR_rseq, do_unknown},
    {__NR_membarrier, do_membarrier},
    {__NR_prctl, do_prctl},
    {__NR_ptrace, do_ptrace},
    {__NR_seccomp, do_seccomp},
    {__NR_prlimit64, do_prlimit},
    {__NR_setrlimit, do_setrlimit},
    {__NR_getrlimit, do_getrlimit},
    {__NR_close, do_close},
    {__NR_dup, do_dup},
    {__NR_fcntl, do_fcntl},
    {__NR_getdents, do_getdents},
    {__NR_getdents64, do_getdents},
    {__NR_dup2, do_duplicate},
    {__NR_dup3, do_duplicate},
    {__NR_close_range, do_close_range},
    {__NR_open, do_open},
    {__NR_openat, do_open},
    {__NR_readlink, do_readlink},
    {__NR_readlinkat, do_readlink},
    {__NR_stat, do_path_first},
    {__NR_lstat, do_path_first},
    {__NR_access, do_path_first},
    {__NR_newfstatat, do_path_second},
    {__NR_faccessat, do_path_second},
    {__NR_faccessat2, do_path_second},
    {__NR_statx, do_path_second},
};

#define NUMBERS 512
static long (*runners[NUMBERS])(call *c);

void sn_syscalls_init(void) {
    for (size_t i = 0; i < sizeof emulations / sizeof *emulations; i++) {
        runners[emulations[i].number] = emulations[i].run;
        sn_emulate_syscall(emulations[i].number, true);
    }
    if (sn_events_wanted.calls) sn_emulate_all_syscalls();
}

/** The kernel looks at 32 bits of the number; emitted code at 16, so that numbers come here that only look like one of
    ours (those of the x32 calls). */
static long carry_out(call *c) {
    uint32_t number = (uint32_t)c->number;
    if (number < NUMBERS && runners[number]) {
        if (!sn_events_wanted.memory || !sn_memory_events_concern(number)) return runners[number](c);
        sn_memory_events_before(c->thread, number, c->arguments);
        long result = runners[number](c);
        sn_memory_events_after(number, c->arguments, result);
        return result;
    }
    if ((number & 0xffff) < NUMBERS && runners[number & 0xffff]) return -ENOSYS;
    return sn_syscall_pass(c->thread, c->number, c->arguments);
}

static long carry_out_permitted(call *c) {
    long result;
    if (!sn_seccomp_permits(c->thread, c->number, c->arguments, &result)) return result;
    result = carry_out(c);
    /* A page that the engine keeps the kernel from writing to? */
    return result == -EFAULT && sn_space_unwatch_all() ? carry_out(c) : result;
}

static long carry_out_told(call *c) {
    sn_told_call told;
    sn_events_call_begin(&told, c->thread, c->thread->pc - SN_SYSCALL_INSTRUCTION_SIZE, c->number, c->arguments);
    long result = carry_out_permitted(c);
    if (result != SN_SYSCALL_NO_RESULT) sn_events_call_end(&told, c->thread, result);
    else sn_call_ranges_release(&told.list);
    return result;
}

void sn_syscall_emulate(sn_thread *thread) {
    call c = {.thread = thread, .number = sn_abi_syscall_number(thread)};
    sn_abi_syscall_arguments(thread, c.arguments);
    sn_abi_syscall_begin(thread);
    long result = sn_events_wanted.calls ? carry_out_told(&c) : carry_out_permitted(&c);
    if (result == SN_SYSCALL_NO_RESULT) return;
    if (result == SN_INTERRUPTED) sn_abi_restart_syscall(thread, c.number);
    else sn_abi_set_result(thread, (uint64_t)result);
}

void sn_syscall_bad_address(sn_thread *thread) {
    if (sn_space_unwatch_all()) sn_abi_restart_syscall(thread, thread->last_syscall);
}
