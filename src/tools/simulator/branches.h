/**
 * @fileoverview The simulation of branch predictors (--branch-sim=yes): a trace of its own, of the branches that a thread
 * comes by, goes through predictor.c.
 *
 * The trace is of words of 8 bytes: for a conditional branch, its site and the way that it took; for an indirect one, its site,
 * and its target in the word behind. If the tool asks for them, words that tell of frames (enum sn_frame_word) are among them.
 */
#ifndef SONDE_TOOLS_SIMULATOR_BRANCHES_H
#define SONDE_TOOLS_SIMULATOR_BRANCHES_H

#include <sonde/tool.h>

#include "frames.h"
#include "predictor.h"
#include "sites.h"

/** What has been counted, all in all: branches, and behind each kind those predicted wrongly. */
enum { CACHE_CONDITIONAL_BRANCHES = 0, CACHE_INDIRECT_BRANCHES = 2, CACHE_BRANCH_TOTALS = 4 };
typedef struct cache_branch_totals {
    uint64_t counts[CACHE_BRANCH_TOTALS];
} cache_branch_totals;

/** Somebody who wants to know of frames, and what they cost: see cache_frame_watcher in simulate.h. */
typedef struct cache_branch_watcher {
    void (*frame)(void *data, const cache_frame *frame, const cache_branch_totals *totals);
    void *data;
} cache_branch_watcher;

/** What each thread has. All zero is how it begins. */
typedef struct cache_branches {
    cache_predictor predictor;
    cache_sites sites;            /**< where mispredictions are counted */
    uint32_t indirect;            /**< the site of the branch whose target is the next word, and 1 more; 0: none */
    bool ignores;                 /**< predictors learn, but nothing is counted */
    cache_branch_totals totals;
    cache_branch_watcher watcher; /**< .frame NULL: nobody */
    cache_frame frame;            /**< that words tell of */
} cache_branches;

/** Make the trace; `batch` gives a full buffer to cache_branches_simulate(). From the start callback. */
void cache_branches_start(void (*batch)(const sn_batch *batch));

/** The trace, once it is made. */
sn_trace *cache_branches_trace(void);

/** Insert what traces the conditional branch at `index`, or the indirect one. */
void cache_branches_trace_conditional(sn_block *block, unsigned index, uint32_t site);
void cache_branches_trace_indirect(sn_block *block, unsigned index, uint32_t site);

void cache_branches_simulate(cache_branches *branches, const sn_batch *batch);

#endif
