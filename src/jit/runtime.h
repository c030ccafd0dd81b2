/**
 * @fileoverview What the per-architecture assembly (x86_64/switch.S) offers to C code.
 */
#ifndef SONDE_JIT_RUNTIME_H
#define SONDE_JIT_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jit/thread.h"

/* Labels of the code that is copied into the cache; only their addresses are used (sn_runtime_address). */
extern const char sn_runtime_start[], sn_runtime_end[];
extern const char sn_runtime_miss[], sn_runtime_miss_second[], sn_runtime_lookup[], sn_runtime_lookup_missed[];
extern const char sn_runtime_lookup_end[];
extern const char sn_runtime_resume[], sn_runtime_syscall[], sn_runtime_bad_address[];
extern const char sn_runtime_exit[], sn_runtime_exit_saved[];
extern const char sn_runtime_enter[], sn_runtime_enter_end[], sn_runtime_restart[], sn_runtime_deliver[];
extern const char sn_runtime_called[];
extern uint64_t sn_runtime_enter_address;

/* Labels that the signal handler recognises in place. */
extern const char sn_blocking_start[], sn_blocking_call[], sn_blocking_interrupted[];
extern const char sn_copy_safely_start[], sn_copy_safely_end[], sn_copy_safely_failed[];

void sn_signal_entry(int number);
void sn_signal_restorer(void);

/** Start running client code in this kernel thread. */
_Noreturn void sn_thread_enter(sn_thread *thread);

/** clone or clone3 with six argument words; the child of a call with `child` begins in sn_thread_begin(child). */
long sn_clone(long number, const long arguments[6], sn_thread *child);

#define SN_INTERRUPTED (-512L)
/** A system call for the client that a signal can end; SN_INTERRUPTED: not made (any more), a signal is pending. */
long sn_blocking_syscall(sn_thread *thread, long number, const long arguments[6]);

/** Copy memory of which one side is the client's; false if it cannot be accessed. */
bool sn_copy_safely(void *to, const void *from, size_t size);

#endif
