/**
 * @fileoverview The second pass of lowering: the code of each operation. Per-architecture file; called by lower.c.
 */
#include <string.h>

#include "base/log.h"
#include "isa/x86_64/emit_flagless.h"
#include "isa/x86_64/features.h"
#include "jit/x86_64/lowering.h"

/** Jumps to a label that is not there yet: a chain through the displacements. */
static uint64_t label_chain[SN_MOST_LABELS];
/** Where labels are that have been emitted. */
static uint64_t label_addresses[SN_MOST_LABELS];

uint64_t sn_label_address(unsigned label) { return label_addresses[label]; }

/* ------------------------------------------------------------------------ operands */

void sn_lower_address(builder *b, const sn_insn *insn, const sn_operand *operand, unsigned reg, unsigned second) {
    bool has_base = operand->base != SN_NO_REGISTER, has_index = operand->index != SN_NO_REGISTER;
    bool small = fits((uint64_t)operand->displacement);
    int32_t displacement = small ? (int32_t)operand->displacement : 0;
    unsigned base = has_base ? operand->base : 0xff;
    if (has_index) sn_emit_load_indexed(&b->e, reg, base, operand->index, operand->scale, displacement);
    else if (has_base) sn_emit_load_sum(&b->e, reg, operand->base, displacement);
    else sn_emit_load_constant(&b->e, reg, (uint64_t)operand->displacement);
    if (!small && (has_base || has_index)) {
        sn_emit_load_constant(&b->e, second, (uint64_t)operand->displacement);
        sn_emit_load_indexed(&b->e, reg, reg, second, 1, 0);
    }
    if (sn_operand_is_narrow(operand, insn)) sn_emit_truncate(&b->e, reg);
    if (!operand->segment) return;
    if (operand->segment == SN_SEGMENT_GS) sn_emit_load_thread(&b->e, second, SN_THREAD_CLIENT_BASE2);
    else if (!sn_features_read_bases()) sn_emit_load_thread(&b->e, second, SN_THREAD_CLIENT_BASE);
    else sn_emit_read_first_base(&b->e, second);
    sn_emit_load_indexed(&b->e, reg, reg, second, 1, 0);
}

/** reg = value of a general or mask register */
static void emit_register_value(lowering *l, const sn_operand *operand, unsigned reg) {
    if (operand->place == SN_PLACE_MASK) {
        sn_emit_read_mask(&l->b->e, reg, operand->reg, sn_features_wide_masks());
        return;
    }
    if (l->flagless && is_second_byte(operand)) sn_emit_flagless_second_byte(&l->b->e, reg, operand->reg);
    else sn_emit_part(&l->b->e, reg, operand->reg, operand->size, operand->displacement);
}

/** Copy `size` bytes from [from] to [to + offset] by way of `temporary`. */
static void emit_copy(builder *b, unsigned from, unsigned to, int32_t offset, unsigned size, unsigned temporary) {
    for (unsigned done = 0; done < size;) {
        unsigned left = size - done, piece = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
        sn_emit_load(&b->e, temporary, from, (int32_t)done, piece);
        sn_emit_store(&b->e, temporary, to, offset + (int32_t)done, piece);
        done += piece;
    }
}

/** The operand's bytes to [to + offset]. */
static void emit_operand_copy(lowering *l, const sn_operand *operand, unsigned to, int32_t offset, const uint8_t *own) {
    builder *b = l->b;
    switch (operand->place) {
    case SN_PLACE_MEMORY:
        sn_lower_address(b, l->insn, operand, own[0], own[1]);
        sn_builder_reading_place(b, l->saved, l->saves_flags);
        emit_copy(b, own[0], to, offset, operand->size, own[1]);
        sn_builder_analysis_place(b, l->saved, l->saves_flags);
        break;
    case SN_PLACE_VECTOR:
        if (operand->size >= 4) {
            sn_emit_store_vector(&b->e, operand->reg, to, offset, operand->size);
            break;
        }
        sn_emit_read_vector(&b->e, own[0], operand->reg);
        sn_emit_store(&b->e, own[0], to, offset, operand->size);
        break;
    case SN_PLACE_IMMEDIATE:
        sn_emit_load_constant(&b->e, own[0], (uint64_t)operand->immediate);
        sn_emit_store(&b->e, own[0], to, offset, operand->size);
        break;
    default:
        emit_register_value(l, operand, own[0]);
        sn_emit_store(&b->e, own[0], to, offset, operand->size);
    }
}

