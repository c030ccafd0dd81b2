/**
 * @fileoverview The functions of sonde/tool.h that insert analysis code: see analysis.h.
 */
#include "jit/analysis.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "jit/access_recorder.h"
#include "jit/insert.h"
#include "jit/thread.h"
#include "jit/trace.h"

void sn_analysis_reset(sn_analysis *analysis) {
    if (analysis->operation_count > 1) memset(analysis->places, 0, sizeof analysis->places);
    analysis->operation_count = 1;
    analysis->value_count = analysis->operand_count = analysis->label_count = 0;
    analysis->home_count = analysis->sequence_count = 0;
    analysis->index = 0;
    analysis->when = SN_WHEN_BEFORE;
    analysis->variants = SN_VARIANT_BOTH;
    analysis->has_clean = false;
}

void sn_insert_in(sn_block *block, unsigned variants) { block->analysis.variants = (uint8_t)variants; }

_Noreturn static void too_much(const char *what) {
    sn_fail(SN_STATUS_ENGINE, "the tool inserts too many %s into one block", what);
}

static sn_operation *add(sn_block *block, sn_operation_kind kind) {
    sn_analysis *analysis = &block->analysis;
    if (analysis->operation_count == SN_MOST_OPERATIONS) too_much("operations");
    uint16_t number = (uint16_t)analysis->operation_count++;
    sn_place_list *place = &analysis->places[analysis->index][analysis->when];
    sn_operation *operation = &analysis->operations[number];
    *operation = (sn_operation){.kind = (uint8_t)kind, .when = analysis->when, .index = analysis->index,
                                .variants = analysis->variants, .result = SN_NO_VALUE, .a = SN_NO_VALUE, .b = SN_NO_VALUE};
    if (place->last) analysis->operations[place->last].next = number;
    else place->first = number;
    place->last = number;
    block->instrumented = true;
    return operation;
}

static sn_value new_value(sn_block *block) {
    sn_analysis *analysis = &block->analysis;
    if (analysis->value_count == SN_MOST_VALUES) too_much("values");
    analysis->values[analysis->value_count] = (sn_register_record){0};
    return analysis->value_count++;
}

static sn_value with_result(sn_block *block, sn_operation *operation) { return operation->result = new_value(block); }

static void choose(sn_block *block, unsigned index, sn_when when) {
    if (index >= block->count)
        sn_fail(SN_STATUS_ENGINE, "the tool inserts code at instruction %u of %u", index, block->count);
    block->analysis.index = (uint8_t)index;
    block->analysis.when = (uint8_t)when;
}

void sn_insert_before(sn_block *block, unsigned index) { choose(block, index, SN_WHEN_BEFORE); }

void sn_insert_after(sn_block *block, unsigned index) {
    choose(block, index, SN_WHEN_AFTER);
    if (!sn_falls_through(&block->insns[index]))
        sn_fail(SN_STATUS_ENGINE, "the tool inserts code behind an instruction that never goes on to the next one");
}

void sn_insert_taken(sn_block *block, unsigned index) {
    choose(block, index, SN_WHEN_TAKEN);
    if (block->views[index].kind != SN_KIND_CONDITIONAL)
        sn_fail(SN_STATUS_ENGINE, "the tool inserts code on the taken way of what is no conditional branch");
}

sn_value sn_constant(sn_block *block, uint64_t constant) {
    sn_value value = new_value(block);
    block->analysis.values[value].is_constant = true;
    block->analysis.values[value].constant = constant;
    return value;
}

sn_value sn_current_thread(sn_block *block) { return with_result(block, add(block, SN_OPERATION_THREAD)); }

static uint32_t add_operand(sn_block *block, const sn_operand *operand) {
    sn_analysis *analysis = &block->analysis;
    if (analysis->operand_count == SN_MOST_INSERTED_OPERANDS) too_much("operands");
    analysis->operands[analysis->operand_count] = *operand;
    return analysis->operand_count++;
}

