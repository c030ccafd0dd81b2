/**
 * @fileoverview The simulation of caches: a thread's trace (words.h) goes through its first-level caches and the model.
 *
 * One simulation belongs to a thread; a batch of the trace is worked off in that thread, or in a worker beside it.
 */
#ifndef SONDE_TOOLS_CACHE_SIMULATE_H
#define SONDE_TOOLS_CACHE_SIMULATE_H

#include <stddef.h>
#include <stdint.h>

#include "passes.h"
#include "sites.h"
#include "tally.h"

typedef struct cache_simulation cache_simulation;

/** Misses, references that vary and cuts are counted in `sites`, entries of segments in `tally`. `passes`: how to go about
    it; NULL for the fastest way. */
cache_simulation *cache_simulation_new(cache_sites *sites, cache_tally *tally, const cache_passes *passes);
void cache_simulation_free(cache_simulation *simulation);

/** Work off a part of the trace. */
void cache_simulate(cache_simulation *simulation, const uint64_t *words, size_t count);

#endif