/* ---------------------------------------------------------------------- operations */

/** Register that holds a value; a constant is loaded into the next of the operation's temporaries. */
static unsigned value_in(lowering *l, sn_value value, const uint8_t **own) {
    if (!is_constant(l, value)) return sn_lowering_registers[value];
    sn_emit_load_constant(&l->b->e, **own, constant_of(l, value));
    return *(*own)++;
}

static const uint8_t shift_extensions[] = {[SN_SHIFT_LEFT] = 4, [SN_SHIFT_RIGHT] = 5, [SN_SHIFT_RIGHT_SIGNED] = 7};

static void emit_shift(lowering *l, const sn_operation *operation, unsigned result) {
    unsigned extension = shift_extensions[operation->what];
    sn_emitter *e = &l->b->e;
    if (is_constant(l, operation->b)) {
        sn_emit_shift_constant(e, extension, result, constant_of(l, operation->b) & 63);
        return;
    }
    unsigned count = sn_lowering_registers[operation->b];
    if (sn_features_flagless_shifts()) {
        sn_emit_flagless_shift(e, extension, result, result, count);
        return;
    }
    if (count == SN_RCX) {
        sn_emit_shift_by_count(e, extension, result);
        return;
    }
    /* The count has to be in %cl. If the value is there, the exchange moves it to where the count was. */
    sn_emit_exchange(e, SN_RCX, count);
    sn_emit_shift_by_count(e, extension, result == SN_RCX ? count : result);
    sn_emit_exchange(e, SN_RCX, count);
}

/** Operations that have another form where the flags must stay; false for those that have not. */
static bool emit_flagless(lowering *l, const sn_operation *operation, const uint8_t *own) {
    sn_emitter *e = &l->b->e;
    unsigned result = sn_lowering_registers[operation->result], a = is_constant(l, operation->a) ? result : sn_lowering_registers[operation->a];
    if (!l->flagless || !sn_lowering_changes_flags(l, operation)) return false;
    if (operation->what == SN_SUBTRACT) {
        a = value_in(l, operation->a, &own);
        sn_emit_flagless_subtract(e, result, a, value_in(l, operation->b, &own));
        return true;
    }
    if (is_constant(l, operation->a)) sn_emit_load_constant(e, result, constant_of(l, operation->a));
    if (operation->what == SN_AND) {
        sn_emit_flagless_and(e, result, a, constant_of(l, operation->b), own[0]);
    } else {
        unsigned count = value_in(l, operation->b, &own);
        sn_emit_flagless_shift(e, shift_extensions[operation->what], result, a, count);
    }
    return true;
}

static void emit_compute(lowering *l, const sn_operation *operation, const uint8_t *own) {
    static const struct {
        uint8_t opcode, extension;
    } forms[] = {[SN_AND] = {0x21, 4}, [SN_OR] = {0x09, 1}, [SN_XOR] = {0x31, 6}, [SN_SUBTRACT] = {0x29, 5}};
    sn_emitter *e = &l->b->e;
    unsigned result = sn_lowering_registers[operation->result];
    bool constant = is_constant(l, operation->b) && !sn_lowering_needs_register(l, operation, false);
    uint64_t value = constant ? constant_of(l, operation->b) : 0;
    if (emit_flagless(l, operation, own)) return;
    if (is_constant(l, operation->a)) sn_emit_load_constant(e, result, constant_of(l, operation->a));
    else if (operation->what == SN_ADD && constant) {
        sn_emit_load_sum(e, result, sn_lowering_registers[operation->a], (int32_t)value);
        return;
    } else sn_emit_move(e, result, sn_lowering_registers[operation->a]);
    switch ((sn_operator)operation->what) {
    case SN_ADD:
        if (constant) sn_emit_load_sum(e, result, result, (int32_t)value);
        else sn_emit_load_indexed(e, result, result, value_in(l, operation->b, &own), 1, 0);
        break;
    case SN_SUBTRACT:
        if (constant && fits(-value)) {
            sn_emit_load_sum(e, result, result, (int32_t)-value);
            break;
        }
        /* fall through */
    case SN_AND:
    case SN_OR:
    case SN_XOR:
        if (constant) sn_emit_binary_constant(e, forms[operation->what].extension, result, (int32_t)value);
        else sn_emit_binary(e, forms[operation->what].opcode, result, value_in(l, operation->b, &own));
        break;
    case SN_MULTIPLY: sn_emit_multiply(e, result, value_in(l, operation->b, &own)); break;
    default: emit_shift(l, operation, result);
    }
}

