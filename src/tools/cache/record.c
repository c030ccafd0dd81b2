/**
 * @fileoverview Makes the record of a block while it is instrumented, and evaluates its counters. See record.h.
 */
#include "record.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "event.h"
#include "filter.h"
#include "settings.h"
#include "sites.h"

static _Atomic(cache_record *) newest;

const cache_record *cache_record_first(void) {
    return atomic_load_explicit(&newest, memory_order_acquire);
}

/* ------------------------------------------------------------------ looking at a block */

static uint8_t shape_of(const sn_instruction *instruction) {
    static const uint8_t shapes[] = {
        [SN_KIND_CONDITIONAL] = CACHE_CONDITIONAL,
        [SN_KIND_JUMP_INDIRECT] = CACHE_INDIRECT,
        [SN_KIND_CALL_INDIRECT] = CACHE_INDIRECT,
        [SN_KIND_TRAP] = 0,
    };
    return shapes[instruction->kind] | (instruction->repeated ? CACHE_REPEATED : 0);
}

static cache_record *look_at(sn_block *block) {
    unsigned count = sn_block_size(block);
    cache_record *record = malloc(sizeof *record + count * sizeof *record->instructions);
    if (record == NULL) {
        sn_fail(125, "cache: out of memory");
    }
    *record = (cache_record){
        .first_site = cache_sites_new(count),
        .counter_count = 1,
        .instruction_count = count,
    };
    for (unsigned index = 0; index < count; index++) {
        const sn_instruction *instruction = sn_block_instruction(block, index);
        uint8_t shape = shape_of(instruction);
        record->instructions[index] =
            (cache_instruction){.address = instruction->address, .length = instruction->length, .shape = shape};
        record->counter_count += (shape & CACHE_CONDITIONAL ? 1 : 0) + (shape & CACHE_REPEATED ? 2 : 0);
        cache_site_set_address(record->first_site + index, instruction->address);
    }
    return record;
}

/* ------------------------------------------------------------------------- the trace */

/** Append an event; its address is a value of the block. */
static void append(sn_block *block, uint32_t site, unsigned kind, uint32_t size, sn_value address) {
    const sn_field fields[] = {
        {.offset = offsetof(cache_event, address), .size = 8, .value = address},
        {.offset = offsetof(cache_event, site), .size = 4, .value = sn_constant(block, site)},
        {.offset = offsetof(cache_event, kind), .size = 4, .value = sn_constant(block, kind | size << 16)},
    };
    sn_trace_append(block, cache_current.trace, sizeof fields / sizeof *fields, fields);
}

static bool is_access(const sn_operand *operand, unsigned role) {
    return operand->place == SN_PLACE_MEMORY && operand->size != 0 && operand->role != SN_ROLE_ADDRESS &&
           (operand->role & role) != 0;
}

/** The data reference before, if it is known that another with the same address expression would have the same address:
    then that one is a hit that changes nothing, as no other is between them. */
typedef struct last_reference {
    bool is_known;
    sn_operand operand;
} last_reference;

/** Whether all lines that a reference of that size may span are in sets of their own, and so none replaces another. */
static bool has_own_sets(uint32_t size) {
    const cache_geometry *geometry = &cache_current.geometries[CACHE_D1];
    return size <= geometry->line && cache_geometry_sets(geometry) >= 2;
}

static bool is_same_address(const last_reference *last, const sn_operand *operand) {
    const sn_operand *known = &last->operand;
    return last->is_known && operand->is_explicit && operand->base == known->base && operand->index == known->index &&
           operand->scale == known->scale && operand->segment == known->segment &&
           operand->displacement == known->displacement && operand->size <= known->size;
}

/** An instruction that writes a register of the address ends what is known. */
static void forget_if_changed(last_reference *last, const sn_operand *operands, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        bool is_written = operands[i].place == SN_PLACE_GENERAL && (operands[i].role & SN_ROLE_WRITTEN) != 0;
        if (is_written && (operands[i].reg == last->operand.base || operands[i].reg == last->operand.index)) {
            last->is_known = false;
        }
    }
    last->is_known &= count > 0; /* what the decoder does not know may write anything */
}

static void trace_reference(sn_block *block, uint32_t site, unsigned number, const sn_operand *operand,
                            cache_kind kind, last_reference *last) {
    if (!is_same_address(last, operand)) {
        sn_value address = sn_operand_address(block, number);
        sn_label is_known = cache_filter_insert(block, cache_current.data_slot, &cache_current.geometries[CACHE_D1],
                                                address, operand->size);
        append(block, site, kind, operand->size, address);
        sn_label_here(block, is_known);
        *last = (last_reference){.is_known = operand->is_explicit && has_own_sets(operand->size), .operand = *operand};
    }
}

/** First what is read, then what is only written: what is read and written is one reference, since its write can't miss. */
static void trace_references(cache_record *record, sn_block *block, unsigned index, last_reference *last) {
    unsigned count;
    const sn_operand *operands = sn_block_operands(block, index, &count);
    cache_instruction *instruction = &record->instructions[index];
    for (unsigned i = 0; i < count; i++) {
        if (is_access(&operands[i], SN_ROLE_READ)) {
            instruction->reads++;
            trace_reference(block, record->first_site + index, i, &operands[i], CACHE_READ, last);
        }
    }
    for (unsigned i = 0; i < count; i++) {
        if (is_access(&operands[i], SN_ROLE_WRITTEN) && !is_access(&operands[i], SN_ROLE_READ)) {
            instruction->writes++;
            trace_reference(block, record->first_site + index, i, &operands[i], CACHE_WRITE, last);
        }
    }
    forget_if_changed(last, operands, count);
}

