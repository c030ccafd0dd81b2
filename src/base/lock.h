/**
 * @fileoverview A lock that needs nothing of libc: one word, a futex to wait on.
 *
 * For engine data that threads unknown to libc use as well. Not recursive. Zero is a free lock, so that static locks
 * need no initialisation. The word is 0 when free, 1 when held, 2 when held and somebody may be waiting.
 */
#ifndef SONDE_BASE_LOCK_H
#define SONDE_BASE_LOCK_H

#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "base/x86_64/raw_syscall.h"

typedef struct sn_lock {
    uint32_t state;
} sn_lock;

enum { SN_LOCK_FREE = 0, SN_LOCK_HELD = 1, SN_LOCK_CONTENDED = 2, SN_LOCK_SPINS = 64 };

static inline void sn_lock_init(sn_lock *lock) {
    __atomic_store_n(&lock->state, SN_LOCK_FREE, __ATOMIC_RELEASE);
}

static inline bool sn_lock_try(sn_lock *lock) {
    uint32_t expected = SN_LOCK_FREE;
    return __atomic_compare_exchange_n(&lock->state, &expected, SN_LOCK_HELD, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

static inline void sn_lock_acquire(sn_lock *lock) {
    /* Held for a few hundred instructions as a rule: look a few times before going to sleep. */
    for (unsigned spin = 0; spin < SN_LOCK_SPINS; spin++) {
        if (sn_lock_try(lock)) {
            return;
        }
    }
    while (__atomic_exchange_n(&lock->state, SN_LOCK_CONTENDED, __ATOMIC_ACQUIRE) != SN_LOCK_FREE) {
        sn_syscall(SYS_futex, &lock->state, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, SN_LOCK_CONTENDED, 0, 0, 0);
    }
}

static inline void sn_lock_release(sn_lock *lock) {
    if (__atomic_exchange_n(&lock->state, SN_LOCK_FREE, __ATOMIC_RELEASE) == SN_LOCK_CONTENDED) {
        sn_syscall(SYS_futex, &lock->state, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, 0, 0, 0);
    }
}

#endif
