/**
 * @fileoverview System calls that the engine carries out instead of passing them through.
 */
#ifndef SONDE_GUEST_SYSCALL_H
#define SONDE_GUEST_SYSCALL_H

#include "jit/thread.h"

/** Fill in the table that emitted code looks at. Once, before the first translation. */
void sn_syscalls_init(void);

/** The thread left client code at a system call; carry it out, leave the result in its registers. */
void sn_syscall_emulate(sn_thread *thread);

/** Make a system call on the client's behalf from engine code as if it had been passed through: under the client's signal
    mask, ended or begun anew by signals (SN_INTERRUPTED: a signal is pending, and the client makes the call again), with
    the mask that ppoll and its like bring. Engine locks must not be held. Not for calls that the engine emulates. */
long sn_syscall_pass(sn_thread *thread, uint64_t number, const uint64_t arguments[6]);

/** A passed-through system call returned EFAULT: if that can be the engine's doing, make it again. */
void sn_syscall_bad_address(sn_thread *thread);

/** No result: the registers were set as a whole (signal return). */
#define SN_SYSCALL_NO_RESULT (-4096L)

#endif
