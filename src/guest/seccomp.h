/**
 * @fileoverview The client's seccomp filters, which the engine applies itself.
 *
 * The kernel must not have them while the engine runs in the process: it needs calls that they may forbid. Each filter is
 * kept in a list of immutable nodes, newest first; threads point into it and inherit the pointer. For each the kernel gets
 * one that allows everything, so that privileges, no_new_privs, TSYNC's conditions, PR_GET_SECCOMP and what /proc shows
 * are its own business. As soon as there is one, every system call of the client goes through the engine.
 *
 * A native execve first hands the filters over to the kernel; one that Sonde follows hands them to the next engine in a
 * file of memory. Called by guest/syscall.c, guest/process.c, guest/thread.c and guest/run.c.
 */
#ifndef SONDE_GUEST_SECCOMP_H
#define SONDE_GUEST_SECCOMP_H

#include <stdbool.h>
#include <stdint.h>

#include "jit/thread.h"

/** The system call seccomp(operation, flags, arguments). */
long sn_seccomp(sn_thread *thread, const uint64_t arguments[6]);

/** prctl(PR_SET_SECCOMP, mode, program). */
long sn_seccomp_set_mode(sn_thread *thread, const uint64_t arguments[6]);

/** What the filters say of a system call that the thread is about to make: true if it goes on. Otherwise *result is what
    sn_syscall_emulate does with it. May end the thread or the process. */
bool sn_seccomp_permits(sn_thread *thread, uint64_t number, const uint64_t arguments[6], long *result);

/** A thread has just entered the list of the living. */
void sn_seccomp_thread_started(sn_thread *thread);
/** In the child, of which only this thread is left. */
void sn_seccomp_after_fork(void);

/** Give the kernel all filters of this thread that it does not have; the thread is about to call execve. 0 or -errno. */
long sn_seccomp_hand_to_kernel(sn_thread *thread);

/** Write the thread's filters to a file of memory that survives execve: its descriptor, -1 without filters, other values
    -errno. */
long sn_seccomp_save(const sn_thread *thread);
/** Read them back in the engine that follows, and close the descriptor; `thread` is the first. Ends the run with one line
    if that is no such file. */
void sn_seccomp_restore(sn_thread *thread, int descriptor);

#endif
