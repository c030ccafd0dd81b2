/**
 * @fileoverview The waiting half of locks. See lock.h.
 */
#include "base/lock.h"

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

void sn_lock_wait(sn_lock *lock) {
    int saved = errno;
    while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire) != 0)
        syscall(SYS_futex, &lock->state, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
    errno = saved;
}

void sn_lock_wake(sn_lock *lock) {
    int saved = errno;
    syscall(SYS_futex, &lock->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    errno = saved;
}
