/**
 * @fileoverview From analysis code on virtual registers to instructions: see jit/analysis.h for what sequences are.
 *
 * A sequence is lowered in two passes over its operations: the first gives each virtual register one of the processor's
 * from its first to its last use there, registers that are dead first; the second saves the client's values of those that
 * are not dead, emits, and restores. Flags are saved only if the client needs them and an operation changes them; where
 * all operations of a sequence have a form that leaves the flags alone, those forms are taken.
 * lower_registers.c is the first pass, lower_operations.c emits. Per-architecture file; called by emit_block.c.
 */
#include "jit/cache.h"
#include "jit/runtime.h"
#include "jit/translate.h"
#include "jit/x86_64/lowering.h"

/* -------------------------------------------------------------------- client state */

static bool reaches_tool_memory(const lowering *l) {
    for (unsigned number = l->first; number; number = next_of(l, number)) {
        unsigned kind = at(l, number)->kind;
        if (kind == SN_OPERATION_LOAD || kind == SN_OPERATION_STORE || kind == SN_OPERATION_COPY) return true;
    }
    return false;
}

static void save_client(lowering *l) {
    builder *b = l->b;
    l->saved = l->used & (uint16_t)~l->unsaved;
    bool flags_need_rax = l->saves_flags && !(l->unsaved & 1u << SN_RAX);
    sn_builder_analysis_place(b, 0, false);
    for (unsigned reg = 0; reg < 16; reg++)
        if (l->saved >> reg & 1 || (reg == SN_RAX && flags_need_rax)) sn_emit_store_thread(&b->e, reg, SAVED(reg));
    if (l->saves_flags) {
        uint16_t with_rax = l->saved | (uint16_t)(flags_need_rax ? 1u << SN_RAX : 0);
        sn_builder_analysis_place(b, with_rax, false);
        sn_emit_bytes(&b->e, "\x9f\x0f\x90\xc0", 4); /* lahf; seto %al */
        sn_emit_store_thread(&b->e, SN_RAX, SN_THREAD_SAVED_FLAGS);
        if (flags_need_rax && !(l->saved >> SN_RAX & 1)) sn_emit_load_thread(&b->e, SN_RAX, SAVED(SN_RAX));
    }
    /* What the tool's memory faults is its own fault, not that of the client at the boundary here. */
    if (sn_builder_at_boundary(b) && reaches_tool_memory(l)) sn_emit_padding(&b->e, 1);
    sn_builder_analysis_place(b, l->saved, l->saves_flags);
}

uint16_t sn_lowering_restored(const lowering *l) {
    return l->saved | (uint16_t)(l->saves_flags && !(l->unsaved & 1u << SN_RAX) ? 1u << SN_RAX : 0);
}

void sn_builder_restore(builder *b, uint16_t registers, bool flags) {
    if (flags) {
        sn_emit_load_thread(&b->e, SN_RAX, SN_THREAD_SAVED_FLAGS);
        sn_emit_bytes(&b->e, "\x04\x7f\x9e", 3); /* add $0x7f, %al sets overflow from bit 0; sahf the others */
    }
    for (unsigned reg = 0; reg < 16; reg++)
        if (registers >> reg & 1) sn_emit_load_thread(&b->e, reg, SAVED(reg));
}

void sn_lowering_restore_client(lowering *l, uint16_t kept) {
    sn_builder_restore(l->b, sn_lowering_restored(l) & (uint16_t)~kept, l->saves_flags);
}

/* ----------------------------------------------------------------------- sequences */

/** Load the values that were set elsewhere. */
static void load_incoming(lowering *l) {
    uint16_t loaded = 0;
    for (unsigned number = l->first; number; number = next_of(l, number)) {
        sn_value values[3];
        unsigned count = incoming_of(l, at(l, number), values);
        for (unsigned i = 0; i < count; i++) {
            unsigned reg = sn_lowering_registers[values[i]];
            if (loaded >> reg & 1) continue;
            loaded |= (uint16_t)(1u << reg);
            sn_emit_load_thread(&l->b->e, reg, SN_THREAD_VALUES + 8 * l->analysis->values[values[i]].home);
        }
    }
}

/** Leave the cache for the dispatcher, which calls the tool's function and comes back. */
static void emit_call(builder *b, const sn_operation *operation) {
    uint32_t call = sn_call_new();
    sn_builder_analysis_place(b, 0, false);
    sn_emit_store_thread_constant32(&b->e, SN_THREAD_EXIT, sn_exit_of_call(call));
    sn_emit_jump(&b->e, sn_runtime_address(sn_runtime_exit));
    const sn_insn *insn = &b->block->insns[operation->index];
    const uint64_t clients[] = {[SN_WHEN_BEFORE] = insn->pc, [SN_WHEN_AFTER] = insn->pc + insn->length,
                                [SN_WHEN_TAKEN] = insn->target};
    *sn_call_record_at(call) = (sn_call_record){
        .function = operation->function, .data = operation->data, .instruction = insn->pc,
        .client = clients[operation->when],
        .resume = (uint32_t)sn_emit_address(&b->e), .block = b->number, .index = operation->index,
        .enumerates = operation->kind == SN_OPERATION_ACCESSES, .after = operation->when == SN_WHEN_AFTER};
}