/** Compare, and jump forwards if the condition, or its opposite, is met; returns the address of the displacement. */
static uint64_t emit_condition(lowering *l, const sn_operation *operation, bool opposite, const uint8_t *own) {
    static const uint8_t conditions[] = {[SN_EQUAL] = 4, [SN_NOT_EQUAL] = 5, [SN_BELOW] = 2,
                                         [SN_AT_LEAST] = 3, [SN_LESS] = 12, [SN_NOT_LESS] = 13};
    sn_emitter *e = &l->b->e;
    unsigned a = value_in(l, operation->a, &own);
    if (l->flagless) {
        if (sn_lowering_is_small_difference(l, operation->b)) sn_emit_load_sum(e, SN_RCX, a, (int32_t)-constant_of(l, operation->b));
        else sn_emit_flagless_subtract(e, SN_RCX, a, value_in(l, operation->b, &own));
        return sn_emit_flagless_jump(e, (operation->what == SN_EQUAL) != opposite);
    }
    if (is_constant(l, operation->b) && fits(constant_of(l, operation->b)))
        sn_emit_binary_constant(e, 7, a, (int32_t)constant_of(l, operation->b));
    else sn_emit_binary(e, 0x39, a, value_in(l, operation->b, &own));
    return sn_emit_jump_if(e, conditions[operation->what] ^ opposite);
}

/** The comparison of SN_OPERATION_CHECK; returns the displacement of the jump that is taken when it fails. */
static uint64_t emit_check_condition(lowering *l, const sn_operation *operation, const uint8_t *own) {
    enum { NOT_EQUAL = 5 };
    sn_emitter *e = &l->b->e;
    unsigned base = sn_lowering_registers[operation->a];
    int32_t more = (int32_t)operation->number;
    bool immediate = is_constant(l, operation->b) && !sn_lowering_needs_register(l, operation, false);
    uint64_t constant = immediate ? constant_of(l, operation->b) + (uint64_t)(int64_t)more : 0;
    unsigned expected = immediate ? NO_REGISTER : value_in(l, operation->b, &own);
    if (l->flagless) {
        sn_emit_load(e, SN_RCX, base, operation->offset, 8);
        if (immediate) {
            sn_emit_load_sum(e, SN_RCX, SN_RCX, (int32_t)-constant);
        } else {
            sn_emit_complement(e, SN_RCX);
            sn_emit_load_indexed(e, SN_RCX, expected, SN_RCX, 1, 1 + more);
        }
        return sn_emit_flagless_jump(e, false);
    }
    if (immediate) {
        sn_emit_compare_memory_constant(e, base, operation->offset, (int32_t)constant);
        return sn_emit_jump_if(e, NOT_EQUAL);
    }
    if (more) {
        sn_emit_load_sum(e, *own, expected, more);
        expected = *own;
    }
    sn_emit_compare_memory(e, base, operation->offset, expected);
    return sn_emit_jump_if(e, NOT_EQUAL);
}

