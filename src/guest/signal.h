/**
 * @fileoverview Signals as the client sees them: actions, masks, alternate stacks, delivery.
 *
 * The host's mask is the client's, so that queueing, sigtimedwait, signalfd and the like are the kernel's business; only
 * the fault signals are never blocked on the host, since the engine needs them. The engine installs its own handler for
 * every signal that the client handles or that would kill it; stop and ignored signals are left to the kernel.
 *
 * A signal is delivered at an instruction boundary of client code, in the host's handler, by rewriting the kernel's own
 * frame into one for the client (x86_64/frame.c). If it comes elsewhere in the code cache, the thread is single-stepped
 * to the next boundary; if it comes in engine code, it waits in thread->pending, with everything blocked, until the
 * engine is about to go back to client code: then the thread runs into sn_runtime_deliver, whose fault has the kernel
 * make a complete frame of the client's state.
 */
#ifndef SONDE_GUEST_SIGNAL_H
#define SONDE_GUEST_SIGNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"
#include "jit/thread.h"

#define SN_SIGNAL_COUNT 64

/** From the kernel's uapi/linux/signal.h: libc's header lacks it. */
#define SN_AUTODISARM ((int)(1u << 31))
#define SN_SIGNAL_BIT(number) (UINT64_C(1) << ((number) - 1))

/** Signals that instructions raise: never blocked on the host. */
#define SN_FAULT_SIGNALS                                                                             \
    (SN_SIGNAL_BIT(SIGSEGV) | SN_SIGNAL_BIT(SIGBUS) | SN_SIGNAL_BIT(SIGFPE) | SN_SIGNAL_BIT(SIGILL) | \
     SN_SIGNAL_BIT(SIGTRAP))

/** What the engine sends to its own threads (sn_world_stop) and is sent from outside (dump.h): no client may wait for it,
    since the kernel would hand it over. One that comes for the client all the same is kept in waiting_faults. */
#define SN_ENGINE_SIGNALS SN_SIGNAL_BIT(SIGILL)

/** As the kernel lays it out. */
typedef struct sn_signal_action {
    uint64_t handler;
    uint64_t flags;
    uint64_t restorer;
    uint64_t mask;
} sn_signal_action;

/** What threads with CLONE_SIGHAND share. */
typedef struct sn_signal_table {
    sn_lock lock;
    _Atomic int users;
    sn_signal_action actions[SN_SIGNAL_COUNT + 1];
} sn_signal_table;

typedef enum sn_signal_decision {
    SN_SIGNAL_IGNORE,
    SN_SIGNAL_HANDLE,
    SN_SIGNAL_FATAL,
} sn_signal_decision;

/** Take over the dispositions that the process was started with, and install the engine's handlers. */
void sn_signals_init(sn_thread *thread);
/** A copy for a child that does not share them. */
sn_signal_table *sn_signals_copy(const sn_signal_table *table);
void sn_signals_release(sn_signal_table *table);
/** In a child after fork: nobody else uses the table. */
void sn_signals_after_fork(sn_thread *thread);
/** Let the host's alternate stack of this kernel thread be the thread's own. */
void sn_signals_thread_start(sn_thread *thread);

/** Whether a signal is the tool's (sn_signal_reserve() of sonde/tool.h): the client has its action, but never gets it. */
bool sn_signal_is_reserved(int number);

/** What to do with a signal now; for HANDLE the action is copied, and reset if SA_RESETHAND says so. */
sn_signal_decision sn_signal_decide(sn_thread *thread, int number, bool fault, sn_signal_action *action);

/** Block everything on the host (but the fault signals) until sn_signals_release_mask; the client's mask is in
    thread->held_mask meanwhile. */
void sn_signals_hold_mask(sn_thread *thread);
void sn_signals_release_mask(sn_thread *thread);

/** The client's mask, while the host's is held. */
static inline uint64_t sn_client_mask(const sn_thread *thread) { return thread->held_mask | thread->blocked_faults; }
void sn_set_client_mask(sn_thread *thread, uint64_t mask);

/** Make `info` the pending signal of this thread: it is delivered before client code goes on. Engine code only. */
void sn_signal_raise(sn_thread *thread, const siginfo_t *info);

/** The system calls. */
long sn_sigaction(sn_thread *thread, const uint64_t arguments[6]);
long sn_sigprocmask(sn_thread *thread, const uint64_t arguments[6]);
long sn_sigaltstack(sn_thread *thread, const uint64_t arguments[6]);
long sn_sigsuspend(sn_thread *thread, const uint64_t arguments[6]);
long sn_sigpending(sn_thread *thread, const uint64_t arguments[6]);
long sn_sigtimedwait(sn_thread *thread, const uint64_t arguments[6]);
/** signalfd and signalfd4, by number. */
long sn_signalfd(sn_thread *thread, uint64_t number, const uint64_t arguments[6]);

/** rt_sigreturn: loads the state from the frame at the stack pointer; false if there is none (the client then gets
    SIGSEGV). (x86_64/frame.c) */
bool sn_sigreturn(sn_thread *thread);

/** End the process by `number`, as if it had not been caught. Does not return. */
_Noreturn void sn_die_by_signal(sn_thread *thread, int number);

/** Mask for /proc/self/status: which signals the client catches and ignores. */
void sn_signals_describe(const sn_thread *thread, uint64_t *caught, uint64_t *ignored);

#endif
