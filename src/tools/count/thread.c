/**
 * @fileoverview Threads of the tool `count`: their events, the sums of the dead, and the summary. See thread.h.
 *
 * A thread's own table of cuts is written by that thread alone. The sums of the dead have one lock.
 */
#include "thread.h"

#include <pthread.h>
#include <sonde/sorted.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "cuts.h"

typedef struct count_thread {
    uint64_t order;
    count_cut_table *cuts;
} count_thread;

/** What ended threads have left behind. */
typedef struct dead_threads {
    pthread_mutex_t lock;
    count_values values;
    count_cut_table *cuts;
    count_results listed;
    uint64_t unlisted_count;
    count_tally unlisted;
} dead_threads;

static dead_threads dead = {.lock = PTHREAD_MUTEX_INITIALIZER};
static _Atomic uint64_t threads_started;

void count_thread_start(sn_thread *thread) {
    count_thread *mine = malloc(sizeof *mine);
    if (mine == NULL) {
        sn_fail(125, "count: out of memory");
    }
    *mine = (count_thread){.order = atomic_fetch_add(&threads_started, 1)};
    sn_thread_set_data(thread, mine);
}

void count_thread_interrupted(sn_thread *thread, void *data, unsigned completed) {
    count_thread *mine = sn_thread_data(thread);
    if (mine != NULL && data != NULL) {
        count_cuts_add(&mine->cuts, data, completed, 1);
    }
}

/** Values of a record's counters in a thread that may be running. Later ones are read first: what was counted later can
    then never seem more than what must have come before it. */
static void read_values(const sn_thread *thread, const count_record *record, uint64_t *values) {
    for (uint32_t i = record->counter_count; i-- > 0;) {
        values[i] = sn_counter_value(thread, record->counters + i);
    }
}

static void add_values(count_values *sums, const count_record *record, const uint64_t *values) {
    size_t end = (size_t)record->counters + record->counter_count;
    sn_vector_extend(sums, end);
    for (uint32_t i = 0; i < record->counter_count; i++) {
        sums->items[record->counters + i] += values[i];
    }
}

/** Tally one thread, and add its counters to the sums. */
static void reduce_thread(const sn_thread *thread, const count_cut_table *cuts, count_values *sums, count_tally *tally) {
    count_values values = {0};
    sn_vector_extend(&values, (size_t)count_record_most_counters() + 1);
    for (const count_record *record = count_record_first(); record != NULL; record = record->next) {
        if (sn_counter_value(thread, record->counters) == 0) {
            continue;
        }
        read_values(thread, record, values.items);
        count_record_tally(record, values.items, count_cuts_of(cuts, record), tally);
        add_values(sums, record, values.items);
    }
    sn_vector_release(&values);
}

static void list_dead(const count_thread_result *result) {
    if (dead.listed.count == COUNT_LISTED_THREADS) {
        dead.unlisted_count++;
        count_tally_add(&dead.unlisted, &result->tally);
        return;
    }
    *sn_vector_add(&dead.listed) = *result;
}

void count_thread_end(sn_thread *thread) {
    count_thread *mine = sn_thread_data(thread);
    if (mine == NULL) {
        return;
    }
    count_thread_result result = {.order = mine->order, .id = sn_thread_id(thread), .ended = true};
    pthread_mutex_lock(&dead.lock);
    reduce_thread(thread, mine->cuts, &dead.values, &result.tally);
    count_cuts_merge(&dead.cuts, mine->cuts);
    list_dead(&result);
    pthread_mutex_unlock(&dead.lock);
    sn_thread_set_data(thread, NULL);
    count_cuts_free(mine->cuts);
    free(mine);
}

/** Nothing is given back: another thread of the parent may have been half-way through changing it. */
void count_thread_fork_child(sn_thread *thread) {
    dead = (dead_threads){.lock = PTHREAD_MUTEX_INITIALIZER};
    atomic_store(&threads_started, 0);
    count_thread_start(thread);
}

static void summarise_thread(sn_thread *thread, void *data) {
    count_summary *summary = data;
    const count_thread *its = sn_thread_data(thread);
    if (its == NULL) {
        return;
    }
    count_thread_result *result = sn_vector_add(&summary->threads);
    *result = (count_thread_result){.order = its->order, .id = sn_thread_id(thread)};
    const count_cut_table *cuts = __atomic_load_n(&its->cuts, __ATOMIC_ACQUIRE);
    reduce_thread(thread, cuts, &summary->values, &result->tally);
    count_cuts_merge(&summary->cuts, cuts);
}

static void summarise_dead(count_summary *summary) {
    sn_vector_extend(&summary->values, dead.values.count);
    for (size_t i = 0; i < dead.values.count; i++) {
        summary->values.items[i] = dead.values.items[i];
    }
    for (size_t i = 0; i < dead.listed.count; i++) {
        *sn_vector_add(&summary->threads) = dead.listed.items[i];
    }
    count_cuts_merge(&summary->cuts, dead.cuts);
    summary->unlisted_count = dead.unlisted_count;
    summary->unlisted = dead.unlisted;
}

void count_summarise(count_summary *summary) {
    *summary = (count_summary){0};
    pthread_mutex_lock(&dead.lock);
    summarise_dead(summary);
    pthread_mutex_unlock(&dead.lock);
    sn_threads_visit(summarise_thread, summary);
    sn_sorted_sort(&summary->threads, order);
    summary->total = summary->unlisted;
    for (size_t i = 0; i < summary->threads.count; i++) {
        count_tally_add(&summary->total, &summary->threads.items[i].tally);
    }
}

void count_summary_free(count_summary *summary) {
    sn_vector_release(&summary->threads);
    sn_vector_release(&summary->values);
    count_cuts_free(summary->cuts);
}

void count_summary_walk(const count_summary *summary, const count_record *record,
                        void (*visit)(const count_executed *executed, void *data), void *data) {
    if ((size_t)record->counters + record->counter_count <= summary->values.count) {
        count_record_walk(record, summary->values.items + record->counters, count_cuts_of(summary->cuts, record), visit, data);
    }
}