/** A copy of an operand of the instruction at the chosen place; its number among the inserted ones. */
static uint32_t take_operand(sn_block *block, unsigned number) {
    unsigned count;
    const sn_operand *operands = sn_block_operands(block, block->analysis.index, &count);
    if (number >= count)
        sn_fail(SN_STATUS_ENGINE, "the tool asks for operand %u of an instruction that has %u", number, count);
    return add_operand(block, &operands[number]);
}

sn_value sn_operand_address(sn_block *block, unsigned operand) {
    uint32_t number = take_operand(block, operand);
    if (block->analysis.operands[number].place != SN_PLACE_MEMORY)
        sn_fail(SN_STATUS_ENGINE, "the tool asks for the address of an operand that is not in memory");
    sn_operation *operation = add(block, SN_OPERATION_ADDRESS);
    operation->number = number;
    return with_result(block, operation);
}

bool sn_operand_is_readable(const sn_operand *operand) {
    bool somewhere = operand->place == SN_PLACE_GENERAL || operand->place == SN_PLACE_VECTOR ||
                     operand->place == SN_PLACE_MASK || operand->place == SN_PLACE_IMMEDIATE ||
                     (operand->place == SN_PLACE_MEMORY && operand->role != SN_ROLE_ADDRESS && !operand->is_conditional);
    bool has_form = operand->place != SN_PLACE_VECTOR || !(operand->size & (operand->size - 1));
    return somewhere && has_form && operand->size > 0 && operand->size <= 64;
}

static uint32_t take_readable(sn_block *block, unsigned operand) {
    uint32_t number = take_operand(block, operand);
    if (!sn_operand_is_readable(&block->analysis.operands[number]))
        sn_fail(SN_STATUS_ENGINE, "the tool asks for the value of an operand that has none (sn_operand_is_readable)");
    return number;
}

sn_value sn_operand_value(sn_block *block, unsigned operand) {
    uint32_t number = take_readable(block, operand);
    const sn_operand *taken = &block->analysis.operands[number];
    if (taken->place == SN_PLACE_IMMEDIATE) {
        block->analysis.operand_count--;
        uint64_t mask = taken->size < 8 ? (UINT64_C(1) << 8 * taken->size) - 1 : UINT64_MAX;
        return sn_constant(block, (uint64_t)taken->immediate & mask);
    }
    if (taken->size > 8 || taken->place == SN_PLACE_VECTOR)
        sn_fail(SN_STATUS_ENGINE, "the tool asks for the value of a wide operand: sn_operand_copy() is for these");
    sn_operation *operation = add(block, SN_OPERATION_VALUE);
    operation->number = number;
    return with_result(block, operation);
}

sn_value sn_stack_top(sn_block *block) {
    sn_operand operand = {.role = SN_ROLE_ADDRESS, .place = SN_PLACE_MEMORY, .base = sn_stack_pointer_register,
                          .index = SN_NO_REGISTER, .scale = 1, .size = 8, .element_size = 8, .element_count = 1};
    sn_operation *operation = add(block, SN_OPERATION_ADDRESS);
    operation->number = add_operand(block, &operand);
    return with_result(block, operation);
}

sn_value sn_stack_pointer(sn_block *block) { return sn_register_value(block, sn_stack_pointer_register); }

sn_value sn_register_value(sn_block *block, uint8_t reg) {
    sn_operand operand = {.role = SN_ROLE_READ, .place = SN_PLACE_GENERAL, .reg = reg, .size = 8,
                          .element_size = 8, .element_count = 1, .base = SN_NO_REGISTER, .index = SN_NO_REGISTER};
    uint32_t number = add_operand(block, &operand);
    sn_operation *operation = add(block, SN_OPERATION_VALUE);
    operation->number = number;
    return with_result(block, operation);
}

static uint8_t checked_size(unsigned size) {
    if (size != 1 && size != 2 && size != 4 && size != 8)
        sn_fail(SN_STATUS_ENGINE, "the tool loads or stores %u bytes at once", size);
    return (uint8_t)size;
}

