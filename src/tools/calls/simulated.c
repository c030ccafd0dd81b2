/**
 * @fileoverview A thread's simulation. See simulated.h.
 */
#include "simulated.h"

#include <pthread.h>
#include <stdlib.h>

#include "separate.h"
#include "simulator/branches.h"
#include "simulator/memory.h"
#include "simulator/setup.h"
#include "simulator/shared_level.h"
#include "simulator/simulate.h"
#include "simulator/words.h"

struct calls_simulated {
    pthread_mutex_t lock;         /**< of all that follows: another thread may want the sums */
    cache_simulation *caches;     /**< NULL if none are simulated */
    cache_branches branches;
    cache_sites sites;            /**< of caches; branches have their own */
    cache_sites ignored;          /**< of what is not collected */
    calls_ledger data, branching; /**< costs of calls */
};

static bool is_wanted(void) {
    return cache_current.simulates_caches || cache_current.simulates_branches;
}

void calls_simulated_setup(void (*words)(const sn_batch *), void (*branches)(const sn_batch *)) {
    cache_setup("calls", cache_models[0], words, branches);
    if (cache_current.simulates_caches) {
        sn_contexts_trace(cache_current.trace);
    }
    if (cache_current.simulates_branches) {
        sn_contexts_trace(cache_branches_trace());
    }
}

/* ---------------------------------------------------------------------------------- a thread's */

static void data_frame(void *simulated, const cache_frame *frame, const cache_totals *totals) {
    calls_ledger_frame(&((calls_simulated *)simulated)->data, frame, totals->counts);
}

static void branch_frame(void *simulated, const cache_frame *frame, const cache_branch_totals *totals) {
    calls_ledger_frame(&((calls_simulated *)simulated)->branching, frame, totals->counts);
}

static void set_collecting(calls_simulated *simulated, bool on) {
    simulated->branches.ignores = !on;
    if (simulated->caches != NULL) {
        cache_simulation_count(simulated->caches, on ? &simulated->sites : &simulated->ignored, on);
    }
}

calls_simulated *calls_simulated_new(bool collects) {
    if (!is_wanted()) {
        return NULL;
    }
    calls_simulated *new = cache_memory_new(1, sizeof *new);
    pthread_mutex_init(&new->lock, NULL);
    new->data = (calls_ledger){.first = 0};
    new->branching = (calls_ledger){.first = CALLS_DATA_EVENTS, .is_of_branches = true};
    if (cache_current.simulates_caches) {
        new->caches = cache_simulation_new(&new->sites, NULL, NULL);
        cache_simulation_watch(new->caches, &(cache_frame_watcher){data_frame, new});
        cache_shared_level_add_user();
    }
    new->branches.watcher = (cache_branch_watcher){branch_frame, new};
    set_collecting(new, collects);
    return new;
}

void calls_simulated_free(calls_simulated *simulated) {
    if (simulated == NULL) {
        return;
    }
    if (simulated->caches != NULL) {
        cache_simulation_free(simulated->caches);
    }
    cache_sites_free(&simulated->sites);
    cache_sites_free(&simulated->ignored);
    cache_sites_free(&simulated->branches.sites);
    calls_ledger_free(&simulated->data);
    calls_ledger_free(&simulated->branching);
    free(simulated);
}

/* -------------------------------------------------------------------------------------- traces */

static void simulate_data(calls_simulated *simulated, const uint64_t *words, size_t count) {
    cache_simulate(simulated->caches, words, count);
}

static void simulate_branches(calls_simulated *simulated, const uint64_t *words, size_t count) {
    cache_branches_simulate(&simulated->branches, &(sn_batch){.records = words, .count = count});
}

/** A trace in parts, each of which is of one context. */
static void simulate(calls_simulated *simulated, const sn_batch *batch, cache_sites *sites, calls_ledger *ledger,
                     void (*part)(calls_simulated *simulated, const uint64_t *words, size_t count)) {
    const uint64_t *words = batch->records;
    size_t first = 0;
    for (size_t i = 0; calls_separates() && i < batch->count; i++) {
        uint32_t context, caller;
        if (calls_word_is_context(words[i]) && calls_word_contexts(words[i], &context, &caller)) {
            part(simulated, words + first, i - first);
            calls_ledger_contexts(ledger, context, caller);
            sites->context = context;
            first = i + 1;
        }
    }
    part(simulated, words + first, batch->count - first);
}

