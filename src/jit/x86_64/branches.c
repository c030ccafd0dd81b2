/**
 * @fileoverview Branches, calls and returns: how they become jumps of the cache. Per-architecture file, a part of the emitter
 * (emit_parts.h).
 */
#include "jit/cache.h"
#include "jit/layout.h"
#include "jit/translate.h"
#include "jit/versions.h"
#include "jit/x86_64/emit_parts.h"

/** mov $value, offset(%rsp) */
static void emit_store_on_stack(builder *b, int8_t offset, uint32_t value) {
    sn_emit_bytes(&b->e, "\x48\xc7\x44\x24", 4);
    sn_emit8(&b->e, (uint8_t)offset);
    sn_emit32(&b->e, value);
}

/** An indirect branch arrives for `client`. A predicted return has put a cache address into the dead stack slot that it
    popped: there must be what the client's own return leaves there. */
void sn_emit_arrival(builder *b, uint64_t client) {
    sn_builder_place(b, SN_PLACE_INSIDE, client, SN_SPILLED(SN_BRANCH_SPILLED, SN_NOTHING_SPILLED));
    if (sn_returns_are_predicted() && client <= INT32_MAX) {
        sn_emit_bytes(&b->e, "\x65\x8b\x0c\x25", 4); /* mov by_return, %ecx */
        sn_emit32(&b->e, SN_THREAD_BY_RETURN);
        sn_emit_bytes(&b->e, "\xe3\x09", 2); /* jrcxz over the store */
        emit_store_on_stack(b, -8, (uint32_t)client);
    }
    sn_emit_load_thread(&b->e, BRANCH_REGISTER, SN_THREAD_BRANCH_SPILL);
}

/* --------------------------------------------------------------- conditional branches */

void sn_emit_conditional(builder *b, unsigned index) {
    const sn_insn *insn = &b->block->insns[index];
    sn_builder_align_patchable(b, 2, insn->pc);
    sn_builder_boundary(b, insn->pc);
    if (insn->class == SN_INSN_TRANSACTION_BEGIN) sn_emit_bytes(&b->e, "\xc7\xf8", 2);
    else sn_emit8(&b->e, 0x0f), sn_emit8(&b->e, (uint8_t)(0x80 | insn->condition));
    sn_emit32(&b->e, 0);
    sn_builder_open_exit(b, sn_exit_new(b->number, insn->target), b->block->taken[index]);
    b->open[b->open_count - 1].is_branch = true;
}

/** loop and jrcxz have a short form only: they jump over a jump. */
void sn_emit_loop(builder *b, unsigned index) {
    const sn_insn *insn = &b->block->insns[index];
    unsigned prefixed = insn->length - 2u;
    sn_builder_align_patchable(b, prefixed + 5, insn->pc);
    sn_builder_boundary(b, insn->pc);
    sn_emit_bytes(&b->e, insn->bytes, insn->length - 1u);
    sn_emit8(&b->e, 2);
    sn_builder_inside(b, insn->pc);
    sn_emit_bytes(&b->e, "\xeb\x05\xe9", 3);
    sn_emit32(&b->e, 0);
    sn_builder_open_exit(b, sn_exit_new(b->number, insn->target), b->block->taken[index]);
    b->open[b->open_count - 1].is_branch = true;
}

/* ------------------------------------------------------- calls, indirect branches, returns */

static void emit_push_return(builder *b, uint64_t client, uint64_t value, bool branch_spilled) {
    sn_indirect_expect(value);
    sn_versions_note_return(value);
    if ((uint64_t)(int64_t)(int32_t)value == value) {
        sn_emit8(&b->e, 0x68);
        sn_emit32(&b->e, (uint32_t)value);
        return;
    }
    unsigned reg = branch_spilled ? SN_RAX : SN_RCX;
    sn_emit_store_thread(&b->e, reg, SPILL(0));
    sn_builder_place(b, SN_PLACE_INSIDE, client, SN_SPILLED(reg, SN_NOTHING_SPILLED));
    sn_emit_load_constant(&b->e, reg, value);
    sn_emit8(&b->e, (uint8_t)(0x50 | reg));
    sn_emit_load_thread(&b->e, reg, SPILL(0));
}

/** Whether the block is a call whose return the processor is to predict. */
static bool predicts_return(const builder *b) {
    const sn_insn *insn = &b->block->insns[0];
    return b->block->count == 1 && sn_translates_alone(insn) && !b->block->far && !b->block->version;
}

/**
 * Push the return address by a call of our own, so that the processor predicts the return, which emit_return makes by
 * a return (see sn_returns_are_predicted()). It arrives at the landing, behind the call.
 */
static void emit_predicted_push(builder *b, const sn_insn *insn, bool branch_spilled) {
    uint64_t next = insn->pc + insn->length;
    uint8_t spilled = branch_spilled ? SN_SPILLED(SN_BRANCH_SPILLED, SN_NOTHING_SPILLED) : NOTHING_SPILLED;
    sn_emit8(&b->e, 0xe8);
    uint64_t field = sn_emit_address(&b->e);
    sn_emit32(&b->e, 0);
    b->record->landing = (uint32_t)sn_emit_address(&b->e);
    b->record->landing_delta = insn->length;
    sn_emit_arrival(b, next);
    sn_emit_jump_to_client(b, next, next);
    if (!b->e.overflowed) sn_patch_displacement(field, sn_emit_address(&b->e));
    sn_builder_place(b, SN_PLACE_INSIDE, insn->pc, spilled);
    emit_store_on_stack(b, 0, (uint32_t)next);
}

