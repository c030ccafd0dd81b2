/**
 * @fileoverview Branch predictors of processors of about 2004, as Cachegrind simulates them: --branch-sim=yes.
 *
 * Conditional branches: 16384 counters of two bits, chosen by the branch's address and by which way the last seven
 * branches went. Indirect branches: the last target of each, in 512 entries by the low bits of the address. Returns are
 * taken as always predicted. Each thread has its own.
 */
#ifndef SONDE_TOOLS_SIMULATOR_PREDICTOR_H
#define SONDE_TOOLS_SIMULATOR_PREDICTOR_H

#include <stdbool.h>
#include <stdint.h>

enum { CACHE_PREDICTOR_COUNTERS = 16384, CACHE_PREDICTOR_HISTORY = 7, CACHE_PREDICTOR_TARGETS = 512 };

/** All zero is how one begins. */
typedef struct cache_predictor {
    uint8_t counters[CACHE_PREDICTOR_COUNTERS]; /**< 2 and 3 predict that the branch is taken */
    uint64_t history;                           /**< bit 0: the last branch was taken */
    uint64_t targets[CACHE_PREDICTOR_TARGETS];
} cache_predictor;

/** Both return whether the prediction was wrong, and learn. */
bool cache_predictor_conditional(cache_predictor *predictor, uint64_t address, bool is_taken);
bool cache_predictor_indirect(cache_predictor *predictor, uint64_t address, uint64_t target);

#endif
