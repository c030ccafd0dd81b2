/**
 * @fileoverview A lock that spins: for code that may call nothing, because inserted code has called it while vector registers
 * and the thread pointer are the client's. Held for a few instructions only. Elsewhere: lock.h.
 */
#ifndef SONDE_BASE_SPIN_H
#define SONDE_BASE_SPIN_H

#include <stdint.h>

static inline void sn_spin_acquire(uint32_t *lock) {
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
        while (__atomic_load_n(lock, __ATOMIC_RELAXED)) __asm__ volatile("" ::: "memory");
}

static inline void sn_spin_release(uint32_t *lock) { __atomic_store_n(lock, 0, __ATOMIC_RELEASE); }

#endif
