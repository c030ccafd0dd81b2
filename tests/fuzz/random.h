/**
 * @fileoverview Random numbers of the fuzz targets: the same for the same seed, everywhere (the generator SplitMix64).
 */
#ifndef SONDE_TESTS_FUZZ_RANDOM_H
#define SONDE_TESTS_FUZZ_RANDOM_H

#include <stdint.h>

/** The seed, at first. */
static uint64_t random_state;

static inline uint64_t next_random(void) {
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/** A number less than `limit`, which is not 0. */
static inline uint64_t below(uint64_t limit) { return next_random() % limit; }

#endif