static rare_call *new_rare_call(lowering *l, const sn_operation *operation, uint64_t field) {
    builder *b = l->b;
    if (b->e.overflowed) return NULL;
    if (b->rare_count == SN_MOST_RARE_CALLS) { /* as if the block were too large: a shorter one is tried */
        b->e.overflowed = true;
        return NULL;
    }
    rare_call *call = &b->rare[b->rare_count++];
    *call = (rare_call){.field = field, .back = sn_emit_address(&b->e), .function = operation->function,
                        .data = (uint64_t)(uintptr_t)operation->data, .index = b->current, .saved = l->saved,
                        .saved_flags = l->saves_flags, .keeps_flags = l->live_flags && !l->saves_flags, .pin = b->pin};
    return call;
}

/** The jump at `field` leaves the clean variant. NULL: there is no room. */
static rare_call *emit_leaving(lowering *l, const sn_operation *operation, uint64_t field, unsigned label) {
    rare_call *call = new_rare_call(l, operation, field);
    if (!call) return NULL;
    call->leaves = true;
    call->label = (uint16_t)label;
    call->restored = sn_lowering_restored(l);
    return call;
}

static void emit_branch(lowering *l, const sn_operation *operation, const uint8_t *own) {
    sn_emitter *e = &l->b->e;
    const sn_label_record *label = &l->analysis->labels[operation->number];
    if (label->is_entered) {
        emit_leaving(l, operation, emit_condition(l, operation, false, own), operation->number);
        return;
    }
    uint64_t field = emit_condition(l, operation, label->from_elsewhere, own);
    if (label->from_elsewhere) {
        /* The other sequence begins with the client's registers in place. */
        uint64_t over = field;
        sn_lowering_restore_client(l, 0);
        sn_emit8(e, 0xe9);
        sn_emit32(e, 0);
        field = sn_emit_address(e) - 4;
        if (e->overflowed) return;
        sn_patch_displacement(over, sn_emit_address(e));
        sn_builder_analysis_place(l->b, l->saved, l->saves_flags);
    }
    if (e->overflowed) return;
    *(uint32_t *)field = (uint32_t)label_chain[operation->number];
    label_chain[operation->number] = field;
}

/** %rcx was used: operations that come may take an operand from it. */
static void give_rcx_back(lowering *l, const sn_operation *operation) {
    bool goes_on = next_of(l, (unsigned)(operation - l->analysis->operations)) != 0;
    if (goes_on && !(l->available >> SN_RCX & 1) && l->saved >> SN_RCX & 1) sn_emit_load_thread(&l->b->e, SN_RCX, SAVED(SN_RCX));
}

static void emit_ask(lowering *l, const sn_operation *operation, const uint8_t *own) {
    enum { NOT_EQUAL = 5 };
    sn_emitter *e = &l->b->e;
    uint64_t bits = constant_of(l, operation->b);
    if (l->live_flags) {
        sn_emit_load_thread(e, SN_RCX, (uint32_t)operation->offset);
        sn_emit_load_constant(e, own[0], bits);
        sn_emit_flagless_extract(e, SN_RCX, SN_RCX, own[0]);
        emit_leaving(l, operation, sn_emit_flagless_jump(e, false), operation->number);
        give_rcx_back(l, operation);
        return;
    }
    for (unsigned half = 0; half < 2; half++) {
        uint32_t tested = (uint32_t)(bits >> 32 * half);
        if (!tested) continue;
        sn_emit_test_thread(e, (uint32_t)operation->offset + 4 * half, tested);
        rare_call *call = emit_leaving(l, operation, sn_emit_jump_if(e, NOT_EQUAL), operation->number);
        if (!call) return;
        call->is_asked = operation->function != NULL;
        call->asked = (uint32_t)operation->offset;
        call->constants[0] = bits;
    }
}

/** %rcx = a piece of what is looked at, which may not be there. */
static void emit_probed_piece(lowering *l, unsigned base, unsigned index, int32_t displacement, unsigned size) {
    sn_builder_reading_place(l->b, l->saved, l->saves_flags);
    if (index == NO_REGISTER) sn_emit_load(&l->b->e, SN_RCX, base, displacement, size);
    else sn_emit_load_at_sum(&l->b->e, SN_RCX, base, index, displacement, size);
    sn_builder_analysis_place(l->b, l->saved, l->saves_flags);
}

