/**
 * @fileoverview Signal actions, masks and alternate stacks: see signal.h.
 */
#include "guest/signal.h"

#include <asm/unistd.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/x86_64/raw_syscall.h"
#include "guest/syscall.h"
#include "guest/thread.h"
#include "jit/runtime.h"

#define RESTORER_FLAG 0x04000000
/** Flags that mean the same for the host's handler as for the client's. */
#define MIRRORED_FLAGS ((uint64_t)(SA_RESTART | SA_NOCLDSTOP | SA_NOCLDWAIT))
#define UNBLOCKABLE (SN_SIGNAL_BIT(SIGKILL) | SN_SIGNAL_BIT(SIGSTOP))
/** Signals whose default action the kernel carries out without ending the process. */
#define HARMLESS_SIGNALS                                                                                   \
    (SN_SIGNAL_BIT(SIGCHLD) | SN_SIGNAL_BIT(SIGCONT) | SN_SIGNAL_BIT(SIGURG) | SN_SIGNAL_BIT(SIGWINCH) |    \
     SN_SIGNAL_BIT(SIGSTOP) | SN_SIGNAL_BIT(SIGTSTP) | SN_SIGNAL_BIT(SIGTTIN) | SN_SIGNAL_BIT(SIGTTOU))

static bool is_default(const sn_signal_action *action) { return action->handler == (uint64_t)SIG_DFL; }
static bool is_ignored(const sn_signal_action *action) { return action->handler == (uint64_t)SIG_IGN; }

/** Those that sn_signal_reserve() has taken from the client. Written before it starts. */
static uint64_t reserved;

bool sn_signal_is_reserved(int number) { return reserved & SN_SIGNAL_BIT(number); }

void sn_signal_reserve(int number) {
    if (number < 1 || number > SN_SIGNAL_COUNT || (UNBLOCKABLE | SN_FAULT_SIGNALS) & SN_SIGNAL_BIT(number))
        sn_fail(2, "signal %d cannot be taken from the program", number);
    reserved |= SN_SIGNAL_BIT(number);
}

static void host_action(int number, const sn_signal_action *action) {
    sn_syscall(__NR_rt_sigaction, number, action, NULL, 8);
}

/** Install on the host what the client's action for `number` asks for. */
static void install(const sn_signal_table *table, int number) {
    const sn_signal_action *wanted = &table->actions[number];
    bool fault = SN_FAULT_SIGNALS & SN_SIGNAL_BIT(number);
    sn_signal_action host = {.handler = (uint64_t)sn_signal_entry,
                             .flags = SA_SIGINFO | SA_ONSTACK | RESTORER_FLAG | (wanted->flags & MIRRORED_FLAGS) |
                                      (sn_signal_is_reserved(number) ? SA_RESTART : 0) | (fault ? SA_NODEFER : 0),
                             .restorer = (uint64_t)sn_signal_restorer,
                             .mask = ~SN_FAULT_SIGNALS};
    if (!fault && !sn_signal_is_reserved(number) && (is_ignored(wanted) || (is_default(wanted) && SN_SIGNAL_BIT(number) & HARMLESS_SIGNALS)))
        host = (sn_signal_action){.handler = wanted->handler,
                                  .flags = wanted->flags | RESTORER_FLAG,
                                  .restorer = (uint64_t)sn_signal_restorer,
                                  .mask = wanted->mask};
    host_action(number, &host);
}

static sn_signal_table *new_table(void) {
    sn_signal_table *table = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (table == MAP_FAILED) sn_fail(SN_STATUS_ENGINE, "out of memory for signal actions");
    table->users = 1;
    return table;
}

