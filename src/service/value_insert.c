/**
 * @fileoverview Puts the recording of operands' values into blocks. See values.h.
 *
 * The program counter is a constant, or what an indirect branch reads its target from. Where values are wanted, those of registers
 * that inserted code does not read are left to value_state.c.
 *
 * All values of a record are in virtual registers, or in the thread's scratch memory, before its first word is appended:
 * reading an operand may fault in the client's name, and then nothing must have been appended.
 */
#include "base/log.h"
#include "guest/state_register.h"
#include "jit/analysis.h"
#include "sonde/value_objects.h"
#include "service/values.h"

sn_values_setup sn_values;

/** A block being instrumented. */
typedef struct value_draft {
    sn_block *block;
    sn_value_segment *segment; /**< NULL until it has a record */
    unsigned index;            /**< of the instruction */
    const sn_instruction *instruction;
} value_draft;

/** The most pieces of 8 bytes that go through virtual registers. */
enum { MOST_PIECES = 4 };

/* ------------------------------------------------------------------------ words */

static void append(value_draft *draft, sn_value word) {
    sn_trace_append(draft->block, sn_values.trace, 1, &(sn_field){.offset = 0, .size = 8, .value = word});
}

/** At the chosen place, which is in front of the segment's first record. */
static void begin_segment(value_draft *draft) {
    if (draft->segment) return;
    draft->segment = sn_value_segment_new();
    append(draft, sn_constant(draft->block, SN_VALUES_TAGS + draft->segment->number));
    if (sn_values.has_context) append(draft, sn_current_context(draft->block));
}

/** Behind the segment's last record until now, the stream may go on with something else. */
static void may_end(const value_draft *draft) {
    if (draft->segment) sn_value_segment_may_end(draft->segment);
}

/** Load `size` bytes (1 to 8) of tool memory, or of client memory that has just been accessed. */
static sn_value load_word(sn_block *block, sn_value address, int32_t offset, unsigned size) {
    if (!(size & (size - 1))) return sn_load(block, address, offset, size);
    unsigned low = size > 4 ? 4 : 2; /* 3, 5, 6 or 7 bytes */
    sn_value high = load_word(block, address, offset + (int32_t)low, size - low);
    sn_value moved = sn_compute(block, SN_SHIFT_LEFT, high, sn_constant(block, 8 * low));
    return sn_compute(block, SN_OR, sn_load(block, address, offset, low), moved);
}

/** The same of an operand in memory, which may fault. */
static sn_value operand_word(sn_block *block, unsigned operand, unsigned offset, unsigned size) {
    if (!(size & (size - 1))) return sn_operand_piece(block, operand, offset, size);
    unsigned low = size > 4 ? 4 : 2;
    sn_value high = operand_word(block, operand, offset + low, size - low);
    sn_value moved = sn_compute(block, SN_SHIFT_LEFT, high, sn_constant(block, 8 * low));
    return sn_compute(block, SN_OR, sn_operand_piece(block, operand, offset, low), moved);
}

static unsigned piece_size(uint32_t size, unsigned piece) { return size - 8 * piece < 8 ? size - 8 * piece : 8; }

/* ----------------------------------------------------------------------- values */

/** A value that was taken: words in virtual registers, or in memory. */
typedef struct taken_value {
    sn_value words[MOST_PIECES];
    bool in_memory;
    sn_value address;      /**< with in_memory: the scratch memory, or where the operand was */
    int32_t offset;
    uint32_t size;
} taken_value;

static bool is_program_counter(const sn_operand *operand) { return operand->place == SN_PLACE_PROGRAM_COUNTER; }

static uint64_t next_address(const value_draft *draft) { return draft->instruction->address + draft->instruction->length; }

static bool fits_registers(const sn_operand *operand) {
    bool has_words = operand->place == SN_PLACE_MEMORY || operand->size <= 8;
    return operand->place != SN_PLACE_VECTOR && has_words && sn_values_words_of(operand->size) <= MOST_PIECES;
}

