/**
 * @fileoverview Threads of the tool `cache`, the sums of those that ended, and the summary. See thread.h.
 */
#include "thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "settings.h"
#include "shared_level.h"
#include "simulate.h"

typedef struct cache_thread {
    cache_sites sites;
    cache_simulation simulation; /**< unused when nothing is simulated */
    uint64_t *filters[2];        /**< for instructions and for data; NULL without --cache-sim */
} cache_thread;

/** What ended threads have left behind. */
static cache_summary dead;
static pthread_mutex_t dead_lock = PTHREAD_MUTEX_INITIALIZER;

static void *resized(void *memory, size_t count, size_t size) {
    void *result = reallocarray(memory, count, size);
    if (result == NULL) {
        sn_fail(125, "cache: out of memory");
    }
    return result;
}

static void make_filters(sn_thread *thread, cache_thread *mine) {
    mine->filters[0] = cache_filter_new(&cache_current.geometries[CACHE_I1]);
    mine->filters[1] = cache_filter_new(&cache_current.geometries[CACHE_D1]);
    *sn_slot_of(thread, cache_current.code_slot) = (uintptr_t)mine->filters[0];
    *sn_slot_of(thread, cache_current.data_slot) = (uintptr_t)mine->filters[1];
}

void cache_thread_start(sn_thread *thread) {
    cache_thread *mine = resized(NULL, 1, sizeof *mine);
    *mine = (cache_thread){0};
    if (cache_current.simulates_caches) {
        make_filters(thread, mine);
    }
    if (cache_current.trace != NULL) {
        cache_simulation_init(&mine->simulation, &mine->sites);
        cache_shared_level_add_user();
    }
    sn_thread_set_data(thread, mine);
}

void cache_thread_batch(const sn_batch *batch) {
    cache_thread *mine = batch->thread_data;
    if (mine != NULL) {
        bool begun = cache_shared_level_begin();
        cache_simulate(&mine->simulation, batch->records, batch->count);
        cache_shared_level_end(begun);
    }
}

void cache_thread_interrupted(sn_thread *thread, void *data, unsigned completed) {
    const cache_record *record = data;
    cache_thread *mine = sn_thread_data(thread);
    if (record == NULL || mine == NULL || completed >= record->instruction_count) {
        return;
    }
    if (cache_current.trace != NULL) {
        cache_event event = {.site = record->first_site + completed, .kind = CACHE_EVENT_CUT};
        sn_trace_write(thread, cache_current.trace, &event);
    } else {
        cache_site_counters(&mine->sites, record->first_site + completed)[CACHE_SITE_CUTS]++;
    }
}

/** Add a thread's counters. It may be running: what is counted later is read first, so that of what is counted when a
    block is entered there is never less than of what then happens in it. */
static void add_counters(cache_summary *summary, const sn_thread *thread) {
    for (const cache_record *record = cache_record_first(); record != NULL; record = record->next) {
        size_t end = (size_t)record->counters + record->counter_count;
        if (end > summary->value_count) {
            size_t room = end + end / 2;
            summary->values = resized(summary->values, room, sizeof *summary->values);
            memset(summary->values + summary->value_count, 0,
                   (room - summary->value_count) * sizeof *summary->values);
            summary->value_count = room;
        }
        if (sn_counter_value(thread, record->counters) == 0) {
            continue;
        }
        for (uint32_t i = record->counter_count; i-- > 0;) {
            summary->values[record->counters + i] += sn_counter_value(thread, record->counters + i);
        }
    }
}

static void add_thread(cache_summary *summary, const sn_thread *thread, const cache_thread *its) {
    add_counters(summary, thread);
    cache_sites_add(&summary->sites, &its->sites);
}

void cache_thread_end(sn_thread *thread) {
    cache_thread *mine = sn_thread_data(thread);
    if (mine == NULL) {
        return;
    }
    if (cache_current.trace != NULL) {
        cache_simulation_release(&mine->simulation);
    }
    pthread_mutex_lock(&dead_lock);
    add_thread(&dead, thread, mine);
    pthread_mutex_unlock(&dead_lock);
    sn_thread_set_data(thread, NULL);
    cache_sites_free(&mine->sites);
    free(mine->filters[0]);
    free(mine->filters[1]);
    free(mine);
}

/** Nothing is given back: another thread of the parent may have been half-way through changing it. */
void cache_thread_fork_child(sn_thread *thread) {
    cache_thread *mine = sn_thread_data(thread);
    dead = (cache_summary){0};
    pthread_mutex_init(&dead_lock, NULL);
    cache_shared_level_forget_users();
    if (mine != NULL) {
        mine->sites = (cache_sites){0};
    } else {
        cache_thread_start(thread);
    }
}

static void visit_thread(sn_thread *thread, void *data) {
    const cache_thread *its = sn_thread_data(thread);
    if (its != NULL) {
        add_thread(data, thread, its);
    }
}

void cache_summarise(cache_summary *summary) {
    *summary = (cache_summary){0};
    pthread_mutex_lock(&dead_lock);
    if (dead.value_count != 0) {
        summary->values = resized(NULL, dead.value_count, sizeof *summary->values);
        memcpy(summary->values, dead.values, dead.value_count * sizeof *summary->values);
        summary->value_count = dead.value_count;
    }
    cache_sites_add(&summary->sites, &dead.sites);
    pthread_mutex_unlock(&dead_lock);
    sn_threads_visit(visit_thread, summary);
}

void cache_summary_free(cache_summary *summary) {
    free(summary->values);
    cache_sites_free(&summary->sites);
    *summary = (cache_summary){0};
}
