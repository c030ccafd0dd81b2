/**
 * @fileoverview The emitter: copies a block's instructions into the code cache and rewrites the few that must not run
 * as they are. Per-architecture file; called by jit/translate.c.
 *
 * What runs in the cache, instruction by instruction:
 *  - most instructions: their own bytes; RIP-relative displacements are adjusted (the cache is within 2 GiB);
 *  - direct branches: a jump with a patchable displacement to a stub, later to the target's block;
 *  - calls: push the client's return address, then a jump;
 *  - indirect branches and returns: the target goes to %rcx (spilled), then `jmp *table(,%rcx,8)`; the block that it
 *    reaches reloads %rcx at its indirect entry;
 *    where the code has two versions (jit/versions.h), those of the second add SN_TABLE_DISTANCE to it before;
 *  - system calls: passed through unless the table of numbers says that the engine carries them out;
 *  - operands through the second segment base, and RIP-relative ones out of reach: through a scratch register.
 * The map of places that is written along says, for every byte, what client state it stands for. This file puts blocks together;
 * emit_parts.h names the files of the parts.
 */
#include <string.h>

#include "base/settings.h"
#include "isa/x86_64/features.h"
#include "jit/cache.h"
#include "jit/translate.h"
#include "jit/x86_64/emit_parts.h"

/* ------------------------------------------------------------------------ instructions */

/** What the operand would be does not matter: it is never looked at. */
static void emit_trap(builder *b, unsigned index) {
    const sn_insn *insn = &b->block->insns[index];
    sn_builder_place(b, SN_PLACE_VERBATIM, insn->pc, NOTHING_SPILLED);
    sn_emit_bytes(&b->e, insn->bytes, insn->length);
}

static void emit_counted(builder *b, unsigned index) {
    bool counts = b->block->iterations[index].present;
    if (counts) sn_emit_before_iterations(b, index);
    sn_emit_plain(b, &b->block->insns[index]);
    if (counts) sn_emit_after_iterations(b, index);
}

/** It is the way out at the block's end, or inside. */
static void emit_nothing(builder *b, unsigned index) {
    (void)b;
    (void)index;
}

/** Nothing that a client does on Linux: the dispatcher says so. */
static void emit_refusal(builder *b, unsigned index) { sn_emit_special_exit(b, b->block->insns[index].pc, SN_MARK_REFUSED); }

static void emit_interrupt(builder *b, unsigned index) {
    enum { OLD_SYSTEM_CALL = 0x80 };
    const sn_insn *insn = &b->block->insns[index];
    if (insn->interrupt_number == OLD_SYSTEM_CALL) emit_refusal(b, index);
    else sn_emit_plain(b, insn);
}

/** swapgs faults wherever it runs. */
static bool is_privileged(const sn_insn *insn) {
    return insn->bytes[insn->opcode_offset] == 0x0f && insn->bytes[insn->opcode_offset + 1] == 0x01;
}

static void emit_segment_change(builder *b, unsigned index) {
    const sn_insn *insn = &b->block->insns[index];
    if (is_privileged(insn)) sn_emit_plain(b, insn);
    else emit_refusal(b, index);
}

static void (*const emitters[])(builder *b, unsigned index) = {
    [SN_INSN_PLAIN] = emit_counted,
    [SN_INSN_JUMP] = emit_nothing,
    [SN_INSN_CONDITIONAL] = sn_emit_conditional,
    [SN_INSN_TRANSACTION_BEGIN] = sn_emit_conditional,
    [SN_INSN_LOOP] = sn_emit_loop,
    [SN_INSN_CALL] = sn_emit_call,
    [SN_INSN_JUMP_INDIRECT] = sn_emit_indirect,
    [SN_INSN_CALL_INDIRECT] = sn_emit_indirect,
    [SN_INSN_RETURN] = sn_emit_return,
    [SN_INSN_SYSCALL] = sn_emit_system_call,
    [SN_INSN_READ_SEGMENT_BASE] = sn_emit_segment_base,
    [SN_INSN_WRITE_SEGMENT_BASE] = sn_emit_segment_base,
    [SN_INSN_BREAKPOINT] = emit_trap,
    [SN_INSN_UNDEFINED] = emit_trap,
    [SN_INSN_INTERRUPT] = emit_interrupt,
    [SN_INSN_WRITE_SEGMENT] = emit_segment_change,
    [SN_INSN_FAR_BRANCH] = emit_refusal,
};

