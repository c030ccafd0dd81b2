/**
 * @fileoverview Making threads of the engine's libc in a process whose signals are the client's.
 *
 * Used for threads that run no client code (jit/trace_workers.c), and to have libc know that there is more than one thread
 * (guest/host_tls.c).
 */
#ifndef SONDE_BASE_LIBC_THREAD_H
#define SONDE_BASE_LIBC_THREAD_H

#include <pthread.h>

/** Make a thread that runs `run(argument)` with all signals blocked. Actions and mask of the process are afterwards what they
    were. Returns 0, or an error number as pthread_create does. The caller joins it. */
int sn_libc_thread_make(pthread_t *thread, void *(*run)(void *), void *argument);

#endif
