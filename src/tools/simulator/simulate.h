/**
 * @fileoverview The simulation of caches: a thread's trace (words.h) goes through its first-level caches and the model.
 *
 * One simulation belongs to a thread; a batch of the trace is worked off in that thread, or in a worker beside it.
 */
#ifndef SONDE_TOOLS_SIMULATOR_SIMULATE_H
#define SONDE_TOOLS_SIMULATOR_SIMULATE_H

#include <stddef.h>
#include <stdint.h>

#include "frames.h"
#include "passes.h"
#include "sites.h"
#include "tally.h"

typedef struct cache_simulation cache_simulation;

/** Misses, references that vary and cuts are counted in `sites`, entries of segments in `tally`, which is NULL if somebody watches
    instead. `passes`: how to go about it; NULL for the fastest way. */
cache_simulation *cache_simulation_new(cache_sites *sites, cache_tally *tally, const cache_passes *passes);
void cache_simulation_free(cache_simulation *simulation);

/** Work off a part of the trace. */
void cache_simulate(cache_simulation *simulation, const uint64_t *words, size_t count);

/** What has been counted, all in all: reads and writes of data; then misses, level by level, in each by cache_kind. */
enum { CACHE_TOTAL_READS, CACHE_TOTAL_WRITES, CACHE_TOTAL_MISSES, CACHE_TOTALS = 2 + CACHE_MOST_LEVELS * CACHE_KINDS };
typedef struct cache_totals {
    uint64_t counts[CACHE_TOTALS];
} cache_totals;

/** Somebody who wants to know of frames, and what they cost: `frame` is called for what the trace tells of them, in order, with the
    totals at that moment. */
typedef struct cache_frame_watcher {
    void (*frame)(void *data, const cache_frame *frame, const cache_totals *totals);
    void *data;
} cache_frame_watcher;

/** Before the first part. */
void cache_simulation_watch(cache_simulation *simulation, const cache_frame_watcher *watcher);

/** The totals, if somebody watches; valid as long as the simulation. */
const cache_totals *cache_simulation_totals(const cache_simulation *simulation);

/** From now on what is counted goes to `sites`, and to the totals if `counts`: the caches go on as they are. */
void cache_simulation_count(cache_simulation *simulation, cache_sites *sites, bool counts);

#endif