/** Look at all pieces; %rcx is free, whatever the client has there, but for the operand's own use. */
static void emit_probe(lowering *l, const sn_operation *operation, const uint8_t *own) {
    sn_emitter *e = &l->b->e;
    const sn_operand *operand = operand_of(l, operation->number);
    bool simple = sn_lowering_is_simple_probe(l, operation);
    unsigned base = simple ? operand->base : own[0], index = NO_REGISTER;
    int32_t displacement = simple ? (int32_t)operand->displacement : 0;
    uint64_t offset = constant_of(l, operation->b);
    if (simple) {
        index = sn_lowering_pieces(operation->size) > 1 ? own[0] : SN_RCX;
        sn_emit_load_constant(e, index, offset);
    } else {
        sn_lower_address(l->b, l->insn, operand, base, own[1]);
        index = own[1];
        sn_emit_load_constant(e, index, offset);
    }
    unsigned first_call = l->b->rare_count;
    for (unsigned done = 0; done < operation->size;) {
        unsigned left = operation->size - done, piece = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
        emit_probed_piece(l, base, index, displacement + (int32_t)done, piece);
        uint64_t field = sn_emit_flagless_jump(e, false);
        done += piece;
        if (!operation->function) {
            emit_leaving(l, operation, field, operation->what);
            continue;
        }
        rare_call *call = new_rare_call(l, operation, field);
        if (!call) return;
        call->is_probe = true;
        call->operand = (uint16_t)operation->number;
    }
    if (operation->function) /* one call is enough */
        for (unsigned i = first_call; i < l->b->rare_count; i++) l->b->rare[i].back = sn_emit_address(e);
    give_rcx_back(l, operation);
}

static void emit_check(lowering *l, const sn_operation *operation, const uint8_t *own) {
    rare_call *call = new_rare_call(l, operation, emit_check_condition(l, operation, own));
    if (!call) return;
    call->is_check = true;
    call->result = sn_lowering_registers[operation->a];
}

static void note_compared(const lowering *l, sn_value value, uint64_t *constant, uint8_t *reg) {
    *reg = is_constant(l, value) ? NO_REGISTER : sn_lowering_registers[value];
    if (is_constant(l, value)) *constant = constant_of(l, value);
}

/** The comparison; the call comes behind the block's other code. */
static void emit_call_if(lowering *l, const sn_operation *operation, const uint8_t *own) {
    rare_call *call = new_rare_call(l, operation, emit_condition(l, operation, false, own));
    if (!call) return;
    note_compared(l, operation->a, &call->constants[0], &call->registers[0]);
    note_compared(l, operation->b, &call->constants[1], &call->registers[1]);
}

void sn_lower_begin(const sn_block *block) { memset(label_chain, 0, block->analysis.label_count * sizeof *label_chain); }

void sn_lower_label(builder *b, unsigned label) {
    for (uint64_t field = label_chain[label]; field && !b->e.overflowed;) {
        uint32_t next = *(uint32_t *)field;
        sn_patch_displacement(field, sn_emit_address(&b->e));
        field = next;
    }
    label_chain[label] = 0;
    label_addresses[label] = sn_emit_address(&b->e);
}

static void emit_count(lowering *l, const sn_operation *operation, const uint8_t *own) {
    sn_emitter *e = &l->b->e;
    bool constant = is_constant(l, operation->a);
    uint64_t amount = constant ? constant_of(l, operation->a) : 0;
    if (sn_lowering_counts_in_memory(l, operation)) {
        sn_emit_add_thread_constant(e, COUNTER(operation->number), (int32_t)amount);
        return;
    }
    if (constant && !fits(amount)) sn_fail(SN_STATUS_ENGINE, "the tool counts by a constant of more than 31 bits");
    sn_emit_load_thread(e, own[0], COUNTER(operation->number));
    if (constant) sn_emit_load_sum(e, own[0], own[0], (int32_t)amount);
    else sn_emit_load_indexed(e, own[0], own[0], sn_lowering_registers[operation->a], 1, 0);
    sn_emit_store_thread(e, own[0], COUNTER(operation->number));
}

