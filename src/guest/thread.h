/**
 * @fileoverview Threads of the client: making and ending them, the list of the living, and the gate that keeps them out
 * of engine code while the process is copied.
 */
#ifndef SONDE_GUEST_THREAD_H
#define SONDE_GUEST_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jit/thread.h"

#define SN_SIGNAL_STACK_SIZE UINT64_C(0x20000)

/** Make the first thread's state and let the per-thread segment base point to it. */
sn_thread *sn_threads_init(const sn_tool *tool);

/** Top-level tool callbacks need it. */
const sn_tool *sn_current_tool(void);

/** A state for a new thread, a copy of `parent`'s client state; NULL when memory is short. */
sn_thread *sn_thread_new(const sn_thread *parent);
/** For a thread that was never started, or a vfork child that is gone. */
void sn_thread_discard(sn_thread *thread);

/** Lowest address of the signal stack of the host's handler. */
void *sn_thread_signal_stack(const sn_thread *thread);
/* sn_thread_stack_pointer(), of any thread that stands still: sonde/tool.h. */

/** Enter into the list of living threads, call the tool. */
void sn_thread_started(sn_thread *thread);

/** clone, clone3, fork, vfork with the kernel's arguments; returns the result for the client's parent side. */
long sn_thread_clone(sn_thread *thread, uint64_t number, const uint64_t arguments[6]);

/** The exit system call: ends this thread only, unless it is the last. */
_Noreturn void sn_thread_exit(sn_thread *thread, int status);

/** Where a new kernel thread begins (called from x86_64/switch.S). */
_Noreturn void sn_thread_begin(sn_thread *thread);

/** Per-architecture: let the segment base of this kernel thread point to its state (x86_64/machine.c). */
void sn_thread_bind(sn_thread *thread);
/** Per-architecture: what the processor and kernel offer; once, before the first thread. */
void sn_machine_init(void);
/** Per-architecture: sizes and masks of the extended state in a new thread's structure. */
void sn_machine_prepare_thread(sn_thread *thread);
size_t sn_machine_state_size(void);

/*
 * The gate. A thread that may hold locks of the engine or of its libc has in_engine set. fork closes the gate and waits
 * until no other thread is inside, so that the child's copies of all locks are free.
 */
void sn_engine_enter(sn_thread *thread);
/** The same, but false instead of waiting. Async-signal-safe. */
bool sn_engine_try_enter(sn_thread *thread);
void sn_engine_leave(sn_thread *thread);
/** Around a wait inside the engine in which no lock is held. */
static inline void sn_engine_pause(sn_thread *thread) { sn_engine_leave(thread); }
static inline void sn_engine_resume(sn_thread *thread) { sn_engine_enter(thread); }
void sn_gate_close(sn_thread *thread);
void sn_gate_open(void);

/**
 * Close the gate and get every other thread out of the code cache too, with its client state at an instruction boundary;
 * none comes back before sn_gate_open. Those inside system calls are interrupted; the calls are made again.
 */
void sn_world_stop(sn_thread *thread);
/** The signal handler asks whether a signal is sn_world_stop's. */
bool sn_is_stop_request(const siginfo_t *info);
/** What comes with it. */
extern const siginfo_t sn_stop_information;

/** The thread goes to, or comes from, client code. */
static inline void sn_client_enter(sn_thread *thread) { __atomic_store_n(&thread->in_client, 1, __ATOMIC_SEQ_CST); }
void sn_client_leave(sn_thread *thread);

/** How many threads the process has. */
unsigned sn_threads_alive(void);

/** Whether no other thread, not even one that is just starting or ending, can touch the client's memory. */
bool sn_thread_is_alone(const sn_thread *thread);

#endif
