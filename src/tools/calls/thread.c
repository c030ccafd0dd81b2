/**
 * @fileoverview Threads of the tool `calls`, and accounts of them. See thread.h.
 */
#include "thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "record.h"
#include "separate.h"
#include "settings.h"

typedef struct calls_thread {
    const sn_thread *owner;/**< a vfork child has its parent's slots, but is not counted */
    int number;            /**< 1 for the first thread */
    calls_arcs arcs;
    calls_separated separated;
    uint64_t zeroed;       /**< total of instructions when it was zeroed last */
    calls_values baseline; /**< counters then; those that are missing were zero */
    calls_system_list system;
    calls_simulated *simulated; /**< NULL: nothing is */
    struct timespec began, began_on_processor; /**< of the system call that it makes */
} calls_thread;

/** What ended threads have left behind: one account of each if threads are separated, else one. */
static SN_VECTOR(calls_account) ended;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* -------------------------------------------------------------------- calls that end */

/** The call of a frame. */
SN_FAST static calls_way way_of(sn_call_frame *frame) {
    sn_call_frame *below = sn_call_frame_below(frame);
    calls_way way = {.from = sn_call_frame_site(frame), .target = frame->target, .how = CALLS_BY_CALL};
    if (way.from == 0) {
        way.from = below->target;
        way.how = sn_call_frame_is_handler(frame) ? CALLS_BY_SIGNAL : CALLS_BY_JUMP;
    }
    if (calls_separates()) {
        way.from_context = below->context;
        way.target_context = frame->context;
    }
    return way;
}

/** Add a call that costs the difference of the totals. A call from before the last zeroing was counted then. */
SN_FAST static void add_call(calls_thread *mine, calls_arcs *arcs, sn_call_frame *frame, uint64_t total) {
    bool is_old = frame->data < mine->zeroed;
    uint64_t since = is_old ? mine->zeroed : frame->data;
    if (total > since && frame->target != 0) { /* else nothing was collected */
        calls_way way = way_of(frame);
        calls_arc *arc = calls_arcs_find(arcs, &way);
        arc->count += !is_old;
        arc->inclusive += total - since;
    }
}

SN_FAST static void call_left(sn_thread *thread, sn_call_frame *frame) {
    calls_thread *mine = (calls_thread *)*sn_slot_of(thread, calls_current.thread);
    if (mine != NULL && mine->owner == thread) {
        add_call(mine, &mine->arcs, frame, sn_counter_value(thread, calls_current.total));
        calls_separate_left(&mine->separated, frame);
    }
}

void calls_threads_init(void) {
    sn_contexts_enable();
    sn_contexts_watch(calls_current.total, call_left);
}

/** The calls that the thread is in. Those that are counted at their sites will be there when they have ended: their costs
    until now go to `counters`. The others go to `arcs`, if that is not NULL. */
static void add_open_calls(sn_thread *thread, calls_thread *mine, calls_arcs *arcs, uint64_t *counters) {
    uint64_t total = sn_counter_value(thread, calls_current.total);
    sn_counter inclusive;
    for (sn_call_frame *frame = sn_call_frame_of(thread); sn_call_frame_below(frame) != NULL;
         frame = sn_call_frame_below(frame)) {
        if (!sn_call_frame_counter(frame, &inclusive)) {
            if (arcs != NULL) {
                add_call(mine, arcs, frame, total);
            }
        } else if (total > frame->data) {
            counters[inclusive] += total - frame->data;
        }
    }
}

/* ----------------------------------------------------------------------------- threads */

static calls_thread *thread_of(sn_thread *thread) {
    return sn_thread_data(thread);
}

void calls_thread_start(sn_thread *thread) {
    calls_thread *mine = malloc(sizeof *mine);
    static int threads;
    if (mine == NULL) {
        sn_fail(125, "calls: out of memory");
    }
    *mine = (calls_thread){.owner = thread, .number = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED)};
    if (!calls_arcs_init(&mine->arcs) || !calls_separated_init(&mine->separated, thread)) {
        sn_fail(125, "calls: no address space for a thread's calls");
    }
    mine->simulated = calls_simulated_new(calls_current.collects_at_start);
    *sn_slot_of(thread, calls_current.collecting) = calls_current.collects_at_start ? UINT64_MAX : 0;
    *sn_slot_of(thread, calls_current.thread) = (uintptr_t)mine;
    if (calls_separates()) {
        *sn_slot_of(thread, calls_current.separated) = (uintptr_t)&mine->separated;
    }
    *sn_slot_of(thread, calls_current.blocks) = (uint64_t)calls_current.blocks_to_dump;
    sn_thread_set_data(thread, mine);
}

void calls_thread_words(const sn_batch *batch) {
    calls_thread *mine = batch->thread_data;
    if (mine != NULL) {
        calls_simulated_words(mine->simulated, batch);
    }
}