/** The branch register, if the instruction that comes would save it again: it does not read it. */
static uint16_t handed_over(const lowering *l, const sn_operation *last) {
    uint16_t branch_register = 1u << BRANCH_REGISTER;
    bool stays = last->when == SN_WHEN_BEFORE && last->kind != SN_OPERATION_CALL && last->kind != SN_OPERATION_ACCESSES &&
                 !l->b->pin.on && sn_builder_can_take_branch_register(l->b, l->insn);
    return stays ? l->saved & branch_register : 0;
}

/** Lower the operations from `number` on that belong to its sequence; returns the first one of the next. */
static unsigned lower_sequence(lowering *l, unsigned number) {
    l->first = number;
    l->sequence = at(l, number)->sequence;
    l->busy = l->used = l->saved = 0;
    l->saves_flags = false;
    unsigned last = number;
    for (unsigned i = number; i; i = next_of(l, i)) last = i;
    bool calls = at(l, last)->kind == SN_OPERATION_CALL || at(l, last)->kind == SN_OPERATION_ACCESSES;
    /* A label that is jumped to from elsewhere stands in front of the saving. */
    const sn_operation *head = at(l, number);
    bool outside = head->kind == SN_OPERATION_LABEL && l->analysis->labels[head->number].from_elsewhere;
    sn_lowering_choose_forms(l);
    sn_lowering_give_out(l);
    if (outside) sn_lower_label(l->b, head->number);
    save_client(l);
    load_incoming(l);
    for (unsigned i = number; i; i = next_of(l, i))
        if (!(outside && i == number)) sn_lower_operation(l, i);
    uint16_t kept = next_at_place(l, last) ? 0 : handed_over(l, at(l, last));
    sn_lowering_restore_client(l, kept);
    l->b->branch_saved = kept != 0;
    if (calls) emit_call(l->b, at(l, last));
    return next_at_place(l, last);
}

/** Registers that the operations of a place take operands from. */
static uint16_t operand_registers(const lowering *l, unsigned first) {
    uint32_t registers = 0;
    for (unsigned number = first; number; number = next_at_place(l, number)) {
        if (!sn_operation_uses_operand(at(l, number))) continue;
        const sn_operand *operand = sn_lowering_operand(l, at(l, number));
        if (operand->place == SN_PLACE_GENERAL) registers |= 1u << operand->reg;
        if (operand->place != SN_PLACE_MEMORY) continue;
        if (operand->base != SN_NO_REGISTER) registers |= 1u << operand->base;
        if (operand->index != SN_NO_REGISTER) registers |= 1u << operand->index;
    }
    return (uint16_t)registers;
}

unsigned sn_builder_first(const builder *b, unsigned index, sn_when when) {
    return sn_operation_in(&b->block->analysis, b->block->analysis.places[index][when].first, b->variant);
}

unsigned sn_lower_registers_read(builder *b, unsigned index, sn_when when) {
    static lowering state;
    unsigned number = sn_builder_first(b, index, when);
    if (!number) return 0;
    state.b = b;
    state.analysis = &b->block->analysis;
    state.insn = &b->block->insns[index];
    return operand_registers(&state, number);
}

void sn_lower_place(builder *b, unsigned index, sn_when when) {
    static lowering state;
    lowering *l = &state;
    unsigned number = sn_builder_first(b, index, when);
    if (!number) return;
    *l = (lowering){.b = b, .analysis = &b->block->analysis, .insn = &b->block->insns[index]};
    unsigned point = when == SN_WHEN_BEFORE || when == SN_WHEN_ENTERED ? index : index + 1;
    l->available = 0xffff & ~(1u << SN_RSP);
    l->available &= (uint16_t)~operand_registers(l, number);
    if (when == SN_WHEN_TAKEN) {
        l->live_flags = sn_flags_live_at(l->insn->target);
    } else {
        l->live_flags = b->live_flags[point];
        /* The engine looks at all of the client's registers when one of the operations leaves the cache. */
        if (!sn_analysis_leaves(l->analysis, &l->analysis->places[index][when])) l->unsaved = (uint16_t) ~(unsigned)b->live_registers[point] & l->available;
    }
    if (b->pin.on) {
        l->available &= (uint16_t) ~(1u << b->pin.pointer);
        l->unsaved &= (uint16_t) ~(1u << b->pin.pointer);
        l->available |= (uint16_t)(1u << b->pin.scratch);
        l->unsaved |= (uint16_t)(1u << b->pin.scratch);
    }
    while (number) number = lower_sequence(l, number);
    sn_builder_analysis_place(b, b->branch_saved ? 1u << BRANCH_REGISTER : 0, false);
}