static void emit_count_indexed(lowering *l, const sn_operation *operation, const uint8_t *own) {
    sn_emitter *e = &l->b->e;
    unsigned amount = value_in(l, operation->a, &own), index = value_in(l, operation->b, &own);
    sn_emit_thread_element(e, 0x8b, own[0], index, COUNTER(operation->number));
    sn_emit_load_indexed(e, own[0], own[0], amount, 1, 0);
    sn_emit_thread_element(e, 0x89, own[0], index, COUNTER(operation->number));
}

static void emit_thread_store(lowering *l, sn_value value, uint32_t offset, const uint8_t *own) {
    if (is_constant(l, value) && fits(constant_of(l, value)))
        sn_emit_store_thread_constant(&l->b->e, offset, (int32_t)constant_of(l, value));
    else sn_emit_store_thread(&l->b->e, value_in(l, value, &own), offset);
}

/** Registers of values that operations behind this one use. */
static uint16_t used_later(const lowering *l, unsigned number) {
    uint32_t registers = 0;
    while ((number = next_of(l, number))) {
        sn_value values[4];
        unsigned count = sn_operation_uses(at(l, number), values);
        if (at(l, number)->kind == SN_OPERATION_ASSIGN) values[count++] = at(l, number)->result;
        for (unsigned i = 0; i < count; i++)
            if (!is_constant(l, values[i])) registers |= UINT32_C(1) << sn_lowering_registers[values[i]];
    }
    return (uint16_t)registers;
}

/** Everything that a leaf function may change and that is in use is kept in the thread's memory meanwhile: the client's registers
    that were not saved there before, values, and what probes need. */
static void emit_call_fast(lowering *l, const sn_operation *operation) {
    static const uint8_t argument_registers[] = {SN_RDI, SN_RSI, SN_RDX, SN_RCX, SN_R8, SN_R9};
    sn_emitter *e = &l->b->e;
    unsigned result = sn_lowering_registers[operation->result];
    uint16_t of_client = (uint16_t)~(l->unsaved | l->used), of_probes = l->probes ? 1u << SN_RCX : 0;
    uint16_t of_values = used_later(l, (unsigned)(operation - l->analysis->operations));
    uint16_t kept = SN_CALLER_SAVED & (of_client | of_values | of_probes);
    kept &= (uint16_t) ~(1u << result);
    for (unsigned reg = 0; reg < 16; reg++)
        if (kept >> reg & 1) sn_emit_store_thread(e, reg, SN_THREAD_KEPT + 8 * reg);
    sn_emit_store_thread(e, SN_RSP, SN_THREAD_KEPT + 8 * SN_RSP);
    sn_emit_store_thread_constant32(e, SN_THREAD_IN_FAST_CALL, 1);
    for (unsigned i = 0; i < operation->what; i++)
        sn_emit_load_thread(e, argument_registers[i], SN_THREAD_ARGUMENTS + 8 * i);
    sn_emit_load_thread(e, SN_RSP, SN_THREAD_ENGINE_STACK);
    sn_emit_load_constant(e, SN_RAX, (uint64_t)(uintptr_t)operation->function);
    sn_emit_bytes(e, "\xff\xd0", 2); /* call *%rax */
    sn_emit_load_thread(e, SN_RSP, SN_THREAD_KEPT + 8 * SN_RSP);
    sn_emit_store_thread_constant32(e, SN_THREAD_IN_FAST_CALL, 0);
    if (result != SN_RAX) sn_emit_move(e, result, SN_RAX);
    for (unsigned reg = 0; reg < 16; reg++)
        if (kept >> reg & 1) sn_emit_load_thread(e, reg, SN_THREAD_KEPT + 8 * reg);
}

