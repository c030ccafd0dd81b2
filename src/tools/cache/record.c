/**
 * @fileoverview Makes the record of a block while it is instrumented, and evaluates what was counted. See record.h.
 */
#include "record.h"

#include <stdatomic.h>

#include "simulator/memory.h"
#include "simulator/settings.h"

static _Atomic(cache_record *) newest;

const cache_record *cache_record_first(void) {
    return atomic_load_explicit(&newest, memory_order_acquire);
}

/* ------------------------------------------------------------------ looking at a block */

/** Whether a conditional branch has a counter: what is behind it has no count of its own. */
static bool counts_branch(uint8_t shape) {
    return (shape & CACHE_CONDITIONAL) != 0 && (!cache_current.simulates_caches || (shape & CACHE_SEGMENT_GOES_ON) != 0);
}

static uint32_t counters_of(uint8_t shape) {
    return (counts_branch(shape) ? 1 : 0) + (shape & CACHE_REPEATED ? 2 : 0);
}

static cache_record *look_at(sn_block *block) {
    unsigned count = sn_block_size(block);
    cache_record *record = cache_memory_new(1, sizeof *record + count * sizeof *record->instructions);
    *record = (cache_record){.instruction_count = count};
    record->first_site = cache_trace_look(block, record->instructions);
    return record;
}

/* ---------------------------------------------------------------- putting it together */

static uint32_t count_counters(const cache_record *record) {
    uint32_t count = cache_current.simulates_caches ? 0 : 1;
    for (unsigned index = 0; index < record->instruction_count; index++) {
        count += counters_of(record->instructions[index].shape);
    }
    return count;
}

static void insert_counters(sn_block *block, const cache_record *record) {
    sn_counter counter = record->counters;
    if (!cache_current.simulates_caches) {
        sn_count_entry(block, counter++, 1);
    }
    for (unsigned index = 0; index < record->instruction_count; index++) {
        if (counts_branch(record->instructions[index].shape)) {
            sn_count_rarer(block, index, counter++);
        }
        if ((record->instructions[index].shape & CACHE_REPEATED) != 0) {
            sn_count_iterations(block, index, counter, counter + 1);
            counter += 2;
        }
    }
}

cache_record *cache_record_new(sn_block *block) {
    cache_record *record = look_at(block);
    cache_trace_insert(block, record->first_site, record->instructions);
    record->counter_count = count_counters(record);
    if (record->counter_count > 0) {
        record->counters = sn_counter_new(record->counter_count);
        insert_counters(block, record);
    }
    record->next = atomic_load(&newest);
    atomic_store_explicit(&newest, record, memory_order_release);
    return record;
}

/* ---------------------------------------------------------------------- evaluating */

void cache_record_walk(const cache_record *record, const uint64_t *values, const cache_tally *tally,
                       uint64_t (*cuts)(uint32_t site, void *data),
                       void (*visit)(const cache_executed *executed, void *data), void *data) {
    bool has_segments = cache_current.simulates_caches;
    uint64_t passes = has_segments ? 0 : *values++;
    uint32_t segment = 0;
    for (unsigned index = 0; index < record->instruction_count; index++) {
        const cache_instruction *instruction = &record->instructions[index];
        if (instruction->segment != segment) {
            segment = instruction->segment;
            passes = cache_tally_of(tally, segment);
        }
        passes -= cuts(record->first_site + index, data);
        cache_executed executed = {.record = record, .index = index, .executions = passes, .steps = passes};
        if (instruction->shape & CACHE_REPEATED) {
            executed.steps = values[0] + values[1];
            values += 2;
        }
        visit(&executed, data);
        if (counts_branch(instruction->shape)) {
            uint64_t rarer = *values++;
            rarer = rarer < passes ? rarer : passes; /* of a thread that runs, what is traced is counted later */
            passes = instruction->shape & CACHE_GOES_BACK ? rarer : passes - rarer;
        }
    }
}
