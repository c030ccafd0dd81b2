/**
 * @fileoverview Makes the record of a block while it is instrumented, and evaluates its counters. See record.h.
 */
#include "record.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "separate.h"
#include "settings.h"
#include "simulated.h"
#include "simulator/memory.h"
#include "simulator/settings.h"

static _Atomic(calls_record *) newest;

const calls_record *calls_record_first(void) {
    return atomic_load_explicit(&newest, memory_order_acquire);
}

/** Counters of calls' inclusive costs, which Sonde gives out: one behind the other. */
static _Atomic sn_counter inclusive_first = UINT32_MAX, inclusive_end;

void calls_record_inclusive(sn_counter *first, sn_counter *end) {
    *end = inclusive_end;
    *first = *end == 0 ? 0 : inclusive_first;
}

static void note_inclusive(sn_counter counter) {
    inclusive_first = counter < inclusive_first ? counter : inclusive_first;
    inclusive_end = counter >= inclusive_end ? counter + 1 : inclusive_end;
}

/** Counters of what rarely happens lie apart from those that are added to all the time. */
static sn_counter new_cuts(unsigned count) {
    enum { CHUNK = 1 << 16 };
    static sn_counter next;
    static unsigned left;
    if (left < count) {
        next = sn_counter_new(CHUNK);
        left = CHUNK;
    }
    left -= count;
    next += count;
    return next - count;
}

/* ------------------------------------------------------------------ looking at a block */

static uint8_t shape_of(const sn_instruction *instruction) {
    static const uint8_t shapes[] = {
        [SN_KIND_CONDITIONAL] = CALLS_CONDITIONAL | CALLS_JUMP,
        [SN_KIND_JUMP] = CALLS_JUMP,
        [SN_KIND_CALL] = CALLS_CALL,
        [SN_KIND_JUMP_INDIRECT] = CALLS_LEAVES,
        [SN_KIND_RETURN] = CALLS_LEAVES,
        [SN_KIND_TRAP] = 0,
    };
    return shapes[instruction->kind] | (instruction->repeated ? CALLS_REPEATED : 0);
}

static unsigned counters_of(uint8_t shape) {
    bool counts_taken = (shape & (CALLS_CONDITIONAL | CALLS_GOES_BACK)) == CALLS_CONDITIONAL;
    return (shape & CALLS_SEGMENT ? 1 : 0) + (counts_taken ? 1 : 0) + (shape & CALLS_REPEATED ? 1 : 0);
}

/** The constant place in memory that a stub's jump reads. */
static uint64_t stub_memory_of(sn_block *block, unsigned size) {
    unsigned count = 0;
    const sn_operand *operands = size == 0 ? NULL : sn_block_operands(block, size - 1, &count);
    return count > 0 && operands[0].place == SN_PLACE_MEMORY ? (uint64_t)operands[0].displacement : 0;
}

static calls_record *look_at(sn_block *block) {
    unsigned count = sn_block_size(block);
    calls_record *record = malloc(sizeof *record + count * sizeof *record->instructions);
    if (record == NULL) {
        sn_fail(125, "calls: out of memory");
    }
    *record = (calls_record){.instruction_count = count, .cuts = new_cuts(count), .stub_size = sn_block_stub_size(block),
                             .reached_in = sn_block_reached_in(block)};
    for (unsigned index = 0; index < count; index++) {
        const sn_instruction *instruction = sn_block_instruction(block, index);
        bool goes_back = sn_branch_goes_back(block, index) && index + 1 < count;
        bool begins = sn_block_begins_function(block, index);
        bool is_first = index == 0 || begins || sn_branch_goes_back(block, index - 1);
        uint8_t shape = shape_of(instruction) | (is_first ? CALLS_SEGMENT : 0) | (goes_back ? CALLS_GOES_BACK : 0) |
                        (begins ? CALLS_BEGINS : 0);
        record->instructions[index] =
            (calls_instruction){.address = instruction->address, .target = instruction->target, .shape = shape};
        record->counter_count += counters_of(shape);
    }
    record->stub_memory = stub_memory_of(block, record->stub_size);
    record->counts_call = sn_call_counter(block, count - 1, &record->inclusive);
    if (record->counts_call) {
        note_inclusive(record->inclusive);
    }
    uint8_t end = (uint8_t)count;
    for (unsigned index = count; index-- > 0;) {
        record->instructions[index].segment_end = end;
        if (record->instructions[index].shape & CALLS_SEGMENT) {
            end = (uint8_t)index;
        }
    }
    return record;
}