/** Accesses that vary, as they happen: called in the thread that makes them. */
static void note_accesses(sn_thread *thread, const sn_access *accesses, size_t count, void *data) {
    uint64_t *filter = (uint64_t *)(uintptr_t)*sn_slot_of(thread, cache_current.data_slot);
    for (size_t i = 0; i < count; i++) {
        cache_event event = {
            .address = accesses[i].address,
            .site = (uint32_t)(uintptr_t)data,
            .kind = CACHE_EVENT_VARYING + (accesses[i].role == SN_ROLE_WRITTEN ? CACHE_WRITE : CACHE_READ),
            .size = (uint16_t)accesses[i].size,
        };
        cache_filter_use(filter, &cache_current.geometries[CACHE_D1], event.address, event.size);
        sn_trace_write(thread, cache_current.trace, &event);
    }
}

/** A fetch from the line where the one before it ended changes nothing in a cache, unless it reaches into another. */
static void trace_fetch(const cache_record *record, sn_block *block, unsigned index, uint64_t *last_line) {
    const cache_geometry *geometry = &cache_current.geometries[CACHE_I1];
    const cache_instruction *instruction = &record->instructions[index];
    uint64_t first = instruction->address / geometry->line;
    uint64_t last = (instruction->address + instruction->length - 1) / geometry->line;
    if (first == *last_line && last == *last_line) {
        return;
    }
    sn_label is_known = cache_filter_insert_lines(block, cache_current.code_slot, geometry, first, last,
                                                  first == *last_line);
    append(block, record->first_site + index, CACHE_FETCH, instruction->length,
           sn_constant(block, instruction->address));
    sn_label_here(block, is_known);
    *last_line = last;
}

/** The operand that an indirect branch reads its target from is the first explicit one. */
static void trace_target(const cache_record *record, sn_block *block, unsigned index) {
    unsigned count;
    const sn_operand *operands = sn_block_operands(block, index, &count);
    for (unsigned i = 0; i < count; i++) {
        if (operands[i].is_explicit && operands[i].size == 8 && sn_operand_is_readable(&operands[i])) {
            append(block, record->first_site + index, CACHE_EVENT_INDIRECT, 0, sn_operand_value(block, i));
            return;
        }
    }
}

static void trace_branch(const cache_record *record, sn_block *block, unsigned index) {
    sn_value address = sn_constant(block, record->instructions[index].address);
    sn_insert_taken(block, index);
    append(block, record->first_site + index, CACHE_EVENT_TAKEN, 0, address);
    sn_insert_after(block, index);
    append(block, record->first_site + index, CACHE_EVENT_NOT_TAKEN, 0, address);
}

static void insert_trace(cache_record *record, sn_block *block) {
    uint64_t last_line = UINT64_MAX;
    last_reference last = {0};
    for (unsigned index = 0; index < record->instruction_count; index++) {
        uint8_t shape = record->instructions[index].shape;
        sn_insert_before(block, index);
        if (cache_current.simulates_caches) {
            trace_fetch(record, block, index, &last_line);
            if (sn_block_instruction(block, index)->accesses_vary) {
                last.is_known = false;
                sn_insert_accesses(block, index, note_accesses, (void *)(uintptr_t)(record->first_site + index));
            } else {
                trace_references(record, block, index, &last);
            }
        }
        if (cache_current.simulates_branches && (shape & CACHE_INDIRECT) != 0) {
            trace_target(record, block, index);
        }
        if (cache_current.simulates_branches && (shape & CACHE_CONDITIONAL) != 0) {
            trace_branch(record, block, index);
        }
    }
}

/* ---------------------------------------------------------------- putting it together */

static void insert_counters(sn_block *block, const cache_record *record) {
    sn_counter counter = record->counters;
    sn_count_entry(block, counter++, 1);
    for (unsigned index = 0; index < record->instruction_count; index++) {
        if (record->instructions[index].shape & CACHE_CONDITIONAL) {
            sn_count_taken(block, index, counter++, 1);
        }
        if (record->instructions[index].shape & CACHE_REPEATED) {
            sn_count_iterations(block, index, counter, counter + 1);
            counter += 2;
        }
    }
}

cache_record *cache_record_new(sn_block *block) {
    cache_record *record = look_at(block);
    if (cache_current.trace != NULL) {
        insert_trace(record, block);
    }
    record->counters = sn_counter_new(record->counter_count);
    insert_counters(block, record);
    record->next = atomic_load(&newest);
    atomic_store_explicit(&newest, record, memory_order_release);
    return record;
}

/* ---------------------------------------------------------------------- evaluating */

void cache_record_walk(const cache_record *record, const uint64_t *values,
                       uint64_t (*cuts)(uint32_t site, void *data),
                       void (*visit)(const cache_executed *executed, void *data), void *data) {
    uint64_t passes = *values++;
    for (unsigned index = 0; index < record->instruction_count; index++) {
        uint8_t shape = record->instructions[index].shape;
        passes -= cuts(record->first_site + index, data);
        cache_executed executed = {.record = record, .index = index, .executions = passes, .steps = passes};
        if (shape & CACHE_REPEATED) {
            executed.steps = values[0] + values[1];
            values += 2;
        }
        visit(&executed, data);
        if (shape & CACHE_CONDITIONAL) {
            passes -= *values++;
        }
    }
}