sn_value sn_operand_piece(sn_block *block, unsigned operand, unsigned offset, unsigned size) {
    uint32_t number = take_readable(block, operand);
    sn_operand *taken = &block->analysis.operands[number];
    if (taken->place != SN_PLACE_MEMORY || offset + checked_size(size) > taken->size)
        sn_fail(SN_STATUS_ENGINE, "a piece is asked for of an operand that has none there");
    taken->displacement += offset;
    taken->size = size;
    taken->element_size = (uint16_t)size;
    taken->element_count = 1;
    sn_operation *operation = add(block, SN_OPERATION_VALUE);
    operation->number = number;
    return with_result(block, operation);
}

void sn_operand_copy(sn_block *block, unsigned operand, sn_value address, int32_t offset) {
    uint32_t number = take_readable(block, operand);
    sn_operation *operation = add(block, SN_OPERATION_COPY);
    operation->number = number;
    operation->a = address;
    operation->offset = offset;
}

sn_value sn_load(sn_block *block, sn_value address, int32_t offset, unsigned size) {
    sn_operation *operation = add(block, SN_OPERATION_LOAD);
    operation->a = address;
    operation->offset = offset;
    operation->size = checked_size(size);
    return with_result(block, operation);
}

sn_value sn_load_bravely(sn_block *block, sn_value address, int32_t offset, unsigned size) {
    sn_value result = sn_load(block, address, offset, size);
    sn_analysis *analysis = &block->analysis;
    analysis->operations[analysis->operation_count - 1].what = analysis->when == SN_WHEN_BEFORE;
    return result;
}

void sn_store(sn_block *block, sn_value address, int32_t offset, sn_value value, unsigned size) {
    sn_operation *operation = add(block, SN_OPERATION_STORE);
    operation->a = address;
    operation->b = value;
    operation->offset = offset;
    operation->size = checked_size(size);
}

void sn_store_bravely(sn_block *block, sn_value address, int32_t offset, sn_value value, unsigned size) {
    sn_store(block, address, offset, value, size);
    sn_analysis *analysis = &block->analysis;
    analysis->operations[analysis->operation_count - 1].what = true;
}

sn_value sn_compute(sn_block *block, sn_operator operator, sn_value a, sn_value b) {
    sn_operation *operation = add(block, SN_OPERATION_COMPUTE);
    operation->what = (uint16_t)operator;
    operation->a = a;
    operation->b = b;
    return with_result(block, operation);
}

void sn_assign(sn_block *block, sn_value to, sn_value from) {
    if (block->analysis.values[to].is_constant) sn_fail(SN_STATUS_ENGINE, "the tool assigns to a constant");
    sn_operation *operation = add(block, SN_OPERATION_ASSIGN);
    operation->a = from;
    operation->result = to;
    block->analysis.values[to].assigned = true;
}

sn_label sn_label_new(sn_block *block) {
    if (block->analysis.label_count == SN_MOST_LABELS) too_much("labels");
    block->analysis.labels[block->analysis.label_count] = (sn_label_record){0};
    return block->analysis.label_count++;
}

void sn_branch_if(sn_block *block, sn_condition condition, sn_value a, sn_value b, sn_label label) {
    sn_operation *operation = add(block, SN_OPERATION_BRANCH);
    operation->what = (uint16_t)condition;
    operation->a = a;
    operation->b = b;
    operation->number = label;
}

sn_label sn_label_entered(sn_block *block) {
    sn_label label = sn_label_new(block);
    block->analysis.labels[label].is_entered = true;
    sn_operation *operation = add(block, SN_OPERATION_LABEL);
    operation->number = label;
    operation->variants = SN_VARIANT_FULL;
    return label;
}

void sn_leave_if_bits(sn_block *block, uint32_t offset, uint64_t bits, sn_label label, void *function, uint64_t data) {
    sn_value mask = sn_constant(block, bits);
    sn_operation *operation = add(block, SN_OPERATION_ASK);
    operation->function = data ? function : NULL;
    operation->data = (void *)(uintptr_t)data;
    operation->offset = (int32_t)offset;
    operation->b = mask;
    operation->number = label;
    block->analysis.labels[label].is_used = true;
}

void sn_leave_if(sn_block *block, sn_value value, sn_label label) {
    sn_branch_if(block, SN_NOT_EQUAL, value, sn_constant(block, 0), label);
    block->analysis.labels[label].is_used = true;
}