/* -------------------------------------------------------------------------- counting */

/** Add a constant at the place that is chosen, if it is being collected. */
static void count(sn_block *block, sn_counter counter, int64_t amount) {
    sn_value value = sn_constant(block, (uint64_t)amount);
    if (calls_current.is_switchable) {
        value = sn_compute(block, SN_AND, sn_slot_load(block, calls_current.collecting), value);
    }
    sn_count(block, counter, value);
}

/** A block's counters, as long as one is worked on: which function they are in, if functions are separated. */
typedef struct counting {
    const calls_record *record;
    uint32_t function;
} counting;

/** Add to a counter of the block at the place that is chosen. */
static void count_own(sn_block *block, const counting *counting, sn_counter counter, sn_value amount) {
    if (!calls_separates()) {
        sn_count(block, counter, amount);
    } else if (counting->record->stub_size > 0) {
        calls_separate_count_apart(block, counter, amount);
    } else {
        calls_separate_count(block, counting->function, counter, amount);
    }
}

static void count_segment_apart(sn_block *block, counting *counting, unsigned index, sn_counter counter) {
    const calls_instruction *first = &counting->record->instructions[index];
    counting->function = calls_separate_function(first->address);
    sn_insert_before(block, index);
    calls_simulated_insert_word(block, counting->record->stub_size > 0
                                           ? calls_separate_enter_apart(block, counter)
                                           : calls_separate_enter(block, counting->function, counter));
    count(block, calls_current.total, first->segment_end - index);
}

static void count_segment(sn_block *block, const calls_record *record, unsigned index, sn_counter counter) {
    uint32_t size = record->instructions[index].segment_end - index;
    if (index == 0 && !calls_current.is_switchable && !sn_block_begins_function(block, index)) {
        sn_count_entry(block, counter, 1);
        sn_count_entry(block, calls_current.total, size);
        return;
    }
    sn_insert_before(block, index);
    count(block, counter, 1);
    count(block, calls_current.total, size);
}

static void count_taken(sn_block *block, const counting *counting, unsigned index, sn_counter counter) {
    unsigned left_out = counting->record->instructions[index].segment_end - index - 1;
    bool is_simple = !calls_current.is_switchable && !calls_separates();
    if (is_simple) {
        sn_count_taken(block, index, counter, 1);
    }
    if (!is_simple || left_out > 0) {
        sn_insert_taken(block, index);
    }
    if (calls_separates()) {
        count_own(block, counting, counter, sn_constant(block, 1));
    } else if (!is_simple) {
        count(block, counter, 1);
    }
    if (left_out > 0) {
        count(block, calls_current.total, -(int64_t)left_out);
    }
}

static sn_value steps_until_now(sn_block *block) {
    return sn_compute(block, SN_ADD, sn_counter_load(block, calls_current.iterations),
                      sn_counter_load(block, calls_current.iterations + 1));
}