static void emit_instruction(builder *b, unsigned index) { emitters[b->block->insns[index].class](b, index); }

/* ----------------------------------------------------------------------- whole blocks */

/** The way out at the block's end. */
static void emit_end(builder *b) {
    const sn_insn *last = &b->block->insns[b->block->count - 1];
    uint64_t next = last->pc + last->length;
    if (last->class == SN_INSN_JUMP) {
        /* The code before it has run, and must not run again for a signal at the jump. */
        b->committed = b->analysis && sn_builder_first(b, b->block->count - 1, SN_WHEN_BEFORE);
        sn_emit_jump_to_client(b, last->pc, last->target);
        b->committed = false;
    }
    if (b->analysis)
        sn_analysis_record_at(b->analysis)->body_end = (uint16_t)(sn_emit_address(&b->e) - b->record->start);
    switch (last->class) {
    case SN_INSN_JUMP:
        break;
    case SN_INSN_CALL:
        sn_exit_record_at(sn_emit_jump_to_client(b, last->target, last->target))->is_noted_call = b->block->call_is_noted;
        break;
    case SN_INSN_JUMP_INDIRECT:
    case SN_INSN_CALL_INDIRECT:
    case SN_INSN_RETURN:
    case SN_INSN_WRITE_SEGMENT:
    case SN_INSN_FAR_BRANCH:
        break;
    default:
        sn_emit_jump_to_client(b, next, next);
    }
}

/** Counters of branches that have other code where they are taken become part of it: what it needs is saved once. */
static void join_taken_counters(sn_block *block) {
    for (unsigned i = 0; i < block->count; i++) {
        sn_counter_use *use = &block->taken[i];
        if (!use->amount || !block->analysis.places[i][SN_WHEN_TAKEN].first) continue;
        sn_insert_taken(block, i);
        sn_count(block, use->counter, sn_constant(block, use->amount));
        use->amount = 0;
    }
}

static void start_analysis(builder *b) {
    sn_block *block = b->block;
    join_taken_counters(block);
    b->analysis = sn_analysis_new(block);
    b->record->analysis = b->analysis;
    sn_builder_find_liveness(b);
    sn_analysis_cut(&b->block->analysis);
    sn_lower_plan(b);
}

/** What only those run who do not come by a noted call. The state stays that of the first instruction's boundary. */
static void emit_at_entry(builder *b) {
    if (!b->block->analysis.places[0][SN_WHEN_ENTERED].first) return;
    sn_builder_boundary(b, b->block->address);
    sn_lower_place(b, 0, SN_WHEN_ENTERED);
    b->record->called_entry = (uint32_t)sn_emit_address(&b->e);
    sn_builder_boundary(b, b->block->address);
}

/** An instruction with the analysis code around it. */
static void emit_analysed(builder *b, unsigned index) {
    if (sn_builder_first(b, index, SN_WHEN_BEFORE)) {
        /* The state before the instruction ends here: what follows has been told of it. */
        sn_builder_boundary(b, b->block->insns[index].pc);
        sn_lower_place(b, index, SN_WHEN_BEFORE);
        b->committed = true;
    }
    bool last = b->stretch.exists && index == b->stretch.last;
    if (last && b->stretch.before_only) sn_lower_unpin(b);
    emit_instruction(b, index);
    b->committed = false;
    b->current = index + 1; /* the client is behind it now */
    sn_lower_place(b, index, SN_WHEN_AFTER);
    if (last && !b->stretch.left) sn_lower_unpin(b);
}

/** --debug-break-block: a register is off by one from here on. */
static void emit_mistake(builder *b, uint64_t client) {
    sn_builder_inside(b, client);
    sn_emit_add_displacement(&b->e, SN_RBX, SN_RBX, 1);
}