/** Take the value that an operand has at the chosen place. */
static taken_value take_value(value_draft *draft, const sn_operand *operand, unsigned number, int32_t scratch) {
    sn_block *block = draft->block;
    taken_value taken = {.size = operand->size};
    if (is_program_counter(operand)) {
        taken.words[0] = sn_constant(block, next_address(draft));
    } else if (!fits_registers(operand)) {
        taken.in_memory = true;
        taken.address = sn_slot_load(block, sn_values.scratch);
        taken.offset = scratch;
        sn_operand_copy(block, number, taken.address, scratch);
    } else if (operand->place != SN_PLACE_MEMORY) {
        taken.words[0] = sn_operand_value(block, number);
    } else {
        for (unsigned i = 0; i < sn_values_words_of(operand->size); i++)
            taken.words[i] = operand_word(block, number, 8 * i, piece_size(operand->size, i));
    }
    return taken;
}

static void append_value(value_draft *draft, const taken_value *taken) {
    for (unsigned i = 0; i < sn_values_words_of(taken->size); i++) {
        sn_value word = taken->words[taken->in_memory ? 0 : i];
        if (taken->in_memory)
            word = load_word(draft->block, taken->address, taken->offset + 8 * (int32_t)i, piece_size(taken->size, i));
        append(draft, word);
    }
}

/* ---------------------------------------------------------------------- records */

/** An operand of which something is wanted. */
typedef struct wanted_operand {
    unsigned number;
    const sn_operand *operand;
    uint8_t moments;
    uint64_t information;
    sn_value address;
    taken_value old;
} wanted_operand;

static void add_record(value_draft *draft, const wanted_operand *wanted, uint8_t moment, unsigned values) {
    uint8_t of_site = moment & (uint8_t)~SN_VALUES_OVERWRITTEN;
    sn_value_site site = sn_value_site_of(draft->instruction, wanted->operand, wanted->number, of_site,
                                          wanted->operand->size, wanted->information);
    unsigned words = values * sn_values_words_of(wanted->operand->size);
    sn_value_segment_add(draft->segment, sn_value_site_number(&site), moment, 1 + words);
}

static bool is_in_memory(const sn_operand *operand) { return operand->place == SN_PLACE_MEMORY; }

/** The record's first word: where it is. */
static sn_value place_of(value_draft *draft, const wanted_operand *wanted) {
    if (is_in_memory(wanted->operand)) return sn_operand_address(draft->block, wanted->number);
    bool has_number = wanted->operand->reg != SN_NO_REGISTER; /* immediates and flags have none */
    return sn_constant(draft->block, has_number ? wanted->operand->reg : 0);
}

static bool has_value(uint8_t moment) { return sn_values.has_bytes && moment != SN_VALUES_PREFETCHED; }

static void record_before(value_draft *draft, wanted_operand *wanted, uint8_t moment) {
    begin_segment(draft);
    taken_value taken;
    if (has_value(moment)) taken = take_value(draft, wanted->operand, wanted->number, SN_VALUES_NEW_SCRATCH);
    append(draft, place_of(draft, wanted));
    if (has_value(moment)) append_value(draft, &taken);
    add_record(draft, wanted, moment, has_value(moment));
}

/** Before the instruction: keep what is gone behind it. */
static void keep_for_write(value_draft *draft, wanted_operand *wanted) {
    wanted->address = place_of(draft, wanted);
    if (wanted->moments & SN_VALUES_OVERWRITTEN)
        wanted->old = take_value(draft, wanted->operand, wanted->number,
                                 SN_VALUES_OLD_SCRATCH + (int32_t)(SN_VALUES_LARGEST * wanted->number));
}