void sn_signals_init(sn_thread *thread) {
    thread->signals = new_table();
    sn_signals_thread_start(thread);
    for (int number = 1; number <= SN_SIGNAL_COUNT; number++) {
        if (UNBLOCKABLE & SN_SIGNAL_BIT(number)) continue;
        sn_signal_action inherited;
        if (sn_syscall(__NR_rt_sigaction, number, NULL, &inherited, 8)) continue;
        if (is_ignored(&inherited)) thread->signals->actions[number].handler = (uint64_t)SIG_IGN;
        install(thread->signals, number);
    }
    uint64_t mask = 0;
    sn_syscall(__NR_rt_sigprocmask, SIG_BLOCK, NULL, &mask, 8);
    sn_signals_hold_mask(thread);
    sn_set_client_mask(thread, mask);
    thread->alternate.ss_flags = SS_DISABLE;
}

void sn_signals_thread_start(sn_thread *thread) {
    stack_t stack = {.ss_sp = sn_thread_signal_stack(thread), .ss_size = SN_SIGNAL_STACK_SIZE};
    sn_syscall(__NR_sigaltstack, &stack, NULL);
}

sn_signal_table *sn_signals_copy(const sn_signal_table *table) {
    sn_signal_table *copy = new_table();
    memcpy(copy->actions, table->actions, sizeof copy->actions);
    return copy;
}

void sn_signals_release(sn_signal_table *table) {
    if (--table->users == 0) munmap(table, sizeof *table);
}

void sn_signals_after_fork(sn_thread *thread) {
    sn_lock_reset(&thread->signals->lock);
    thread->signals->users = 1;
    thread->waiting_faults = 0;
}

/* ------------------------------------------------------------------------- masks */

void sn_signals_hold_mask(sn_thread *thread) {
    if (thread->mask_held) return;
    uint64_t all = ~SN_FAULT_SIGNALS, before = 0;
    sn_syscall(__NR_rt_sigprocmask, SIG_SETMASK, &all, &before, 8);
    if (thread->mask_held) return; /* a signal came first and saved the mask itself */
    thread->held_mask = before & ~SN_FAULT_SIGNALS;
    thread->mask_held = true;
}

void sn_signals_release_mask(sn_thread *thread) {
    if (!thread->mask_held) return;
    uint64_t mask = thread->held_mask;
    thread->mask_held = false;
    sn_syscall(__NR_rt_sigprocmask, SIG_SETMASK, &mask, NULL, 8);
}

void sn_set_client_mask(sn_thread *thread, uint64_t mask) {
    mask &= ~UNBLOCKABLE;
    thread->held_mask = mask & ~SN_FAULT_SIGNALS;
    thread->blocked_faults = mask & SN_FAULT_SIGNALS;
    uint64_t ready = thread->waiting_faults & ~thread->blocked_faults;
    for (int number = 1; ready; number++) {
        if (!(ready & SN_SIGNAL_BIT(number))) continue;
        ready &= ~SN_SIGNAL_BIT(number);
        thread->waiting_faults &= ~SN_SIGNAL_BIT(number);
        sn_syscall(__NR_tgkill, thread->process, thread->id, number);
    }
}

void sn_signal_raise(sn_thread *thread, const siginfo_t *info) {
    sn_signals_hold_mask(thread);
    if (thread->pending.present) return;
    thread->pending.info = *info;
    thread->pending.present = true;
    thread->recheck = 1;
}

/* ----------------------------------------------------------------------- deciding */

sn_signal_decision sn_signal_decide(sn_thread *thread, int number, bool fault, sn_signal_action *action) {
    sn_signal_table *table = thread->signals;
    sn_lock_acquire(&table->lock);
    *action = table->actions[number];
    bool forced = fault && (is_ignored(action) || thread->blocked_faults & SN_SIGNAL_BIT(number));
    sn_signal_decision decision = SN_SIGNAL_HANDLE;
    if (forced) decision = SN_SIGNAL_FATAL;
    else if (is_ignored(action)) decision = SN_SIGNAL_IGNORE;
    else if (is_default(action))
        decision = SN_SIGNAL_BIT(number) & HARMLESS_SIGNALS ? SN_SIGNAL_IGNORE : SN_SIGNAL_FATAL;
    else if (action->flags & SA_RESETHAND) {
        table->actions[number].handler = (uint64_t)SIG_DFL;
        install(table, number);
    }
    sn_lock_release(&table->lock);
    return decision;
}