static sn_operation *add_probe(sn_block *block, unsigned operand, uint64_t base, unsigned size) {
    sn_value constant = sn_constant(block, base);
    uint32_t number = take_operand(block, operand);
    sn_operation *operation = add(block, SN_OPERATION_PROBE);
    operation->number = number;
    operation->size = (uint8_t)size;
    operation->b = constant;
    return operation;
}

void sn_leave_if_shadow(sn_block *block, unsigned operand, uint64_t base, unsigned size, sn_label label) {
    add_probe(block, operand, base, size)->what = (uint16_t)label;
    block->analysis.labels[label].is_used = true;
}

void sn_call_if_shadow(sn_block *block, unsigned operand, uint64_t base, unsigned size, void *function, uint64_t data) {
    sn_operation *operation = add_probe(block, operand, base, size);
    operation->function = function;
    operation->data = (void *)(uintptr_t)data;
}

void sn_label_here(sn_block *block, sn_label label) { add(block, SN_OPERATION_LABEL)->number = label; }

static sn_slot slots_used;

sn_slot sn_slot_new(void) {
    if (slots_used == SN_THREAD_SLOT_COUNT)
        sn_fail(SN_STATUS_ENGINE, "the tool uses more than %d slots", SN_THREAD_SLOT_COUNT);
    return slots_used++;
}

sn_value sn_slot_load(sn_block *block, sn_slot slot) {
    sn_operation *operation = add(block, SN_OPERATION_SLOT_LOAD);
    operation->number = slot;
    return with_result(block, operation);
}

void sn_slot_store(sn_block *block, sn_slot slot, sn_value value) {
    sn_operation *operation = add(block, SN_OPERATION_SLOT_STORE);
    operation->number = slot;
    operation->a = value;
}

SN_FAST uint64_t *sn_slot_of(sn_thread *thread, sn_slot slot) { return &thread->slots[slot]; }

sn_value sn_own_load(sn_block *block, uint32_t offset, unsigned size) {
    sn_operation *operation = add(block, SN_OPERATION_OWN_LOAD);
    operation->number = offset;
    operation->size = checked_size(size);
    return with_result(block, operation);
}

void sn_own_store(sn_block *block, uint32_t offset, sn_value value, unsigned size) {
    sn_operation *operation = add(block, SN_OPERATION_OWN_STORE);
    operation->number = offset;
    operation->size = checked_size(size);
    operation->a = value;
}

sn_value sn_counter_load(sn_block *block, sn_counter counter) {
    sn_operation *operation = add(block, SN_OPERATION_COUNTER);
    operation->number = counter;
    return with_result(block, operation);
}

void sn_count(sn_block *block, sn_counter counter, sn_value amount) {
    sn_operation *operation = add(block, SN_OPERATION_COUNT);
    operation->number = counter;
    operation->a = amount;
}

void sn_count_indexed(sn_block *block, sn_counter first, sn_value index, sn_value amount) {
    sn_operation *operation = add(block, SN_OPERATION_COUNT_INDEXED);
    operation->number = first;
    operation->a = amount;
    operation->b = index;
}

static void add_arguments(sn_block *block, unsigned count, const sn_value *arguments) {
    if (count > SN_MOST_CALL_ARGUMENTS) sn_fail(SN_STATUS_ENGINE, "the tool calls a function with %u arguments", count);
    for (unsigned i = 0; i < count; i++) {
        sn_operation *operation = add(block, SN_OPERATION_ARGUMENT);
        operation->number = i;
        operation->a = arguments[i];
    }
}

void sn_call(sn_block *block, void *function, unsigned count, const sn_value *arguments) {
    add_arguments(block, count, arguments);
    sn_operation *operation = add(block, SN_OPERATION_CALL);
    operation->function = function;
    operation->what = (uint16_t)count;
}

sn_value sn_call_fast(sn_block *block, void *function, unsigned count, const sn_value *arguments) {
    add_arguments(block, count, arguments);
    sn_operation *operation = add(block, SN_OPERATION_CALL_FAST);
    operation->function = function;
    operation->what = (uint16_t)count;
    return with_result(block, operation);
}

