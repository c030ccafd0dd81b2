/**
 * @fileoverview A small mutual-exclusion lock on a futex: one word, all zero when free, no owner, so that a forked child
 * may free what another thread held. Taking a free lock and releasing one that nobody waits for touch nothing but the
 * word; waiting and waking are bare system calls: nothing here needs the C library or its thread pointer.
 */
#ifndef SONDE_BASE_LOCK_H
#define SONDE_BASE_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>

typedef struct sn_lock {
    _Atomic int state; /**< 0 free, 1 held, 2 held and somebody may wait */
} sn_lock;

void sn_lock_wait(sn_lock *lock);
void sn_lock_wake(sn_lock *lock);

static inline bool sn_lock_try(sn_lock *lock) {
    int expected = 0;
    return atomic_compare_exchange_strong_explicit(&lock->state, &expected, 1, memory_order_acquire,
                                                   memory_order_relaxed);
}

static inline void sn_lock_acquire(sn_lock *lock) {
    if (!sn_lock_try(lock))
        sn_lock_wait(lock);
}

static inline void sn_lock_release(sn_lock *lock) {
    if (atomic_exchange_explicit(&lock->state, 0, memory_order_release) == 2)
        sn_lock_wake(lock);
}

/** In a forked child, where only one thread is left: free, whoever held it. */
static inline void sn_lock_reset(sn_lock *lock) {
    atomic_store(&lock->state, 0);
}

#endif
