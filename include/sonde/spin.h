/**
 * @fileoverview A lock that spins: for code that may call nothing, as SN_FAST functions, which inserted code calls while vector
 * registers and the thread pointer are the client's. Zero is a free lock. Held for a few instructions only: who waits takes a
 * processor meanwhile. For everything else there are pthread's.
 */
#ifndef SONDE_SPIN_H
#define SONDE_SPIN_H

#include <stdint.h>

#include <sonde/tool.h>

/* Without an instruction for pausing, of which architectures have different ones: only the waiting itself would be kinder. */

static inline __attribute__((always_inline, unused)) SN_FAST void sn_spin_acquire(uint32_t *lock) {
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
        while (__atomic_load_n(lock, __ATOMIC_RELAXED)) __asm__ volatile("" ::: "memory");
}

static inline __attribute__((always_inline, unused)) SN_FAST void sn_spin_release(uint32_t *lock) {
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

#endif