/** The value that the instruction has written, at a place behind it: where it has branched, or where it has not. */
static taken_value take_written(value_draft *draft, const wanted_operand *wanted, bool has_branched) {
    if (is_program_counter(wanted->operand)) {
        uint64_t to = has_branched ? draft->instruction->target : next_address(draft);
        return (taken_value){.size = wanted->operand->size, .words = {sn_constant(draft->block, to)}};
    }
    if (!is_in_memory(wanted->operand))
        return take_value(draft, wanted->operand, wanted->number, SN_VALUES_NEW_SCRATCH);
    return (taken_value){.size = wanted->operand->size, .in_memory = true, .address = wanted->address};
}

static void append_written(value_draft *draft, const wanted_operand *wanted, const taken_value *taken) {
    append(draft, wanted->address);
    if (!sn_values.has_bytes) return;
    append_value(draft, taken);
    if (wanted->moments & SN_VALUES_OVERWRITTEN) append_value(draft, &wanted->old);
}

static void note_written(value_draft *draft, const wanted_operand *wanted) {
    uint8_t moment = wanted->moments & (SN_VALUES_WRITTEN | SN_VALUES_OVERWRITTEN);
    unsigned values = !sn_values.has_bytes ? 0 : wanted->moments & SN_VALUES_OVERWRITTEN ? 2 : 1;
    add_record(draft, wanted, moment, values);
}

static void record_written(value_draft *draft, const wanted_operand *wanted, bool has_branched) {
    taken_value taken = take_written(draft, wanted, has_branched);
    append_written(draft, wanted, &taken);
}

/** Number of the operand that an indirect branch or a return reads its target from; -1: a far one's, of another size. */
static int target_operand(value_draft *draft) {
    unsigned count;
    bool is_return = draft->instruction->kind == SN_KIND_RETURN;
    const sn_operand *operands = sn_block_operands(draft->block, draft->index, &count);
    for (unsigned i = 0; i < count; i++) {
        bool is_source = is_return ? is_in_memory(&operands[i]) && !operands[i].is_explicit : operands[i].is_explicit;
        if (is_source && operands[i].size == 8 && sn_operand_is_readable(&operands[i])) return (int)i;
    }
    return -1;
}

/** Where a branch that does not go on goes to. */
static sn_value target_of(value_draft *draft) {
    bool is_direct = draft->instruction->kind == SN_KIND_JUMP || draft->instruction->kind == SN_KIND_CALL;
    if (is_direct) return sn_constant(draft->block, draft->instruction->target);
    return sn_operand_value(draft->block, (unsigned)target_operand(draft));
}

/** What a branch or call writes is known before: where it goes to, and, to memory, where it returns to. Of other registers that it
    writes nothing is told. */
static void record_call(value_draft *draft, wanted_operand *wanted) {
    bool is_target = is_program_counter(wanted->operand);
    if (!is_in_memory(wanted->operand) && !is_target) return;
    begin_segment(draft);
    sn_value word = is_target && sn_values.has_bytes ? target_of(draft) : sn_constant(draft->block, next_address(draft));
    taken_value written = {.size = wanted->operand->size, .words = {word}};
    keep_for_write(draft, wanted);
    append_written(draft, wanted, &written);
    note_written(draft, wanted);
}

/* ----------------------------------------------------------------- instructions */

static bool is_wanted_place(const sn_operand *operand) {
    const sn_values_request *request = &sn_values.request;
    uint32_t kind = operand->is_float ? SN_VALUES_FLOAT : SN_VALUES_INTEGER;
    return (request->places >> operand->place & 1) && operand->size && (!request->kinds || request->kinds & kind) &&
           (operand->is_explicit || !request->explicit_only);
}