/** Whether the block gets a clean variant: where its code counts nothing, which would be done twice where it is left. */
static bool has_clean_variant(const builder *b) {
    return b->analysis && b->block->analysis.has_clean && !b->block->entry_count && !b->block->counts_down && !b->stretch.exists && sn_features_flagless_shifts();
}

/** The block's instructions and its way out. */
static void emit_variant(builder *b, uint8_t variant, const sn_counting_place *counting, const sn_countdown_place *countdown) {
    sn_block *block = b->block;
    b->variant = variant;
    for (unsigned i = 0; i < block->count; i++) {
        b->current = i;
        if (b->analysis) sn_lower_pin(b);
        if (countdown->index == i) sn_emit_countdown(b, countdown);
        if (counting->index == i) sn_emit_entry_counters(b, counting, block->insns[i].pc);
        if (i + 1 == block->count && b->number == sn_settings_current.break_block) emit_mistake(b, block->insns[i].pc);
        if (b->analysis) emit_analysed(b, i);
        else emit_instruction(b, i);
    }
    b->current = block->count - 1;
    emit_end(b);
}

/** Where the clean variant, a block of its own, is to arrive. */
static void note_labels(builder *b) {
    const sn_analysis *analysis = &b->block->analysis;
    uint16_t *labels = sn_analysis_labels(sn_analysis_record_at(b->analysis));
    for (unsigned index = 0; index < b->block->count; index++)
        for (unsigned at = analysis->places[index][SN_WHEN_BEFORE].first; at; at = analysis->operations[at].next) {
            const sn_operation *operation = &analysis->operations[at];
            bool is_arrival = operation->kind == SN_OPERATION_LABEL && operation->variants && analysis->labels[operation->number].is_entered;
            if (is_arrival) labels[index] = (uint16_t)(sn_label_address(operation->number) - b->record->start);
        }
}

bool sn_emit_block(sn_block *block, uint32_t number) {
    static builder state;
    builder *b = &state;
    memset(b, 0, offsetof(builder, rare));
    size_t room;
    uint8_t *start = sn_cache_cursor(&room);
    b->e = (sn_emitter){.start = start, .cursor = start, .limit = start + (room < 0xf000 ? room : 0xf000)};
    b->block = block;
    sn_lower_begin(block);
    b->number = number;
    b->record = sn_block_record_at(number);
    b->record->start = (uint32_t)(uint64_t)start;

    sn_emit_arrival(b, block->address);
    b->record->entry = (uint32_t)sn_emit_address(&b->e);
    b->variant = SN_VARIANT_BOTH; /* for liveness */
    sn_counting_place counting = {block->count, false, SN_NO_REGISTER};
    if (block->instrumented) start_analysis(b);
    if (block->entry_count) counting = sn_builder_find_counting_place(b);
    sn_countdown_place countdown = {block->count, false};
    if (block->counts_down) {
        if (!b->analysis) sn_builder_find_liveness(b);
        countdown = sn_builder_find_countdown_place(b);
    }
    b->variant = SN_VARIANT_FULL; /* of the entry both are alike */
    if (b->analysis) emit_at_entry(b);
    if (block->checks_itself) sn_emit_checks(b);
    bool has_clean = has_clean_variant(b);
    block->must_be_whole = block->lacks_full && !has_clean;
    if (block->must_be_whole) return false;
    b->is_split = has_clean && block->is_split;
    if (has_clean && !block->is_full) emit_variant(b, SN_VARIANT_CLEAN, &counting, &countdown);
    if (!b->is_split) emit_variant(b, SN_VARIANT_FULL, &counting, &countdown);
    if (block->is_full && !b->e.overflowed) note_labels(b);
    sn_emit_stubs(b);
    if (block->counts_down) sn_emit_countdown_stub(b);
    sn_lower_rare_calls(b);
    if (b->e.overflowed) return false;
    b->record->size = (uint32_t)(b->e.cursor - start);
    sn_cache_commit(b->e.cursor);
    if (b->record->landing) sn_indirect_land(block->version, block->address + b->record->landing_delta, b->record->landing);
    return true;
}