void sn_call_fast_if(sn_block *block, sn_condition condition, sn_value a, sn_value b, void *function, uint64_t data) {
    sn_operation *operation = add(block, SN_OPERATION_CALL_IF);
    operation->what = (uint16_t)condition;
    operation->a = a;
    operation->b = b;
    operation->function = function;
    operation->data = (void *)(uintptr_t)data;
}

void sn_insert_at_entry(sn_block *block) { choose(block, 0, SN_WHEN_ENTERED); }

void sn_insert_check(sn_block *block, sn_value base, int32_t offset, sn_value expected, int32_t more,
                     sn_checked_function *function, uint64_t data) {
    sn_operation *operation = add(block, SN_OPERATION_CHECK);
    operation->a = base;
    operation->b = expected;
    operation->offset = offset;
    operation->number = (uint32_t)more;
    operation->function = (void *)function;
    operation->data = (void *)(uintptr_t)data;
    block->analysis.values[base].assigned = true;
}

void sn_call_before(sn_block *block, unsigned index, void (*function)(sn_thread *thread, void *data), void *data) {
    sn_insert_before(block, index);
    sn_value arguments[2] = {sn_current_thread(block), sn_constant(block, (uint64_t)(uintptr_t)data)};
    sn_call(block, (void *)function, 2, arguments);
}

/** The enumeration leaves the cache for function(thread, accesses, count, data). */
static void add_enumeration(sn_block *block, void *function, void *data) {
    sn_operation *operation = add(block, SN_OPERATION_ACCESSES);
    operation->function = function;
    operation->data = data;
}

void sn_insert_accesses(sn_block *block, unsigned index, sn_accesses_function *function, void *data) {
    uint8_t old_index = block->analysis.index, old_when = block->analysis.when;
    sn_insert_before(block, index);
    add_enumeration(block, (void *)function, data);
    if (block->insns[index].repeated) {
        /* What was noted before is told when the number of repetitions is known. */
        sn_insert_after(block, index);
        add_enumeration(block, (void *)function, data);
    }
    block->analysis.index = old_index;
    block->analysis.when = old_when;
}

void sn_trace_append(sn_block *block, sn_trace *trace, unsigned count, const sn_field *fields) {
    sn_trace_append_several(block, trace, 1, count, fields);
}

/** Where the buffer ends between two of the records, those before are handed out, and the store that faulted goes to the new
    buffer: so they must be stored in order. */
void sn_trace_append_several(sn_block *block, sn_trace *trace, unsigned records, unsigned count, const sn_field *fields) {
    unsigned size = records * sn_trace_record_size(trace);
    for (unsigned i = 0; i < count; i++) {
        const sn_field *field = &fields[i];
        sn_operation_kind kind = field->copies_operand ? SN_OPERATION_FIELD_COPY : SN_OPERATION_FIELD;
        uint32_t operand = field->copies_operand ? take_readable(block, field->value) : 0;
        unsigned width = field->copies_operand ? block->analysis.operands[operand].size : checked_size(field->size);
        if (field->offset + width > size)
            sn_fail(SN_STATUS_ENGINE, "the tool's field does not fit into its trace's record");
        sn_operation *operation = add(block, kind);
        operation->number = sn_trace_number(trace);
        operation->offset = field->offset;
        operation->size = (uint8_t)width;
        if (field->copies_operand) operation->what = (uint16_t)operand;
        else operation->a = field->value;
    }
    sn_operation *operation = add(block, SN_OPERATION_APPENDED);
    operation->number = sn_trace_number(trace);
    operation->size = (uint8_t)size;
}

/** What an operand that is an input of a shape stands for. */
sn_value sn_input_value(sn_block *block, const sn_operand *operand) {
    bool in_memory = operand->place == SN_PLACE_MEMORY;
    uint32_t number = add_operand(block, operand);
    sn_operation *operation = add(block, in_memory ? SN_OPERATION_ADDRESS : SN_OPERATION_VALUE);
    operation->number = number;
    return with_result(block, operation);
}