uint8_t sn_values_wanted(const sn_instruction *instruction, const sn_operand *operand, uint64_t *information) {
    uint32_t moments = sn_values.request.moments;
    uint32_t has = operand->role == SN_ROLE_ADDRESS ? SN_VALUES_PREFETCHED
                   : (operand->role & SN_ROLE_READ ? SN_VALUES_READ : 0) |
                         (operand->role & SN_ROLE_WRITTEN ? SN_VALUES_WRITTEN | SN_VALUES_OVERWRITTEN : 0);
    *information = 0;
    if (operand->place == SN_PLACE_IMMEDIATE) has &= SN_VALUES_READ;
    if (!(moments & has) || !is_wanted_place(operand)) return 0;
    bool (*filter)(const sn_instruction *, const sn_operand *, uint64_t *) = sn_values.request.filter;
    return !filter || filter(instruction, operand, information) ? (uint8_t)(moments & has) : 0;
}

static bool goes_on(const sn_instruction *instruction) {
    return instruction->kind == SN_KIND_OTHER || instruction->kind == SN_KIND_CONDITIONAL;
}

static void record_writes(value_draft *draft, wanted_operand *wanted, unsigned count) {
    bool is_conditional = draft->instruction->kind == SN_KIND_CONDITIONAL, any = false;
    for (unsigned i = 0; i < count; i++) any |= wanted[i].moments & SN_VALUES_WRITTEN;
    if (!any) return;
    for (unsigned i = 0; i < count; i++)
        if (wanted[i].moments & SN_VALUES_WRITTEN) {
            begin_segment(draft);
            keep_for_write(draft, &wanted[i]);
            note_written(draft, &wanted[i]);
            if (!sn_values.has_bytes) append(draft, wanted[i].address); /* then it may as well be done here */
        }
    for (int way = 0; sn_values.has_bytes && way <= is_conditional; way++) {
        if (way) sn_insert_taken(draft->block, draft->index);
        else sn_insert_after(draft->block, draft->index);
        for (unsigned i = 0; i < count; i++)
            if (wanted[i].moments & SN_VALUES_WRITTEN) record_written(draft, &wanted[i], way);
    }
}

/** The program counter as an operand; without a role where it is none. */
static sn_operand program_counter(value_draft *draft) {
    static const uint8_t roles[] = {
        [SN_KIND_JUMP] = SN_ROLE_BOTH, [SN_KIND_JUMP_INDIRECT] = SN_ROLE_WRITTEN, [SN_KIND_CONDITIONAL] = SN_ROLE_BOTH,
        [SN_KIND_CALL] = SN_ROLE_BOTH, [SN_KIND_CALL_INDIRECT] = SN_ROLE_BOTH, [SN_KIND_RETURN] = SN_ROLE_WRITTEN,
        [SN_KIND_TRAP] = 0};
    uint8_t kind = draft->instruction->kind;
    bool is_indirect = kind == SN_KIND_JUMP_INDIRECT || kind == SN_KIND_CALL_INDIRECT || kind == SN_KIND_RETURN;
    return (sn_operand){.place = SN_PLACE_PROGRAM_COUNTER, .role = is_indirect && target_operand(draft) < 0 ? 0 : roles[kind],
                        .base = SN_NO_REGISTER, .index = SN_NO_REGISTER, .size = 8, .element_size = 8, .element_count = 1};
}

/** Operands that value_state.c records. */
typedef struct state_operands {
    sn_value_wanted wanted[SN_VALUES_MOST_STATE];
    unsigned count;
} state_operands;

/** Whether the operand, which is no memory, is recorded here: with its value it is left to value_state.c if need be. */
static bool is_ours(wanted_operand *wanted, state_operands *state) {
    if (is_program_counter(wanted->operand) || sn_operand_is_readable(wanted->operand)) return true;
    if (!sn_state_register_is_known(wanted->operand)) return false;
    if (!sn_values.has_bytes) return true;
    if (state->count == SN_VALUES_MOST_STATE) sn_fail(SN_STATUS_ENGINE, "an instruction has too many operands in control registers");
    state->wanted[state->count++] = (sn_value_wanted){wanted->operand, (uint8_t)wanted->number, wanted->moments, wanted->information};
    return false;
}

