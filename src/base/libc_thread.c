/**
 * @fileoverview See libc_thread.h.
 */
#include "base/libc_thread.h"

#include <asm/unistd.h>
#include <signal.h>
#include <stdint.h>

#include "base/x86_64/raw_syscall.h"

/** The signals that libc handles for itself once there are threads (cancellation, setuid): they belong to the client's
    libc, the engine's never needs them. */
enum { FIRST_LIBC_SIGNAL = 32, LAST_LIBC_SIGNAL = 33, ACTION_SIZE = 32 };

int sn_libc_thread_make(pthread_t *thread, void *(*run)(void *), void *argument) {
    char actions[LAST_LIBC_SIGNAL - FIRST_LIBC_SIGNAL + 1][ACTION_SIZE];
    uint64_t all = UINT64_MAX, mask;
    sn_syscall(__NR_rt_sigprocmask, SIG_SETMASK, &all, &mask, 8);
    for (int i = FIRST_LIBC_SIGNAL; i <= LAST_LIBC_SIGNAL; i++)
        sn_syscall(__NR_rt_sigaction, i, NULL, actions[i - FIRST_LIBC_SIGNAL], 8);
    int error = pthread_create(thread, NULL, run, argument);
    for (int i = FIRST_LIBC_SIGNAL; i <= LAST_LIBC_SIGNAL; i++)
        sn_syscall(__NR_rt_sigaction, i, actions[i - FIRST_LIBC_SIGNAL], NULL, 8);
    sn_syscall(__NR_rt_sigprocmask, SIG_SETMASK, &mask, NULL, 8);
    return error;
}
