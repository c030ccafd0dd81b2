/**
 * @fileoverview The random numbers of the differential test: small, seeded, the same everywhere.
 *
 * Owns nothing but the state it is handed. Used by the generator for choices and by the executor for initial contents.
 */
#ifndef SONDE_TESTS_DIFFERENTIAL_RANDOM_H
#define SONDE_TESTS_DIFFERENTIAL_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sn_random {
    uint64_t state;
} sn_random;

static inline uint64_t sn_random_next(sn_random *random) {
    uint64_t value = random->state += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

/** A number in [0, limit). */
static inline uint32_t sn_random_below(sn_random *random, uint32_t limit) {
    return (uint32_t)(((sn_random_next(random) >> 32) * limit) >> 32);
}

static inline bool sn_random_percent(sn_random *random, unsigned percent) {
    return sn_random_below(random, 100) < percent;
}

/** Eight bytes as programs have them: raw bits, small integers, floating-point numbers, zero, all ones. */
uint64_t sn_random_value(sn_random *random);

/** Fill memory (a multiple of 8 bytes, at most 16 KiB) with such values: copied from a random place of a fixed table. */
void sn_random_fill(sn_random *random, void *memory, size_t size);

#endif
