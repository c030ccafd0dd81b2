/**
 * @fileoverview Totals and the peak. See totals.h. What the service calls is SN_FAST.
 */
#include "totals.h"

#include <time.h>

#include "accesses.h"
#include "dumps.h"
#include "ignored.h"
#include "settings.h"
#include "stacks.h"

/** Instructions: those of blocks entered, less those behind taken branches. */
static sn_counter entered, skipped;

/** The thread's: at which time it asks for attention; what the time is more than its own instructions. */
static sn_slot next_slot, offset_slot, event_slot;
/** Not 0: the thread's instructions are among those of ended ones. */
static sn_slot ended_slot;

static uint64_t live_bytes, live_extra, live_total, freed_bytes;
static uint64_t peak_total, peak_bytes, peak_extra, peak_stacks, peak_time; /**< the first: with stacks */
static uint64_t milliseconds; /**< as last seen */
/** The clock is looked at once in so many allocations and frees: as often as a millisecond needs. */
static uint64_t events_between = 1;
static uint64_t every_bytes_at = UINT64_MAX;
static uint64_t admin;
/** The only thread's counter; and when it is time for something, unless time is each thread's instructions. */
static uint64_t only_events, next_time;

SN_FAST static uint64_t own_instructions(sn_thread *thread) {
    return sn_counter_value(thread, entered) - sn_counter_value(thread, skipped);
}

/** Instructions of threads that are no more. */
static uint64_t ended_instructions;

SN_FAST static bool counts_instructions(void) {
    return heap_current.time_unit == HEAP_INSTRUCTIONS && heap_current.mode == HEAP_TIMELINE;
}

SN_FAST static uint64_t *next_of(sn_thread *thread) {
    return counts_instructions() ? sn_slot_of(thread, next_slot) : &next_time;
}

void heap_totals_thread_end(sn_thread *thread) {
    if (counts_instructions()) {
        /* In this order nobody counts it twice; who looks in between misses it, and heap_timeline_take() knows better. */
        __atomic_store_n(sn_slot_of(thread, ended_slot), 1, __ATOMIC_SEQ_CST);
        __atomic_fetch_add(&ended_instructions, own_instructions(thread), __ATOMIC_SEQ_CST);
    }
}

void heap_totals_init(void) {
    if (counts_instructions()) {
        entered = sn_counter_new(1);
        skipped = sn_counter_new(1);
    }
    next_slot = sn_slot_new();
    offset_slot = sn_slot_new();
    event_slot = sn_slot_new();
    ended_slot = sn_slot_new();
    admin = (uint64_t)heap_current.heap_admin;
    if (heap_current.every_bytes > 0) {
        every_bytes_at = (uint64_t)heap_current.every_bytes;
    }
}

void heap_totals_thread_start(sn_thread *thread) {
    *sn_slot_of(thread, next_slot) = 0;
    *sn_slot_of(thread, offset_slot) = 0;
    *sn_slot_of(thread, ended_slot) = 0;
}

void heap_totals_fork_child(sn_thread *thread, uint64_t so_far) {
    ended_instructions = so_far;
    *sn_slot_of(thread, offset_slot) = so_far;
    *next_of(thread) = 0;
}

void heap_time_instrument(sn_block *block) {
    unsigned size = sn_block_size(block);
    sn_count_entry(block, entered, size);
    for (unsigned i = 0; i + 1 < size; i++) {
        if (sn_block_instruction(block, i)->kind == SN_KIND_CONDITIONAL) {
            sn_count_taken(block, i, skipped, size - 1 - i);
        }
    }
}

/* ---------------------------------------------------------------------------------------- in the code cache */

SN_FAST static uint64_t time_of(sn_thread *thread) {
    switch (heap_current.time_unit) {
    case HEAP_INSTRUCTIONS:
        return own_instructions(thread) + *sn_slot_of(thread, offset_slot);
    case HEAP_MILLISECONDS:
        return __atomic_load_n(&milliseconds, __ATOMIC_RELAXED);
    default:
        return sn_heap_allocated() + __atomic_load_n(&freed_bytes, __ATOMIC_RELAXED);
    }
}