void calls_simulated_words(calls_simulated *simulated, const sn_batch *batch) {
    pthread_mutex_lock(&simulated->lock);
    bool begun = cache_shared_level_begin();
    simulate(simulated, batch, &simulated->sites, &simulated->data, simulate_data);
    cache_shared_level_end(begun);
    pthread_mutex_unlock(&simulated->lock);
}

void calls_simulated_branches(calls_simulated *simulated, const sn_batch *batch) {
    pthread_mutex_lock(&simulated->lock);
    simulate(simulated, batch, &simulated->branches.sites, &simulated->branching, simulate_branches);
    pthread_mutex_unlock(&simulated->lock);
}

static void append(sn_block *block, sn_trace *trace, sn_value word) {
    sn_trace_append(block, trace, 1, &(sn_field){.offset = 0, .size = sizeof(uint64_t), .value = word});
}

void calls_simulated_insert_word(sn_block *block, sn_value word) {
    if (!is_wanted()) {
        return;
    }
    sn_label is_known = sn_label_new(block);
    sn_branch_if(block, SN_EQUAL, word, sn_constant(block, 0), is_known);
    if (cache_current.simulates_caches) {
        append(block, cache_current.trace, word);
    }
    if (cache_current.simulates_branches) {
        append(block, cache_branches_trace(), word);
    }
    sn_label_here(block, is_known);
}

void calls_simulated_flush(sn_thread *thread) {
    if (is_wanted()) {
        cache_flush(thread);
    }
}

void calls_simulated_collect(sn_thread *thread, calls_simulated *simulated, bool on) {
    if (simulated != NULL) {
        cache_flush(thread);
        set_collecting(simulated, on);
    }
}

void calls_simulated_cut(sn_thread *thread, const calls_record *record, unsigned completed) {
    if (cache_current.simulates_caches && completed < record->instruction_count) {
        sn_trace_write(thread, cache_current.trace, &(uint64_t){cache_word_cut(record->first_site + completed)});
    }
}

/* ---------------------------------------------------------------------------------------- sums */

/** Of nothing, if there are no caches. */
static const uint64_t *data_totals(const calls_simulated *simulated) {
    static const cache_totals nothing;
    return (simulated->caches == NULL ? &nothing : cache_simulation_totals(simulated->caches))->counts;
}

void calls_simulated_add(calls_simulated_sum *sum, calls_simulated *simulated, bool stays) {
    cache_sites_adder *add = stays ? cache_sites_join : cache_sites_add;
    if (simulated == NULL) {
        return;
    }
    pthread_mutex_lock(&simulated->lock);
    add(&sum->sites, &simulated->sites);
    add(&sum->sites, &simulated->branches.sites);
    calls_ledger_add(&sum->bills, &simulated->data, data_totals(simulated));
    calls_ledger_add(&sum->bills, &simulated->branching, simulated->branches.totals.counts);
    pthread_mutex_unlock(&simulated->lock);
}

void calls_simulated_sum_free(calls_simulated_sum *sum) {
    cache_sites_free(&sum->sites);
    calls_bills_free(&sum->bills);
}

static void zero(calls_simulated *simulated) {
    cache_sites_free(&simulated->sites);
    cache_sites_free(&simulated->branches.sites);
    calls_ledger_zero(&simulated->data, data_totals(simulated));
    calls_ledger_zero(&simulated->branching, simulated->branches.totals.counts);
}

void calls_simulated_zero(calls_simulated *simulated) {
    if (simulated != NULL) {
        pthread_mutex_lock(&simulated->lock);
        zero(simulated);
        pthread_mutex_unlock(&simulated->lock);
    }
}

void calls_simulated_fork_child(calls_simulated *simulated) {
    if (simulated != NULL) {
        cache_shared_level_forget_users();
        pthread_mutex_init(&simulated->lock, NULL);
        zero(simulated);
    }
}
