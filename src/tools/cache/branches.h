/**
 * @fileoverview The simulation of branch predictors (--branch-sim=yes): a trace of its own, of the branches that a thread
 * comes by, goes through predictor.c.
 */
#ifndef SONDE_TOOLS_CACHE_BRANCHES_H
#define SONDE_TOOLS_CACHE_BRANCHES_H

#include <sonde/tool.h>

#include "predictor.h"
#include "sites.h"

/** What each thread has. All zero is how it begins. */
typedef struct cache_branches {
    cache_predictor predictor;
    cache_sites sites; /**< where mispredictions are counted */
} cache_branches;

/** Make the trace; `batch` gives a full buffer to cache_branches_simulate(). From the start callback. */
void cache_branches_start(void (*batch)(const sn_batch *batch));

/** Have what the thread that calls has traced simulated now. */
void cache_branches_flush(sn_thread *thread);

/** Insert what traces the conditional branch at `index`, or the indirect one. */
void cache_branches_trace_conditional(sn_block *block, unsigned index, uint32_t site);
void cache_branches_trace_indirect(sn_block *block, unsigned index, uint32_t site);

void cache_branches_simulate(cache_branches *branches, const sn_batch *batch);

#endif