void calls_thread_branches(const sn_batch *batch) {
    calls_thread *mine = batch->thread_data;
    if (mine != NULL) {
        calls_simulated_branches(mine->simulated, batch);
    }
}

static void free_thread(calls_thread *mine) {
    calls_simulated_free(mine->simulated);
    calls_arcs_release(&mine->arcs);
    calls_separated_release(&mine->separated);
    sn_vector_release(&mine->baseline);
    sn_vector_release(&mine->system);
    free(mine);
}

/* ---------------------------------------------------------------------------- accounts */

static calls_system_costs *system_costs_of(calls_system_list *list, uint64_t address, uint32_t context) {
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].address == address && list->items[i].context == context) {
            return &list->items[i];
        }
    }
    calls_system_costs *new = sn_vector_add(list);
    *new = (calls_system_costs){.address = address, .context = context};
    return new;
}

static void add_system(calls_system_list *to, const calls_system_list *from) {
    for (size_t i = 0; i < from->count; i++) {
        calls_system_costs *sum = system_costs_of(to, from->items[i].address, from->items[i].context);
        for (unsigned event = 0; event < CALLS_SYSTEM_EVENTS; event++) {
            sum->counts[event] += from->items[i].counts[event];
        }
    }
}

/** Add counters `first` up to `end`, less what they were when they were zeroed. */
static void add_values(calls_account *account, const sn_thread *thread, const calls_thread *its, size_t first, size_t end) {
    sn_vector_extend(&account->values, end);
    for (size_t i = end; i-- > first;) {
        uint64_t zero = i < its->baseline.count ? its->baseline.items[i] : 0;
        account->values.items[i] += sn_counter_value(thread, (sn_counter)i) - zero;
    }
}

static void add_counters(calls_account *account, const sn_thread *thread, const calls_thread *its) {
    for (const calls_record *record = calls_record_first(); record != NULL; record = record->next) {
        add_values(account, thread, its, record->counters, record->counters + record->counter_count);
        add_values(account, thread, its, record->cuts, record->cuts + record->instruction_count);
    }
    sn_counter first, end;
    calls_record_inclusive(&first, &end);
    add_values(account, thread, its, first, end);
}

/** `stays`: see calls_simulated_add(). */
static void add_thread(calls_account *account, sn_thread *thread, calls_thread *its, bool stays) {
    bool needs_cells = calls_separates() && account->cells.core.room == 0;
    if ((account->arcs.core.room == 0 && !calls_arcs_init(&account->arcs)) ||
        (needs_cells && !calls_cells_init(&account->cells))) {
        sn_fail(125, "calls: no address space for the sum of calls");
    }
    add_counters(account, thread, its);
    calls_arcs_add(&account->arcs, &its->arcs);
    calls_cells_add(&account->cells, &its->separated.cells);
    add_open_calls(thread, its, &account->arcs, account->values.items);
    add_system(&account->system, &its->system);
    calls_simulated_add(&account->simulated, its->simulated, stays);
}

static void free_account(calls_account *account) {
    calls_arcs_release(&account->arcs);
    calls_cells_release(&account->cells);
    sn_vector_release(&account->values);
    sn_vector_release(&account->system);
    calls_simulated_sum_free(&account->simulated);
    *account = (calls_account){0};
}

/** The account that a thread which ends now goes to. */
static calls_account *account_of_ended(int thread) {
    if (ended.count == 0 || calls_current.separates_threads) {
        sn_vector_add(&ended)->thread = calls_current.separates_threads ? thread : 0;
    }
    return &ended.items[ended.count - 1];
}

void calls_thread_end(sn_thread *thread) {
    calls_thread *mine = thread_of(thread);
    if (mine == NULL) {
        return;
    }
    pthread_mutex_lock(&lock);
    add_thread(account_of_ended(mine->number), thread, mine, false);
    pthread_mutex_unlock(&lock);
    sn_thread_set_data(thread, NULL);
    *sn_slot_of(thread, calls_current.thread) = 0;
    if (calls_separates()) {
        *sn_slot_of(thread, calls_current.separated) = 0;
    }
    free_thread(mine);
}

/** Nothing of what other threads had is given back: one may have been half-way through changing it. */
void calls_thread_fork_child(sn_thread *thread) {
    calls_thread *mine = thread_of(thread);
    pthread_mutex_init(&lock, NULL);
    memset(&ended, 0, sizeof ended);
    if (mine == NULL) {
        calls_thread_start(thread);
        return;
    }
    mine->owner = mine->separated.owner = thread;
    calls_arcs_clear(&mine->arcs);
    calls_cells_clear(&mine->separated.cells);
    calls_simulated_fork_child(mine->simulated);
    mine->system.count = 0;
    sn_vector_clear(&mine->baseline);
    mine->zeroed = 0;
    for (sn_call_frame *frame = sn_call_frame_of(thread), *below; (below = sn_call_frame_below(frame)) != NULL; frame = below) {
        frame->data = 0; /* the child's counters begin at zero; the data of a stack's first frame is no counter's value */
    }
}