static bool is_bulk(const sn_operand *operand) {
    return is_in_memory(operand) && operand->role != SN_ROLE_ADDRESS &&
           (operand->size > SN_VALUES_LARGEST || !sn_operand_is_readable(operand));
}

static void instrument_operands(value_draft *draft, const sn_operand *operands, unsigned count) {
    wanted_operand wanted[32];
    state_operands state = {.count = 0};
    unsigned wanted_count = 0;
    sn_insert_before(draft->block, draft->index);
    for (unsigned i = 0; i < count && wanted_count < 32; i++) {
        wanted_operand one = {.number = i, .operand = &operands[i]};
        one.moments = sn_values_wanted(draft->instruction, one.operand, &one.information);
        if (!one.moments) continue;
        if (is_bulk(one.operand)) {
            may_end(draft);
            sn_values_insert_bulk(draft->block, draft->index, i, one.moments, one.information);
            continue;
        }
        if (!is_in_memory(one.operand) && !is_ours(&one, &state)) continue;
        wanted[wanted_count++] = one;
    }
    for (unsigned i = 0; i < wanted_count; i++) {
        uint8_t before = wanted[i].moments & (SN_VALUES_READ | SN_VALUES_PREFETCHED);
        if (before) record_before(draft, &wanted[i], before);
    }
    if (state.count) {
        may_end(draft); /* rows come in between */
        sn_values_insert_state(draft->block, draft->index, state.wanted, state.count, goes_on(draft->instruction));
    }
    if (goes_on(draft->instruction)) {
        record_writes(draft, wanted, wanted_count);
    } else {
        for (unsigned i = 0; i < wanted_count; i++)
            if (wanted[i].moments & SN_VALUES_WRITTEN) record_call(draft, &wanted[i]);
    }
}

static void instrument_one(value_draft *draft) {
    unsigned count;
    sn_operand operands[64];
    const sn_operand *listed = sn_block_operands(draft->block, draft->index, &count);
    if (count > 63) sn_fail(SN_STATUS_ENGINE, "an instruction has %u operands", count);
    for (unsigned i = 0; i < count; i++) operands[i] = listed[i];
    operands[count] = program_counter(draft);
    if (draft->instruction->accesses_vary) {
        may_end(draft); /* rows come in between */
        sn_values_insert_varying(draft->block, draft->index);
    }
    for (unsigned i = 0; draft->instruction->accesses_vary && i < count; i++)
        if (is_in_memory(&operands[i])) operands[i].size = 0; /* they are told of otherwise */
    instrument_operands(draft, operands, operands[count].role ? count + 1 : count);
    if (draft->instruction->kind == SN_KIND_CONDITIONAL) may_end(draft);
}

/** For data objects: where the frame of what is called begins. */
static void insert_called(value_draft *draft) {
    uint8_t kind = draft->instruction->kind;
    if (!sn_values_data_centric || (kind != SN_KIND_CALL && kind != SN_KIND_CALL_INDIRECT)) return;
    sn_insert_before(draft->block, draft->index);
    append(draft, sn_constant(draft->block, SN_VALUES_TAGS + SN_VALUES_CALLED));
    append(draft, sn_stack_pointer(draft->block));
    append(draft, sn_current_context(draft->block));
    draft->segment = NULL;
}

void sn_values_instrument(sn_block *block) {
    if (!sn_values_sampling_records(block)) return;
    value_draft draft = {.block = block};
    uint32_t first_segment = sn_value_segment_count;
    for (unsigned i = 0; i < sn_block_size(block); i++) {
        if (sn_values.has_context && i && sn_block_begins_function(block, i)) draft.segment = NULL;
        draft.index = i;
        draft.instruction = sn_block_instruction(block, i);
        instrument_one(&draft);
        insert_called(&draft);
    }
    sn_value_segments_trim(first_segment);
}