void sn_die_by_signal(sn_thread *thread, int number) {
    sn_signal_action action = {.handler = (uint64_t)SIG_DFL};
    host_action(number, &action);
    uint64_t mask = ~SN_SIGNAL_BIT(number);
    sn_syscall(__NR_rt_sigprocmask, SIG_SETMASK, &mask, NULL, 8);
    sn_syscall(__NR_tgkill, thread->process, thread->id, number);
    /* Process 1 of a namespace ignores its own deadly signals. */
    sn_syscall(__NR_exit_group, 128 + number);
    __builtin_unreachable();
}

void sn_signals_describe(const sn_thread *thread, uint64_t *caught, uint64_t *ignored) {
    *caught = *ignored = 0;
    for (int number = 1; number <= SN_SIGNAL_COUNT; number++) {
        const sn_signal_action *action = &thread->signals->actions[number];
        if (is_ignored(action)) *ignored |= SN_SIGNAL_BIT(number);
        else if (!is_default(action)) *caught |= SN_SIGNAL_BIT(number);
    }
}

/* ------------------------------------------------------------------- system calls */

long sn_sigaction(sn_thread *thread, const uint64_t arguments[6]) {
    uint64_t number = arguments[0];
    sn_signal_action new, old;
    if (arguments[3] != 8 || number < 1 || number > SN_SIGNAL_COUNT) return -EINVAL;
    if (arguments[1] && !sn_copy_safely(&new, (const void *)arguments[1], sizeof new)) return -EFAULT;
    if (arguments[1] && UNBLOCKABLE & SN_SIGNAL_BIT(number)) return -EINVAL;
    sn_lock_acquire(&thread->signals->lock);
    old = thread->signals->actions[number];
    if (arguments[1]) {
        new.mask &= ~UNBLOCKABLE;
        thread->signals->actions[number] = new;
        install(thread->signals, (int)number);
    }
    sn_lock_release(&thread->signals->lock);
    if (arguments[2] && !sn_copy_safely((void *)arguments[2], &old, sizeof old)) return -EFAULT;
    return 0;
}

long sn_sigprocmask(sn_thread *thread, const uint64_t arguments[6]) {
    uint64_t set = 0;
    if (arguments[3] != 8) return -EINVAL;
    if (arguments[1] && !sn_copy_safely(&set, (const void *)arguments[1], 8)) return -EFAULT;
    sn_signals_hold_mask(thread);
    uint64_t old = sn_client_mask(thread);
    if (arguments[1]) {
        switch ((int)arguments[0]) {
        case SIG_BLOCK: set = old | set; break;
        case SIG_UNBLOCK: set = old & ~set; break;
        case SIG_SETMASK: break;
        default: return -EINVAL;
        }
        sn_set_client_mask(thread, set);
    }
    if (arguments[2] && !sn_copy_safely((void *)arguments[2], &old, 8)) return -EFAULT;
    return 0;
}

static bool on_alternate_stack(const sn_thread *thread) {
    const stack_t *stack = &thread->alternate;
    return !(stack->ss_flags & (SS_DISABLE | SN_AUTODISARM)) &&
           sn_thread_stack_pointer(thread) - (uint64_t)stack->ss_sp - 1 < stack->ss_size;
}