/** Whether it is time for something that is done in the engine. */
SN_FAST static void look_at_time(sn_thread *thread) {
    bool has_times = heap_current.mode == HEAP_TIMELINE;
    bool sees_clock = (has_times && heap_current.time_unit == HEAP_MILLISECONDS) || heap_current.every_seconds > 0;
    if (has_times && time_of(thread) >= __atomic_load_n(next_of(thread), __ATOMIC_RELAXED)) {
        sn_heap_attend();
    }
    uint64_t *events = sees_clock && heap_is_shared ? sn_slot_of(thread, event_slot) : &only_events;
    if (sees_clock && ++*events >= __atomic_load_n(&events_between, __ATOMIC_RELAXED)) {
        *events = 0;
        sn_heap_attend();
    }
    uint64_t due_at = __atomic_load_n(&every_bytes_at, __ATOMIC_RELAXED);
    if (due_at != UINT64_MAX && sn_heap_allocated() >= due_at) {
        __atomic_store_n(&every_bytes_at, UINT64_MAX, __ATOMIC_RELAXED);
        heap_dumps_due(HEAP_EVERY_BYTES);
    }
}

SN_FAST static void note_peak(sn_thread *thread, uint64_t heap, uint64_t stacks) {
    if (heap + stacks <= __atomic_load_n(&peak_total, __ATOMIC_RELAXED)) {
        return;
    }
    __atomic_store_n(&peak_total, heap + stacks, __ATOMIC_RELAXED);
    peak_bytes = __atomic_load_n(&live_bytes, __ATOMIC_RELAXED);
    peak_extra = __atomic_load_n(&live_extra, __ATOMIC_RELAXED);
    peak_stacks = stacks;
    peak_time = time_of(thread);
    heap_cells_peak();
}

/** Heap and stacks are this now. */
SN_FAST static void look_at_peak(sn_thread *thread, uint64_t heap, uint64_t stack_pointer) {
    uint64_t stacks = heap_stacks_note(thread, stack_pointer);
    note_peak(thread, heap, stacks);
    heap_stacks_allow(thread, stack_pointer, __atomic_load_n(&peak_total, __ATOMIC_RELAXED) - heap - stacks);
}

/** The heap has grown. */
SN_FAST static void heap_grew(sn_thread *thread, uint64_t heap) {
    uint64_t stack_pointer = heap_current.counts_stacks ? sn_call_frame_slot(sn_call_frame_of(thread)) : 0;
    if (stack_pointer != 0) {
        look_at_peak(thread, heap, stack_pointer);
    } else {
        note_peak(thread, heap, 0);
    }
}

SN_FAST void heap_stack_grew(sn_thread *thread, uint64_t stack_pointer) {
    look_at_peak(thread, __atomic_load_n(&live_total, __ATOMIC_RELAXED), stack_pointer);
}

SN_FAST static uint64_t add_to(uint64_t *sum, uint64_t amount) {
    return heap_is_shared ? __atomic_add_fetch(sum, amount, __ATOMIC_RELAXED) : (*sum += amount);
}

SN_FAST static void come(sn_thread *thread, uint64_t bytes, uint64_t extra) {
    add_to(&live_bytes, bytes);
    add_to(&live_extra, extra);
    heap_grew(thread, add_to(&live_total, bytes + extra));
}

SN_FAST static void go(uint64_t bytes, uint64_t extra) {
    add_to(&live_bytes, -bytes);
    add_to(&live_extra, -extra);
    add_to(&live_total, -(bytes + extra));
    add_to(&freed_bytes, bytes);
}

/** In the other modes files are made of the blocks themselves, and `word` belongs to reports.c. */
SN_FAST static bool has_cells(void) {
    return heap_current.mode == HEAP_TIMELINE || heap_current.mode == HEAP_LIVE || heap_current.mode == HEAP_CUMULATIVE;
}

SN_FAST void heap_allocated(sn_thread *thread, sn_heap_block *block) {
    uint64_t slop = block->usable - block->requested;
    if (!has_cells()) {
        look_at_time(thread);
        return;
    }
    heap_cell *cell = heap_cell_of(block->context, block->requested, slop);
    block->word = heap_cell_number(cell);
    heap_cell_add(cell, block->requested, slop);
    if (heap_current.accesses) {
        heap_accesses_begin(block);
    }
    if (heap_cell_counts(cell)) {
        come(thread, block->requested, slop + admin);
    }
    look_at_time(thread);
}

