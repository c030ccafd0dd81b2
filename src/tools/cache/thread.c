/**
 * @fileoverview Threads of the tool `cache`, the sums of those that ended, and the summary. See thread.h.
 */
#include "thread.h"

#include <pthread.h>
#include <stdlib.h>

#include "simulator/branches.h"
#include "simulator/memory.h"
#include "simulator/settings.h"
#include "simulator/shared_level.h"
#include "simulator/simulate.h"
#include "simulator/words.h"

typedef struct cache_thread {
    cache_sites sites;
    cache_tally tally;
    cache_simulation *simulation; /**< NULL when no caches are simulated */
    cache_branches *branches;     /**< NULL when no predictors are */
} cache_thread;

/** What ended threads have left behind. */
static cache_summary dead;
static pthread_mutex_t dead_lock = PTHREAD_MUTEX_INITIALIZER;

void cache_thread_start(sn_thread *thread) {
    cache_thread *mine = cache_memory_new(1, sizeof *mine);
    if (cache_current.simulates_caches) {
        mine->simulation = cache_simulation_new(&mine->sites, &mine->tally, NULL);
        cache_shared_level_add_user();
    }
    if (cache_current.simulates_branches) {
        mine->branches = cache_memory_new(1, sizeof *mine->branches);
    }
    sn_thread_set_data(thread, mine);
}

void cache_thread_batch(const sn_batch *batch) {
    cache_thread *mine = batch->thread_data;
    if (mine != NULL) {
        bool begun = cache_shared_level_begin();
        cache_simulate(mine->simulation, batch->records, batch->count);
        cache_shared_level_end(begun);
    }
}

void cache_thread_branches(const sn_batch *batch) {
    cache_thread *mine = batch->thread_data;
    if (mine != NULL) {
        cache_branches_simulate(mine->branches, batch);
    }
}

void cache_thread_interrupted(sn_thread *thread, void *data, unsigned completed) {
    const cache_record *record = data;
    cache_thread *mine = sn_thread_data(thread);
    if (record == NULL || mine == NULL || completed >= record->instruction_count) {
        return;
    }
    uint32_t site = record->first_site + completed;
    if (cache_current.simulates_caches) {
        sn_trace_write(thread, cache_current.trace, &(uint64_t){cache_word_cut(site)});
    } else {
        cache_site_counters(&mine->sites, site)[CACHE_SITE_CUTS]++;
    }
}

/** Add a thread's counters. It may be running: what is counted later is read first, so that of what is counted when a
    block is entered there is never less than of what then happens in it. */
static void add_counters(cache_summary *summary, const sn_thread *thread) {
    for (const cache_record *record = cache_record_first(); record != NULL; record = record->next) {
        size_t end = (size_t)record->counters + record->counter_count;
        if (record->counter_count == 0) {
            continue;
        }
        sn_vector_extend(&summary->values, end);
        if (!cache_current.simulates_caches && sn_counter_value(thread, record->counters) == 0) {
            continue; /* never entered */
        }
        for (uint32_t i = record->counter_count; i-- > 0;) {
            summary->values.items[record->counters + i] += sn_counter_value(thread, record->counters + i);
        }
    }
}

/** Cuts are counted after the entries that they belong to, and so added before them. */
static void add_thread(cache_summary *summary, const sn_thread *thread, const cache_thread *its, cache_sites_adder *add) {
    add(&summary->sites, &its->sites);
    cache_tally_add(&summary->tally, &its->tally);
    add_counters(summary, thread);
    if (its->branches != NULL) {
        add(&summary->sites, &its->branches->sites);
    }
}

void cache_thread_end(sn_thread *thread) {
    cache_thread *mine = sn_thread_data(thread);
    if (mine == NULL) {
        return;
    }
    pthread_mutex_lock(&dead_lock);
    add_thread(&dead, thread, mine, cache_sites_add);
    pthread_mutex_unlock(&dead_lock);
    sn_thread_set_data(thread, NULL);
    if (mine->simulation != NULL) {
        cache_simulation_free(mine->simulation);
    }
    if (mine->branches != NULL) {
        cache_sites_free(&mine->branches->sites);
        free(mine->branches);
    }
    cache_sites_free(&mine->sites);
    cache_tally_free(&mine->tally);
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
        mine->tally = (cache_tally){0};
        if (mine->branches != NULL) {
            mine->branches->sites = (cache_sites){0};
        }
    } else {
        cache_thread_start(thread);
    }
}

typedef struct summarising {
    cache_summary *summary;
    cache_sites_adder *add;
} summarising;

static void visit_thread(sn_thread *thread, void *data) {
    const summarising *how = data;
    const cache_thread *its = sn_thread_data(thread);
    if (its != NULL) {
        add_thread(how->summary, thread, its, how->add);
    }
}

void cache_summarise(cache_summary *summary, bool is_end) {
    *summary = (cache_summary){0};
    pthread_mutex_lock(&dead_lock);
    sn_vector_extend(&summary->values, dead.values.count);
    for (size_t i = 0; i < dead.values.count; i++) {
        summary->values.items[i] = dead.values.items[i];
    }
    cache_sites_add(&summary->sites, &dead.sites);
    cache_tally_add(&summary->tally, &dead.tally);
    pthread_mutex_unlock(&dead_lock);
    summarising how = {summary, is_end ? cache_sites_join : cache_sites_add};
    sn_threads_visit(visit_thread, &how);
}

void cache_summary_free(cache_summary *summary) {
    sn_vector_release(&summary->values);
    cache_sites_free(&summary->sites);
    cache_tally_free(&summary->tally);
    *summary = (cache_summary){0};
}
