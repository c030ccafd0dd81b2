/**
 * @fileoverview Threads of the tool `cache`: what each has, and what is summed up of all.
 *
 * cache.c calls the events; profile.c reads the summary.
 */
#ifndef SONDE_TOOLS_CACHE_THREAD_H
#define SONDE_TOOLS_CACHE_THREAD_H

#include <sonde/tool.h>
#include <sonde/vector.h>

#include "record.h"
#include "simulator/sites.h"
#include "simulator/tally.h"

/** Of counters, by their numbers. */
typedef SN_VECTOR(uint64_t) cache_values;

/** Everything counted, all threads, alive or not. Freed by cache_summary_free(). */
typedef struct cache_summary {
    cache_values values;
    cache_tally tally;
    cache_sites sites;
} cache_summary;

void cache_thread_start(sn_thread *thread);
void cache_thread_end(sn_thread *thread);
void cache_thread_interrupted(sn_thread *thread, void *data, unsigned completed);
void cache_thread_batch(const sn_batch *batch);
void cache_thread_branches(const sn_batch *batch);

/** What was counted so far is the parent's; the child's caches are as warm as they were. */
void cache_thread_fork_child(sn_thread *thread);

/** `is_end`: no thread ends, or goes on, as long as the summary is read. */
void cache_summarise(cache_summary *summary, bool is_end);
void cache_summary_free(cache_summary *summary);

#endif