SN_FAST void heap_freed(sn_thread *thread, sn_heap_block *block) {
    uint64_t slop = block->usable - block->requested;
    if (!has_cells()) {
        return;
    }
    heap_cell *cell = heap_cell_at((uint32_t)block->word);
    heap_cell_remove(cell, block->requested, slop, block->died - block->born);
    if (heap_current.accesses) {
        heap_accesses_end(block, cell);
    }
    if (heap_cell_counts(cell)) {
        go(block->requested, slop + admin);
    }
    look_at_time(thread);
}

SN_FAST void heap_measured(sn_thread *thread, sn_heap_block *block, uint64_t before) {
    uint64_t old_slop = before - block->requested, slop = block->usable - block->requested;
    if (!has_cells()) {
        return;
    }
    heap_cell *cell = heap_cell_of(block->context, block->requested, slop);
    heap_cell_undo(heap_cell_at((uint32_t)block->word), block->requested, old_slop);
    block->word = heap_cell_number(cell);
    heap_cell_add(cell, block->requested, slop);
    if (!heap_cell_counts(cell)) {
        return;
    }
    add_to(&live_extra, slop - old_slop);
    heap_grew(thread, add_to(&live_total, slop - old_slop));
}

/* ------------------------------------------------------------------------------------------------ in the engine */

/** What lives of a context that turns out to count. */
static void count_cell(const heap_cell *cell) {
    come(sn_running_thread(), cell->live.bytes, cell->live.slop + admin * cell->live.blocks);
}

void heap_totals_judge(void) {
    heap_ignored_judge(count_cell);
}

void heap_bytes_come(sn_thread *thread, sn_context context, uint64_t bytes) {
    heap_cell_add(heap_cell_of(context, bytes, 0), bytes, 0);
    come(thread, bytes, 0);
}

void heap_bytes_go(sn_thread *thread, sn_context context, uint64_t bytes) {
    (void)thread;
    heap_cell_remove(heap_cell_of(context, bytes, 0), bytes, 0, 0);
    go(bytes, 0);
}

heap_totals heap_totals_now(void) {
    return (heap_totals){__atomic_load_n(&live_bytes, __ATOMIC_RELAXED), __atomic_load_n(&live_extra, __ATOMIC_RELAXED)};
}

heap_totals heap_totals_peak(uint64_t *time, uint64_t *stacks) {
    *time = peak_time;
    *stacks = peak_stacks;
    return (heap_totals){peak_bytes, peak_extra};
}

static void add_instructions(sn_thread *thread, void *sum) {
    if (__atomic_load_n(sn_slot_of(thread, ended_slot), __ATOMIC_SEQ_CST) == 0) {
        *(uint64_t *)sum += own_instructions(thread);
    }
}

void heap_look_at_clock(void) {
    enum { MOST_BETWEEN = 1024 };
    static uint64_t started;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t since = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    started = started != 0 ? started : since;
    uint64_t before = __atomic_exchange_n(&milliseconds, since - started, __ATOMIC_RELAXED);
    uint64_t between = __atomic_load_n(&events_between, __ATOMIC_RELAXED);
    between = since - started == before ? 2 * between : between / 2;
    between = between < 1 ? 1 : between > MOST_BETWEEN ? MOST_BETWEEN : between;
    __atomic_store_n(&events_between, between, __ATOMIC_RELAXED);
}

uint64_t heap_time(sn_thread *thread) {
    if (heap_current.time_unit == HEAP_MILLISECONDS) {
        heap_look_at_clock();
    } else if (counts_instructions()) {
        uint64_t all = __atomic_load_n(&ended_instructions, __ATOMIC_SEQ_CST);
        sn_threads_visit(add_instructions, &all);
        *sn_slot_of(thread, offset_slot) = all - own_instructions(thread);
    }
    return time_of(thread);
}

void heap_totals_every_bytes(void) {
    __atomic_store_n(&every_bytes_at, sn_heap_allocated() + (uint64_t)heap_current.every_bytes, __ATOMIC_RELAXED);
}

void heap_next_at(sn_thread *thread, uint64_t interval) {
    __atomic_store_n(next_of(thread), time_of(thread) + interval, __ATOMIC_RELAXED);
}