long sn_sigaltstack(sn_thread *thread, const uint64_t arguments[6]) {
    stack_t new, old = thread->alternate;
    bool on_it = on_alternate_stack(thread);
    if (!(old.ss_flags & SS_DISABLE) && on_it) old.ss_flags |= SS_ONSTACK;
    if (arguments[0]) {
        if (!sn_copy_safely(&new, (const void *)arguments[0], sizeof new)) return -EFAULT;
        if (on_it) return -EPERM;
        int mode = new.ss_flags & ~SN_AUTODISARM;
        if (mode != SS_DISABLE && mode != SS_ONSTACK && mode != 0) return -EINVAL;
        if (mode == SS_DISABLE) new.ss_sp = NULL, new.ss_size = 0;
        else if (new.ss_size < 2048) return -ENOMEM;
        else new.ss_flags &= SN_AUTODISARM;
        thread->alternate = new;
    }
    if (arguments[1] && !sn_copy_safely((void *)arguments[1], &old, sizeof old)) return -EFAULT;
    return 0;
}

long sn_sigsuspend(sn_thread *thread, const uint64_t arguments[6]) {
    uint64_t mask;
    if (arguments[1] != 8) return -EINVAL;
    if (!sn_copy_safely(&mask, (const void *)arguments[0], 8)) return -EFAULT;
    mask &= ~UNBLOCKABLE;
    sn_signals_hold_mask(thread);
    uint64_t host = mask & ~SN_FAULT_SIGNALS;
    long call[6] = {(long)&host, 8};
    sn_engine_pause(thread);
    long result = sn_blocking_syscall(thread, __NR_rt_sigsuspend, call);
    sn_engine_resume(thread);
    if (result != SN_INTERRUPTED) {
        thread->suspended = true;
        thread->suspended_mask = mask;
    }
    return result;
}

/** A fault signal that came while the client blocked it, if it is one of `set`. 0 if there is none, else what the call
    returns. */
static long take_waiting(sn_thread *thread, uint64_t set, uint64_t information) {
    uint64_t ready = thread->waiting_faults & set;
    if (!ready) return 0;
    int number = __builtin_ctzll(ready) + 1;
    siginfo_t info = {.si_signo = number, .si_code = SI_USER};
    thread->waiting_faults &= ~SN_SIGNAL_BIT(number);
    return information && !sn_copy_safely((void *)information, &info, sizeof info) ? -EFAULT : number;
}

long sn_sigtimedwait(sn_thread *thread, const uint64_t arguments[6]) {
    uint64_t set, changed[6];
    if (arguments[3] != 8) return -EINVAL;
    if (!sn_copy_safely(&set, (const void *)arguments[0], 8)) return -EFAULT;
    uint64_t host = set & ~SN_ENGINE_SIGNALS;
    memcpy(changed, arguments, sizeof changed);
    changed[0] = (uint64_t)&host;
    long result = take_waiting(thread, set, arguments[1]);
    if (result) return result;
    result = sn_syscall_pass(thread, __NR_rt_sigtimedwait, changed);
    if (result != -EINTR) return result;
    long taken = take_waiting(thread, set, arguments[1]);
    return taken ? taken : result;
}

long sn_signalfd(sn_thread *thread, uint64_t number, const uint64_t arguments[6]) {
    uint64_t set, changed[6];
    memcpy(changed, arguments, sizeof changed);
    if (arguments[2] == 8 && sn_copy_safely(&set, (const void *)arguments[1], 8)) {
        set &= ~SN_ENGINE_SIGNALS;
        changed[1] = (uint64_t)&set;
    }
    return sn_syscall_pass(thread, number, changed);
}

long sn_sigpending(sn_thread *thread, const uint64_t arguments[6]) {
    uint64_t pending = 0;
    if (arguments[1] > 8) return -EINVAL;
    long result = sn_syscall(__NR_rt_sigpending, &pending, 8);
    if (result) return result;
    /* The kernel reports what the mask blocks: less what only the engine blocks for a moment. */
    pending = (pending & (thread->mask_held ? thread->held_mask : ~UINT64_C(0))) | thread->waiting_faults;
    return sn_copy_safely((void *)arguments[0], &pending, arguments[1]) ? 0 : -EFAULT;
}
