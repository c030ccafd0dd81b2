/**
 * @fileoverview The waiting half of locks. See lock.h.
 */
#include "base/lock.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include "base/x86_64/raw_syscall.h"

void sn_lock_wait(sn_lock *lock) {
    while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire) != 0)
        sn_syscall(SYS_futex, &lock->state, FUTEX_WAIT_PRIVATE, 2, 0);
}

void sn_lock_wake(sn_lock *lock) {
    sn_syscall(SYS_futex, &lock->state, FUTEX_WAKE_PRIVATE, 1);
}