/** A repeated instruction was counted as one; now its steps are known. */
static void count_steps(sn_block *block, const counting *counting, unsigned index, sn_counter counter) {
    sn_insert_before(block, index);
    sn_value before = steps_until_now(block);
    sn_count_iterations(block, index, calls_current.iterations, calls_current.iterations + 1);
    sn_insert_after(block, index);
    sn_value steps = sn_compute(block, SN_SUBTRACT, steps_until_now(block), before);
    if (calls_current.is_switchable) {
        steps = sn_compute(block, SN_AND, steps, sn_slot_load(block, calls_current.collecting));
    }
    count_own(block, counting, counter, steps);
    sn_count(block, calls_current.total, steps);
    count(block, calls_current.total, -1);
}

static void insert_counters(sn_block *block, const calls_record *record) {
    sn_counter counter = record->counters;
    counting counting = {.record = record};
    for (unsigned index = 0; index < record->instruction_count; index++) {
        uint8_t shape = record->instructions[index].shape;
        if (shape & CALLS_SEGMENT && calls_separates()) {
            count_segment_apart(block, &counting, index, counter++);
        } else if (shape & CALLS_SEGMENT) {
            count_segment(block, record, index, counter++);
        }
        if (shape & CALLS_CONDITIONAL && !(shape & CALLS_GOES_BACK)) {
            count_taken(block, &counting, index, counter++);
        }
        if (shape & CALLS_REPEATED) {
            count_steps(block, &counting, index, counter++);
        }
    }
}

/** The traces that are simulated. */
static void insert_traces(sn_block *block, calls_record *record) {
    if (!cache_current.simulates_caches && !cache_current.simulates_branches) {
        return;
    }
    record->simulated = cache_memory_new(record->instruction_count, sizeof *record->simulated);
    record->first_site = cache_trace_look(block, record->simulated);
    cache_trace_insert(block, record->first_site, record->simulated);
}

calls_record *calls_record_new(sn_block *block) {
    calls_record *record = look_at(block);
    record->counters = sn_counter_new(record->counter_count);
    if (calls_separates()) {
        insert_counters(block, record); /* contexts are told before what is done in them */
        insert_traces(block, record);
    } else {
        insert_traces(block, record);
        insert_counters(block, record);
    }
    record->next = atomic_load(&newest);
    atomic_store_explicit(&newest, record, memory_order_release);
    return record;
}

void calls_record_cut(sn_thread *thread, const calls_record *record, unsigned completed) {
    if (completed >= record->instruction_count || *sn_slot_of(thread, calls_current.collecting) == 0) {
        return;
    }
    const calls_instruction *cut = &record->instructions[completed];
    bool is_counted = !(cut->shape & CALLS_SEGMENT) || completed == 0;
    if (is_counted) {
        if (calls_separates()) {
            calls_separate_add(thread, record->cuts + completed, 1);
        } else {
            sn_counter_add(thread, record->cuts + completed, 1);
        }
        sn_counter_add(thread, calls_current.total, -(int64_t)(cut->segment_end - completed));
    }
}

/* ------------------------------------------------------------------------ evaluating */

void calls_record_walk(const calls_record *record, const uint64_t *values,
                       void (*visit)(const calls_executed *executed, void *data), void *data) {
    const uint64_t *value = values + record->counters;
    uint64_t passes = 0;
    for (unsigned index = 0; index < record->instruction_count; index++) {
        const calls_instruction *instruction = &record->instructions[index];
        if (instruction->shape & CALLS_SEGMENT) {
            passes = *value++;
        }
        passes -= values[record->cuts + index];
        calls_executed executed = {.instruction = instruction, .executions = passes, .steps = passes};
        if (instruction->shape & CALLS_GOES_BACK) {
            executed.taken = *value < passes ? passes - *value : 0;
        } else if (instruction->shape & CALLS_CONDITIONAL) {
            executed.taken = *value++;
        } else if (instruction->shape & CALLS_JUMP) {
            executed.taken = passes;
        }
        if (instruction->shape & CALLS_REPEATED) {
            executed.steps = *value++;
        }
        visit(&executed, data);
        if (instruction->shape & CALLS_CONDITIONAL) {
            passes -= executed.taken;
        }
    }
}