/** Register that points to the next record, and how far behind it that begins. */
static unsigned record_pointer(lowering *l, const sn_operation *operation, unsigned own, int32_t *offset) {
    *offset = operation->offset;
    if (sn_lowering_is_pinned_for(l, operation)) {
        *offset += l->b->pin.pending;
        return l->b->pin.pointer;
    }
    sn_emit_load_thread(&l->b->e, own, SN_THREAD_TRACES + 8 * operation->number);
    return own;
}

static void emit_field(lowering *l, const sn_operation *operation, const uint8_t *own) {
    int32_t offset;
    sn_emitter *e = &l->b->e;
    if (operation->kind == SN_OPERATION_FIELD_COPY) {
        const sn_operand *operand = operand_of(l, operation->what);
        unsigned extra = operand->place == SN_PLACE_MEMORY ? 2 : 1;
        unsigned pointer = record_pointer(l, operation, own[extra], &offset);
        emit_operand_copy(l, operand, pointer, offset, own);
        return;
    }
    bool immediate = is_constant(l, operation->a) && !sn_lowering_needs_register(l, operation, true);
    unsigned value = immediate ? 0 : value_in(l, operation->a, &own);
    unsigned pointer = record_pointer(l, operation, own[0], &offset);
    if (immediate) sn_emit_store_constant(e, pointer, offset, (int32_t)constant_of(l, operation->a), operation->size);
    else sn_emit_store(e, value, pointer, offset, operation->size);
}

static void emit_appended(lowering *l, const sn_operation *operation, const uint8_t *own) {
    if (sn_lowering_is_pinned_for(l, operation)) {
        l->b->pin.pending = (uint16_t)(l->b->pin.pending + operation->size);
        sn_builder_analysis_place(l->b, l->saved, l->saves_flags);
        return;
    }
    uint32_t slot = SN_THREAD_TRACES + 8 * operation->number;
    sn_emit_load_thread(&l->b->e, own[0], slot);
    sn_emit_load_sum(&l->b->e, own[0], own[0], operation->size);
    sn_emit_store_thread(&l->b->e, own[0], slot);
}

static void emit_store(lowering *l, const sn_operation *operation, const uint8_t *own) {
    unsigned base = value_in(l, operation->a, &own);
    if (operation->what) sn_builder_storing_place(l->b, l->saved, l->saves_flags);
    if (is_constant(l, operation->b) && !sn_lowering_needs_register(l, operation, false))
        sn_emit_store_constant(&l->b->e, base, operation->offset, (int32_t)constant_of(l, operation->b), operation->size);
    else sn_emit_store(&l->b->e, value_in(l, operation->b, &own), base, operation->offset, operation->size);
    if (operation->what) sn_builder_analysis_place(l->b, l->saved, l->saves_flags);
}

static void emit_value(lowering *l, const sn_operation *operation, unsigned result, const uint8_t *own) {
    const sn_operand *operand = operand_of(l, operation->number);
    if (operand->place != SN_PLACE_MEMORY) {
        emit_register_value(l, operand, result);
        return;
    }
    sn_lower_address(l->b, l->insn, operand, result, own[0]);
    sn_builder_reading_place(l->b, l->saved, l->saves_flags);
    if (!(operand->size & (operand->size - 1))) {
        sn_emit_load(&l->b->e, result, result, 0, operand->size);
        sn_builder_analysis_place(l->b, l->saved, l->saves_flags);
        return;
    }
    /* 3, 5, 6 or 7 bytes, of which no more may be touched: by way of the thread's memory */
    sn_emit_store_thread_constant(&l->b->e, SN_THREAD_KEPT, 0);
    sn_emit_load_thread(&l->b->e, own[1], SN_THREAD_SELF);
    emit_copy(l->b, result, own[1], SN_THREAD_KEPT, operand->size, own[0]);
    sn_builder_analysis_place(l->b, l->saved, l->saves_flags);
    sn_emit_load_thread(&l->b->e, result, SN_THREAD_KEPT);
}

