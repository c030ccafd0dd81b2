/**
 * @fileoverview Calls from a block that rarely happen: their code lies behind everything else of the block, so that what is
 * usual runs straight on. The comparison before each is lower.c's; it notes them in the builder.
 * Per-architecture file; called by emit_block.c.
 */
#include "isa/x86_64/emit_analysis.h"
#include "jit/x86_64/emit_parts.h"

/** Whether it is of a comparison of two values, which the function gets. */
static bool has_compared(const rare_call *call) { return !call->is_check && !call->is_probe && !call->is_asked; }

/** Arguments 2 and 3 of a call that rarely happens: what was compared. */
static void emit_compared(sn_emitter *e, const rare_call *call) {
    for (unsigned i = 0; i < 2; i++) {
        uint32_t slot = SN_THREAD_ARGUMENTS + 8 * i;
        if (call->registers[i] == SN_RAX) continue; /* stored already */
        if (call->registers[i] != NO_REGISTER) {
            sn_emit_store_thread(e, call->registers[i], slot);
        } else {
            sn_emit_load_constant(e, SN_RAX, call->constants[i]); /* kept by now, and compared with nothing */
            sn_emit_store_thread(e, SN_RAX, slot);
        }
    }
}

/** The client's registers are where they were, but for %rcx; all that may be overwritten are kept. */
static void emit_probe_arguments(builder *b, const rare_call *call) {
    const sn_operand *operand = &b->block->analysis.operands[call->operand];
    bool has_rcx = operand->base == SN_RCX || operand->index == SN_RCX;
    if (has_rcx && call->saved >> SN_RCX & 1) sn_emit_load_thread(&b->e, SN_RCX, SAVED(SN_RCX));
    sn_lower_address(b, &b->block->insns[call->index], operand, SN_RDX, SN_RSI);
    sn_emit_load_thread(&b->e, SN_RDI, SN_THREAD_SELF);
    sn_emit_load_constant(&b->e, SN_RSI, call->data);
    sn_emit_move(&b->e, SN_RCX, SN_RSP);
}

static void emit_rare_arguments(builder *b, const rare_call *call) {
    sn_emitter *e = &b->e;
    if (call->is_probe) {
        emit_probe_arguments(b, call);
        return;
    }
    if (has_compared(call)) emit_compared(e, call);
    sn_emit_load_thread(e, SN_RDI, SN_THREAD_SELF);
    sn_emit_load_constant(e, SN_RSI, call->data);
    if (call->is_asked) return;
    if (call->is_check) {
        sn_emit_move(e, SN_RDX, SN_RSP);
        return;
    }
    sn_emit_load_thread(e, SN_RDX, SN_THREAD_ARGUMENTS);
    sn_emit_load_thread(e, SN_RCX, SN_THREAD_ARGUMENTS + 8);
    sn_emit_move(e, SN_R8, SN_RSP);
}

/** Registers that the call has kept get their values back behind this. */
static void emit_rare_result(sn_emitter *e, unsigned result) {
    if (SN_CALLER_SAVED >> result & 1) sn_emit_store_thread(e, SN_RAX, SN_THREAD_KEPT + 8 * result);
    else sn_emit_move(e, result, SN_RAX);
}

static void begin(builder *b, const rare_call *call) {
    sn_patch_displacement(call->field, sn_emit_address(&b->e));
    b->pin = call->pin;
    b->current = call->index;
    sn_builder_analysis_place(b, call->saved, call->saved_flags);
}

static void emit_call(builder *b, const rare_call *call) {
    sn_emitter *e = &b->e;
    for (unsigned reg = 0; reg < 16; reg++)
        if (SN_CALLER_SAVED >> reg & 1) sn_emit_store_thread(e, reg, SN_THREAD_KEPT + 8 * reg);
    /* Before that register is used for the flags or a constant. */
    for (unsigned i = 0; i < 2 && has_compared(call); i++)
        if (call->registers[i] == SN_RAX) sn_emit_store_thread(e, SN_RAX, SN_THREAD_ARGUMENTS + 8 * i);
    if (call->keeps_flags) {
        sn_emit_bytes(e, "\x9f\x0f\x90\xc0", 4); /* lahf; seto %al */
        sn_emit_store_thread(e, SN_RAX, SN_THREAD_SAVED_FLAGS);
        if (call->is_probe) sn_emit_load_thread(e, SN_RAX, SN_THREAD_KEPT + 8 * SN_RAX);
    }
    sn_emit_store_thread(e, SN_RSP, SN_THREAD_KEPT + 8 * SN_RSP);
    sn_emit_store_thread_constant32(e, SN_THREAD_IN_FAST_CALL, 1);
    sn_emit_store_thread_constant32(e, SN_THREAD_RARE_SAVED, call->saved);
    emit_rare_arguments(b, call);
    sn_emit_load_thread(e, SN_RSP, SN_THREAD_ENGINE_STACK);
    sn_emit_load_constant(e, SN_RAX, (uint64_t)(uintptr_t)call->function);
    sn_emit_bytes(e, "\xff\xd0", 2); /* call *%rax */
    sn_emit_load_thread(e, SN_RSP, SN_THREAD_KEPT + 8 * SN_RSP);
    sn_emit_store_thread_constant32(e, SN_THREAD_IN_FAST_CALL, 0);
    if (call->is_check) emit_rare_result(e, call->result);
    if (call->keeps_flags) {
        sn_emit_load_thread(e, SN_RAX, SN_THREAD_SAVED_FLAGS);
        sn_emit_bytes(e, "\x04\x7f\x9e", 3); /* add $0x7f, %al; sahf */
    }
    for (unsigned reg = 0; reg < 16; reg++)
        if (SN_CALLER_SAVED >> reg & 1) sn_emit_load_thread(e, reg, SN_THREAD_KEPT + 8 * reg);
}

static void emit_rare_call(builder *b, const rare_call *call) {
    begin(b, call);
    emit_call(b, call);
    sn_emit_jump(&b->e, call->back);
}

/** Go back where nothing is left of what was asked for. */
static void emit_asking_again(builder *b, const rare_call *call) {
    enum { NOT_EQUAL = 5 };
    sn_emitter *e = &b->e;
    uint64_t fields[2] = {0};
    emit_call(b, call);
    for (unsigned half = 0; half < 2; half++) {
        uint32_t tested = (uint32_t)(call->constants[0] >> 32 * half);
        if (!tested) continue;
        sn_emit_test_thread(e, call->asked + 4 * half, tested);
        fields[half] = sn_emit_jump_if(e, NOT_EQUAL);
    }
    sn_emit_jump(e, call->back);
    for (unsigned half = 0; half < 2 && !e->overflowed; half++)
        if (fields[half]) sn_patch_displacement(fields[half], sn_emit_address(e));
}

/** From the clean variant to the same place of the full one, which may be a block of its own. */
static void emit_leaving(builder *b, const rare_call *call) {
    begin(b, call);
    if (call->is_asked) emit_asking_again(b, call);
    sn_builder_restore(b, call->restored, call->saved_flags);
    if (!b->is_split) sn_emit_jump(&b->e, sn_label_address(call->label));
    else if (b->leaving[call->index]) sn_emit_jump(&b->e, b->leaving[call->index]);
    else b->leaving[call->index] = sn_emit_exit_to_full(b);
}

void sn_lower_rare_calls(builder *b) {
    for (unsigned i = 0; i < b->rare_count && !b->e.overflowed; i++) (b->rare[i].leaves ? emit_leaving : emit_rare_call)(b, &b->rare[i]);
}
