/**
 * @fileoverview The simulation of a thread's caches and branches, if the options ask for it, and what its calls cost of them.
 *
 * The traces are worked off in portions, so that what other threads have counted lags behind by one; what the thread itself
 * has done until now is there after calls_simulated_flush().
 */
#ifndef SONDE_TOOLS_CALLS_SIMULATED_H
#define SONDE_TOOLS_CALLS_SIMULATED_H

#include <sonde/tool.h>

#include "ledger.h"
#include "record.h"
#include "simulator/sites.h"

typedef struct calls_simulated calls_simulated;

/** From the start callback: make the traces. Their batches are those of calls_thread_words() and calls_thread_branches(). */
void calls_simulated_setup(void (*words)(const sn_batch *), void (*branches)(const sn_batch *));

/** A thread's; NULL if nothing is simulated, which all of these functions take. */
calls_simulated *calls_simulated_new(bool collects);
void calls_simulated_free(calls_simulated *simulated);

/** Parts of a trace. */
void calls_simulated_words(calls_simulated *simulated, const sn_batch *batch);
void calls_simulated_branches(calls_simulated *simulated, const sn_batch *batch);

/** Insert at the place that is chosen: tell the traces of contexts by that word (calls_separate_enter()), if it is not 0. */
void calls_simulated_insert_word(sn_block *block, sn_value word);

/** Work off all that the calling thread has traced. */
void calls_simulated_flush(sn_thread *thread);

/** Collect from now on, or not: the caches go on all the same. The thread itself calls it. */
void calls_simulated_collect(sn_thread *thread, calls_simulated *simulated, bool on);

/** A signal or fault ended a pass of a block. The thread itself calls it. */
void calls_simulated_cut(sn_thread *thread, const calls_record *record, unsigned completed);

/** Sums of threads. All zero is a valid, empty one. */
typedef struct calls_simulated_sum {
    cache_sites sites;  /**< of instructions */
    calls_bills bills;  /**< of calls */
} calls_simulated_sum;

/** `stays`: no thread ends, or goes on, as long as the sum is read. */
void calls_simulated_add(calls_simulated_sum *sum, calls_simulated *simulated, bool stays);
void calls_simulated_sum_free(calls_simulated_sum *sum);

/** What was counted until now is forgotten. */
void calls_simulated_zero(calls_simulated *simulated);

/** In the child of a fork, where what was counted is the parent's, and the only thread has warm caches. */
void calls_simulated_fork_child(calls_simulated *simulated);

#endif