typedef struct collecting {
    calls_account *sum; /**< NULL: threads are visited one by one */
    void (*visit)(const calls_account *account, void *data);
    void *data;
    bool is_end;
} collecting;

static void visit_thread(sn_thread *thread, void *data) {
    collecting *how = data;
    calls_thread *its = thread_of(thread);
    if (its == NULL) {
        return;
    }
    if (how->sum != NULL) {
        add_thread(how->sum, thread, its, how->is_end);
        return;
    }
    calls_account account = {.thread = its->number};
    add_thread(&account, thread, its, how->is_end);
    how->visit(&account, how->data);
    free_account(&account);
}

void calls_accounts_visit(void (*visit)(const calls_account *account, void *data), void *data, bool is_end) {
    calls_account sum = {0};
    pthread_mutex_lock(&lock);
    if (calls_current.separates_threads) {
        for (size_t i = 0; i < ended.count; i++) {
            visit(&ended.items[i], data);
        }
    } else if (ended.count > 0) {
        sum = ended.items[0];
        sn_vector_clear(&ended);
    }
    pthread_mutex_unlock(&lock);
    collecting how = {.sum = calls_current.separates_threads ? NULL : &sum, .visit = visit, .data = data, .is_end = is_end};
    sn_threads_visit(visit_thread, &how);
    if (how.sum != NULL) {
        visit(&sum, data);
        free_account(&sum);
    }
}

static void zero_thread(sn_thread *thread, void *data) {
    calls_thread *its = thread_of(thread);
    (void)data;
    if (its == NULL) {
        return;
    }
    calls_account now = {0};
    sn_vector_release(&its->baseline);
    add_counters(&now, thread, its);
    add_open_calls(thread, its, NULL, now.values.items);
    its->baseline = now.values;
    its->zeroed = sn_counter_value(thread, calls_current.total);
    calls_arcs_clear(&its->arcs);
    calls_cells_clear(&its->separated.cells);
    its->system.count = 0;
    calls_simulated_zero(its->simulated);
}

void calls_accounts_zero(sn_thread *thread) {
    calls_simulated_flush(thread);
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < ended.count; i++) {
        free_account(&ended.items[i]);
    }
    sn_vector_clear(&ended);
    pthread_mutex_unlock(&lock);
    sn_threads_visit(zero_thread, NULL);
}

/* ------------------------------------------------------------------- system calls, switches */

static uint64_t nanoseconds_since(clockid_t clock, const struct timespec *start) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)(now.tv_sec - start->tv_sec) * 1000000000 + (uint64_t)(now.tv_nsec - start->tv_nsec);
}

void calls_thread_system_call_before(sn_thread *thread, const sn_system_call *call) {
    calls_thread *mine = thread_of(thread);
    (void)call;
    if (mine != NULL && calls_current.system_time != CALLS_TIME_NONE) {
        clock_gettime(CLOCK_MONOTONIC, &mine->began);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mine->began_on_processor);
    }
}

void calls_thread_system_call_after(sn_thread *thread, const sn_system_call *call) {
    calls_thread *mine = thread_of(thread);
    if (mine == NULL || calls_current.system_time == CALLS_TIME_NONE || *sn_slot_of(thread, calls_current.collecting) == 0) {
        return;
    }
    static const uint64_t units[] = {[CALLS_TIME_MSEC] = 1000000, [CALLS_TIME_USEC] = 1000, [CALLS_TIME_NSEC] = 1};
    const uint64_t costs[CALLS_SYSTEM_EVENTS] = {
        1, nanoseconds_since(CLOCK_MONOTONIC, &mine->began) / units[calls_current.system_time],
        nanoseconds_since(CLOCK_THREAD_CPUTIME_ID, &mine->began_on_processor)};
    uint32_t context = calls_separates() ? sn_call_frame_of(thread)->context : 0;
    calls_system_costs *own = system_costs_of(&mine->system, call->address, context);
    for (unsigned event = 0; event < CALLS_SYSTEM_EVENTS; event++) {
        own->counts[event] += costs[event];
    }
    for (sn_call_frame *frame = sn_call_frame_of(thread), *below; (below = sn_call_frame_below(frame)) != NULL; frame = below) {
        calls_way way = way_of(frame);
        calls_arc *arc = calls_arcs_find(&mine->arcs, &way);
        for (unsigned event = 0; event < CALLS_SYSTEM_EVENTS; event++) {
            arc->system[event] += costs[event];
        }
    }
}

void calls_thread_switch_collecting(sn_thread *thread) {
    uint64_t *collecting = sn_slot_of(thread, calls_current.collecting);
    *collecting = ~*collecting;
    calls_simulated_collect(thread, thread_of(thread)->simulated, *collecting != 0);
}