static void emit_push(builder *b, const sn_insn *insn, bool branch_spilled) {
    if (predicts_return(b)) emit_predicted_push(b, insn, branch_spilled);
    else emit_push_return(b, insn->pc, insn->pc + insn->length, branch_spilled);
}

void sn_emit_call(builder *b, unsigned index) {
    const sn_insn *insn = &b->block->insns[index];
    sn_builder_boundary(b, insn->pc);
    emit_push(b, insn, false);
}

static void emit_note_return(builder *b, bool by_return) {
    if (sn_returns_are_predicted()) sn_emit_store_thread_constant32(&b->e, SN_THREAD_BY_RETURN, by_return);
}

static void emit_table_jump(builder *b, uint64_t client) {
    emit_note_return(b, false);
    if (b->block->version) sn_emit_add_displacement(&b->e, BRANCH_REGISTER, BRANCH_REGISTER, SN_TABLE_DISTANCE);
    sn_builder_place(b, SN_PLACE_INDIRECT, client, NOTHING_SPILLED);
    sn_emit_bytes(&b->e, "\xff\x24\xcd", 3);
    sn_emit32(&b->e, (uint32_t)SN_TABLE_BASE);
}

bool sn_builder_can_take_branch_register(builder *b, const sn_insn *insn) {
    if (insn->class == SN_INSN_RETURN) return true;
    if (insn->class != SN_INSN_JUMP_INDIRECT && insn->class != SN_INSN_CALL_INDIRECT) return false;
    return !(insn->registers_read >> BRANCH_REGISTER & 1) && (!insn->memory || sn_builder_can_stay(b, insn));
}

/** Branch register = the target of an indirect jump or call. */
static void emit_load_target(builder *b, const sn_insn *insn) {
    uint8_t modrm = insn->bytes[insn->modrm_offset];
    if (!insn->memory) {
        unsigned reg = (modrm & 7u) | (insn->rex_offset && insn->bytes[insn->rex_offset - 1] & 1 ? 8u : 0u);
        if (reg != BRANCH_REGISTER) sn_emit_move(&b->e, BRANCH_REGISTER, reg);
        return;
    }
    if (sn_builder_can_stay(b, insn)) {
        sn_emit_memory_prefixes(b, insn, true, BRANCH_REGISTER);
        sn_emit8(&b->e, 0x8b);
        sn_emit_memory_operand(b, insn, BRANCH_REGISTER);
        return;
    }
    sn_builder_place(b, SN_PLACE_INSIDE, insn->pc, SN_SPILLED(BRANCH_REGISTER, SN_RAX));
    sn_emit_store_thread(&b->e, BRANCH_REGISTER, SPILL(0));
    sn_emit_store_thread(&b->e, SN_RAX, SPILL(1));
    sn_emit_flat_address(b, insn, BRANCH_REGISTER, SN_RAX);
    sn_emit_load_thread(&b->e, SN_RAX, SPILL(1));
    sn_emit_bytes(&b->e, "\x48\x8b\x09", 3); /* mov (%rcx), %rcx */
}

/** Save the client's branch register, if analysis code has not left it saved. */
static void save_branch_register(builder *b, const sn_insn *insn) {
    if (b->branch_saved) {
        sn_builder_place(b, SN_PLACE_INSIDE, insn->pc, SN_SPILLED(SN_BRANCH_SPILLED, SN_NOTHING_SPILLED));
        b->branch_saved = false;
        return;
    }
    sn_builder_boundary(b, insn->pc);
    sn_emit_store_thread(&b->e, BRANCH_REGISTER, SN_THREAD_BRANCH_SPILL);
    sn_builder_inside(b, insn->pc);
}

void sn_emit_indirect(builder *b, unsigned index) {
    const sn_insn *insn = &b->block->insns[index];
    save_branch_register(b, insn);
    emit_load_target(b, insn);
    if (insn->class == SN_INSN_CALL_INDIRECT) {
        /* The push may fault with the target already in the branch register. */
        sn_builder_place(b, SN_PLACE_INSIDE, insn->pc, SN_SPILLED(SN_BRANCH_SPILLED, SN_NOTHING_SPILLED));
        emit_push(b, insn, true);
    }
    emit_table_jump(b, insn->pc);
}

void sn_emit_return(builder *b, unsigned index) {
    const sn_insn *insn = &b->block->insns[index];
    save_branch_register(b, insn);
    sn_emit8(&b->e, 0x59); /* pop %rcx */
    if (insn->return_pop) {
        sn_emit_bytes(&b->e, "\x48\x8d\xa4\x24", 4); /* lea pop(%rsp), %rsp */
        sn_emit32(&b->e, insn->return_pop);
    }
    if (insn->return_pop || b->block->far || b->block->version || !sn_returns_are_predicted()) {
        emit_table_jump(b, insn->pc);
        return;
    }
    emit_note_return(b, true);
    sn_builder_place(b, SN_PLACE_INDIRECT, insn->pc, NOTHING_SPILLED);
    sn_emit_bytes(&b->e, "\xff\x34\xcd", 3); /* push table(,%rcx,8) */
    sn_emit32(&b->e, (uint32_t)SN_TABLE_BASE);
    sn_builder_inside(b, insn->pc);
    sn_emit8(&b->e, 0xc3);
}