/** The fast function at the chosen place, and the enumeration if there is too little room. */
static void add_recording(sn_block *block, const sn_access_recorder *recorder, const sn_operand *inputs, unsigned count) {
    sn_value arguments[SN_MOST_CALL_ARGUMENTS] = {sn_current_thread(block),
                                                  sn_constant(block, (uint64_t)(uintptr_t)recorder)};
    for (unsigned i = 0; i < count; i++) arguments[2 + i] = sn_input_value(block, &inputs[i]);
    void *function = sn_access_recorder_function(recorder->shape.kind);
    sn_label done = sn_label_new(block);
    sn_value no_room = sn_call_fast(block, function, 2 + count, arguments);
    sn_branch_if(block, SN_EQUAL, no_room, sn_constant(block, false), done);
    add_enumeration(block, (void *)sn_access_recorder_take, (void *)recorder);
    sn_label_here(block, done);
}

static void add_repeated_recording(sn_block *block, unsigned index, const sn_access_recorder *recorder,
                                   const sn_operand *inputs) {
    sn_value arguments[SN_MOST_CALL_ARGUMENTS] = {sn_current_thread(block),
                                                  sn_constant(block, (uint64_t)(uintptr_t)recorder),
                                                  sn_constant(block, block->insns[index].pc)};
    for (unsigned i = 0; i < 3; i++) arguments[3 + i] = sn_input_value(block, &inputs[i]);
    sn_call_fast(block, (void *)sn_access_recorder_begin, 6, arguments);
    sn_insert_after(block, index);
    add_recording(block, recorder, inputs, 1);
}

void sn_trace_append_accesses(sn_block *block, unsigned index, sn_trace *trace, unsigned records, unsigned count,
                              const sn_access_field *fields) {
    uint8_t old_index = block->analysis.index, old_when = block->analysis.when;
    sn_access_shape shape;
    sn_operand inputs[3];
    sn_insert_before(block, index);
    sn_access_shape_of(&block->insns[index], &shape, inputs);
    const sn_access_recorder *recorder = sn_access_recorder_of(&shape, trace, records, count, fields);
    switch ((sn_access_shape_kind)shape.kind) {
    case SN_SHAPE_NONE: sn_insert_accesses(block, index, sn_access_recorder_take, (void *)recorder); break;
    case SN_SHAPE_REPEATED: add_repeated_recording(block, index, recorder, inputs); break;
    default: add_recording(block, recorder, inputs, shape.input_count);
    }
    block->analysis.index = old_index;
    block->analysis.when = old_when;
}

/* ------------------------------------------------------------------ sequences */

unsigned sn_operation_uses(const sn_operation *operation, sn_value used[2]) {
    unsigned count = 0;
    if (operation->a != SN_NO_VALUE) used[count++] = operation->a;
    if (operation->b != SN_NO_VALUE) used[count++] = operation->b;
    return count;
}

bool sn_operation_sets(const sn_operation *operation) { return operation->result != SN_NO_VALUE; }

static bool leaves_cache(const sn_operation *operation) {
    return operation->kind == SN_OPERATION_CALL || operation->kind == SN_OPERATION_ACCESSES;
}

bool sn_analysis_leaves(const sn_analysis *analysis, const sn_place_list *place) {
    for (unsigned at = place->first; at; at = analysis->operations[at].next)
        if (leaves_cache(&analysis->operations[at])) return true;
    return false;
}

static void number_sequences(sn_analysis *analysis, const sn_place_list *place) {
    bool cut = sn_analysis_leaves(analysis, place); /* then each of its labels begins a sequence */
    unsigned sequence = ++analysis->sequence_count;
    for (unsigned at = place->first; at; at = analysis->operations[at].next) {
        sn_operation *operation = &analysis->operations[at];
        bool is_label = operation->kind == SN_OPERATION_LABEL;
        sn_label_record *label = is_label ? &analysis->labels[operation->number] : NULL;
        if (is_label && label->is_entered && !label->is_used) operation->variants = 0;
        if (!operation->variants) continue;
        bool begins = is_label && (cut || label->is_entered);
        if (begins) sequence = ++analysis->sequence_count;
        operation->sequence = (uint16_t)sequence;
        if (is_label) {
            label->sequence = (uint16_t)sequence;
            label->from_elsewhere = begins;
        }
        if (leaves_cache(operation)) sequence = ++analysis->sequence_count;
    }
}

