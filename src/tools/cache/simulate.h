/**
 * @fileoverview The simulation: a thread's trace goes through the cache model and the branch predictors.
 *
 * One simulation belongs to a thread; a batch of the trace is worked off in that thread, or in a worker beside it.
 */
#ifndef SONDE_TOOLS_CACHE_SIMULATE_H
#define SONDE_TOOLS_CACHE_SIMULATE_H

#include <stddef.h>

#include "event.h"
#include "predictor.h"
#include "sites.h"

typedef struct cache_simulation {
    void *core;                 /**< the model's; NULL without --cache-sim */
    cache_predictor *predictor; /**< NULL without --branch-sim */
    cache_sites *sites;         /**< where misses are counted */
} cache_simulation;

void cache_simulation_init(cache_simulation *simulation, cache_sites *sites);
void cache_simulation_release(cache_simulation *simulation);

/** Work off a part of the trace. */
void cache_simulate(cache_simulation *simulation, const cache_event *events, size_t count);

#endif