void sn_lower_operation(lowering *l, unsigned number) {
    const sn_operation *operation = at(l, number);
    const uint8_t *own = sn_lowering_temporaries[number];
    sn_emitter *e = &l->b->e;
    unsigned result = sn_operation_sets(operation) ? sn_lowering_registers[operation->result] : NO_REGISTER;
    switch ((sn_operation_kind)operation->kind) {
    case SN_OPERATION_THREAD: sn_emit_load_thread(e, result, SN_THREAD_SELF); break;
    case SN_OPERATION_ADDRESS:
        if (sn_lowering_plain_address(l, operation) == NO_REGISTER)
            sn_lower_address(l->b, l->insn, operand_of(l, operation->number), result, own[0]);
        break;
    case SN_OPERATION_VALUE: emit_value(l, operation, result, own); break;
    case SN_OPERATION_COPY: {
        const uint8_t *base = own;
        unsigned to = value_in(l, operation->a, &base);
        emit_operand_copy(l, operand_of(l, operation->number), to, operation->offset, base);
        break;
    }
    case SN_OPERATION_LOAD: {
        unsigned base = value_in(l, operation->a, &own);
        if (operation->what) sn_builder_reading_place(l->b, l->saved, l->saves_flags);
        sn_emit_load(e, result, base, operation->offset, operation->size);
        if (operation->what) sn_builder_analysis_place(l->b, l->saved, l->saves_flags);
        break;
    }
    case SN_OPERATION_STORE: emit_store(l, operation, own); break;
    case SN_OPERATION_COMPUTE: emit_compute(l, operation, own); break;
    case SN_OPERATION_ASSIGN:
        if (is_constant(l, operation->a)) sn_emit_load_constant(e, result, constant_of(l, operation->a));
        else sn_emit_move(e, result, sn_lowering_registers[operation->a]);
        break;
    case SN_OPERATION_BRANCH: emit_branch(l, operation, own); break;
    case SN_OPERATION_CALL_IF: emit_call_if(l, operation, own); break;
    case SN_OPERATION_CHECK: emit_check(l, operation, own); break;
    case SN_OPERATION_ASK: emit_ask(l, operation, own); break;
    case SN_OPERATION_PROBE: emit_probe(l, operation, own); break;
    case SN_OPERATION_LABEL: sn_lower_label(l->b, operation->number); break;
    case SN_OPERATION_SLOT_LOAD: sn_emit_load_thread(e, result, SN_THREAD_SLOTS + 8 * operation->number); break;
    case SN_OPERATION_OWN_LOAD: sn_emit_load_thread_part(e, result, operation->number, operation->size); break;
    case SN_OPERATION_OWN_STORE:
        if (operation->size == 8) emit_thread_store(l, operation->a, operation->number, own);
        else sn_emit_store_thread_part(e, value_in(l, operation->a, &own), operation->number, operation->size);
        break;
    case SN_OPERATION_COUNTER: sn_emit_load_thread(e, result, COUNTER(operation->number)); break;
    case SN_OPERATION_SLOT_STORE: emit_thread_store(l, operation->a, SN_THREAD_SLOTS + 8 * operation->number, own); break;
    case SN_OPERATION_COUNT: emit_count(l, operation, own); break;
    case SN_OPERATION_COUNT_INDEXED: emit_count_indexed(l, operation, own); break;
    case SN_OPERATION_ARGUMENT: emit_thread_store(l, operation->a, SN_THREAD_ARGUMENTS + 8 * operation->number, own); break;
    case SN_OPERATION_CALL_FAST: emit_call_fast(l, operation); break;
    case SN_OPERATION_FIELD:
    case SN_OPERATION_FIELD_COPY: emit_field(l, operation, own); break;
    case SN_OPERATION_APPENDED: emit_appended(l, operation, own); break;
    case SN_OPERATION_CALL:
    case SN_OPERATION_ACCESSES: break; /* behind the sequence */
    }
    if (result != NO_REGISTER && l->analysis->values[operation->result].crosses)
        sn_emit_store_thread(e, result, SN_THREAD_VALUES + 8 * l->analysis->values[operation->result].home);
}