static void note_value(sn_analysis *analysis, sn_value value, unsigned sequence) {
    sn_register_record *record = &analysis->values[value];
    if (record->is_constant) return;
    if (!record->sequence) record->sequence = (uint16_t)sequence;
    if (record->sequence == sequence || record->crosses) return;
    if (analysis->home_count == SN_THREAD_VALUE_COUNT) too_much("values that are used at several places");
    record->crosses = true;
    record->home = (uint16_t)analysis->home_count++;
}

void sn_analysis_cut(sn_analysis *analysis) {
    for (unsigned index = 0; index < 64; index++)
        for (unsigned when = 0; when < SN_WHENS; when++)
            if (analysis->places[index][when].first) number_sequences(analysis, &analysis->places[index][when]);
    for (unsigned at = 1; at < analysis->operation_count; at++) {
        const sn_operation *operation = &analysis->operations[at];
        sn_value used[2];
        if (!operation->variants) continue;
        if (sn_operation_sets(operation)) note_value(analysis, operation->result, operation->sequence);
        unsigned count = sn_operation_uses(operation, used);
        for (unsigned i = 0; i < count; i++) note_value(analysis, used[i], operation->sequence);
    }
}

/* ------------------------------------------------------------------------ text */

static const char *const kind_names[] = {
    [SN_OPERATION_THREAD] = "thread", [SN_OPERATION_ADDRESS] = "address", [SN_OPERATION_VALUE] = "value",
    [SN_OPERATION_COPY] = "copy", [SN_OPERATION_LOAD] = "load", [SN_OPERATION_STORE] = "store",
    [SN_OPERATION_COMPUTE] = "compute", [SN_OPERATION_ASSIGN] = "assign", [SN_OPERATION_BRANCH] = "branch",
    [SN_OPERATION_CALL_IF] = "fast call if", [SN_OPERATION_CHECK] = "check",
    [SN_OPERATION_LABEL] = "label", [SN_OPERATION_SLOT_LOAD] = "slot load", [SN_OPERATION_SLOT_STORE] = "slot store",
    [SN_OPERATION_OWN_LOAD] = "own load", [SN_OPERATION_OWN_STORE] = "own store", [SN_OPERATION_COUNTER] = "counter",
    [SN_OPERATION_COUNT] = "count", [SN_OPERATION_COUNT_INDEXED] = "count indexed", [SN_OPERATION_ARGUMENT] = "argument", [SN_OPERATION_CALL] = "call",
    [SN_OPERATION_ACCESSES] = "accesses", [SN_OPERATION_CALL_FAST] = "fast call", [SN_OPERATION_FIELD] = "field",
    [SN_OPERATION_ASK] = "ask", [SN_OPERATION_PROBE] = "probe", [SN_OPERATION_FIELD_COPY] = "field copy", [SN_OPERATION_APPENDED] = "appended",
};

/** "v3" or "#17" */
static const char *value_text(const sn_analysis *analysis, sn_value value, char text[32]) {
    if (value == SN_NO_VALUE) return "";
    if (analysis->values[value].is_constant) snprintf(text, 32, " #%" PRIx64, analysis->values[value].constant);
    else snprintf(text, 32, " v%u", value);
    return text;
}

const char *sn_operation_text(const sn_analysis *analysis, const sn_operation *operation, char *buffer, size_t size) {
    static const char *const when_names[] = {"before", "after", "taken", "entered"};
    char result[32], a[32], b[32];
    static const char *const variant_names[] = {"unused ", "full ", "clean ", ""};
    snprintf(buffer, size, "%s%s %u: %s%s%s%s%s, number %u, size %u, offset %d", variant_names[operation->variants], when_names[operation->when],
             operation->index, value_text(analysis, operation->result, result), sn_operation_sets(operation) ? " = " : "",
             kind_names[operation->kind], value_text(analysis, operation->a, a), value_text(analysis, operation->b, b),
             operation->number, operation->size, operation->offset);
    return buffer;
}
