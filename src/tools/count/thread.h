/**
 * @fileoverview What the tool `count` keeps for each thread, and the sums that outlive threads.
 *
 * Counters belong to threads and vanish with them: a thread that ends is reduced to its tally and added, counter by
 * counter, to the sums of the dead. count.c calls the events; functions.c and the reports read the summary.
 */
#ifndef SONDE_TOOLS_COUNT_THREAD_H
#define SONDE_TOOLS_COUNT_THREAD_H

#include <sonde/tool.h>
#include <sonde/vector.h>

#include "record.h"

/** Threads that ended are listed one by one up to this many; later ones only together. */
enum { COUNT_LISTED_THREADS = 1000 };

typedef struct count_thread_result {
    uint64_t order; /**< of the thread's start, from 0 */
    int id;
    bool ended;     /**< before the report was made */
    count_tally tally;
} count_thread_result;

typedef SN_VECTOR(count_thread_result) count_results;

/** Of counters, by their numbers. */
typedef SN_VECTOR(uint64_t) count_values;

/** Everything counted, all threads. Owned by whoever made it: freed by count_summary_free(). */
typedef struct count_summary {
    count_tally total;
    count_results threads;        /**< in the order of their start */
    uint64_t unlisted_count;      /**< threads that ended and are not in `threads` */
    count_tally unlisted;
    count_values values;          /**< all threads together */
    struct count_cut_table *cuts; /**< of all threads */
} count_summary;

void count_thread_start(sn_thread *thread);
void count_thread_end(sn_thread *thread);
void count_thread_interrupted(sn_thread *thread, void *data, unsigned completed);

/** Forget everything that came from the parent; `thread` is the only one left. */
void count_thread_fork_child(sn_thread *thread);

void count_summarise(count_summary *summary);
void count_summary_free(count_summary *summary);

/** Evaluate a record over all threads together: see count_record_walk(). */
void count_summary_walk(const count_summary *summary, const count_record *record,
                        void (*visit)(const count_executed *executed, void *data), void *data);

#endif
