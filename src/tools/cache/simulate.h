/**
 * @fileoverview The simulation: a thread's trace goes through the cache model and the branch predictors.
 *
 * One simulation belongs to a thread; a batch of the trace is worked off in that thread, or in a worker beside it.
 */
#ifndef SONDE_TOOLS_CACHE_SIMULATE_H
#define SONDE_TOOLS_CACHE_SIMULATE_H

#include "predictor.h"
#include "record.h"
#include "sites.h"

/** The line that was last used in each set of a first-level cache: a reference within it needs no look at the model. */
typedef struct cache_recent {
    uint64_t *lines;  /**< number + 1; 0: none */
    uint64_t set_mask;
    uint64_t line_mask;
    uint32_t line_shift;
} cache_recent;

typedef struct cache_simulation {
    const cache_record *record; /**< the block that the thread is in; NULL between blocks */
    const cache_record *cut;    /**< that a signal has just cut short; it tells its accesses behind that mark */
    unsigned slots_filled;
    unsigned fetched;           /**< of the record's fetches, those done */
    bool skips_fetches;         /**< all its lines are the last used in their sets: fetching them changes nothing */
    cache_recent code, data;
    void *core;                 /**< the model's */
    cache_predictor *predictor; /**< NULL without --branch-sim */
    cache_sites *sites;         /**< where misses are counted */
} cache_simulation;

void cache_simulation_init(cache_simulation *simulation, cache_sites *sites);
void cache_simulation_release(cache_simulation *simulation);

/** Work off `count` words of the trace. */
void cache_simulate(cache_simulation *simulation, const uint64_t *words, size_t count);

/** The thread is gone: its last block has run to its end. */
void cache_simulation_finish(cache_simulation *simulation);

#endif
