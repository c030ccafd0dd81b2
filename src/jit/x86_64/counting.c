/**
 * @fileoverview Code that counts: where a block's entry counters disturb least, iterations of repeated instructions, branches that are
 * taken; and the liveness of flags and registers that this needs. Per-architecture file, a part of the emitter (emit_parts.h).
 */
#include "jit/translate.h"
#include "jit/x86_64/emit_parts.h"

/* ---------------------------------------------------------------------------- liveness */

/** Flags that are live where the block is left at its end. */
static unsigned flags_at_end(const builder *b) {
    const sn_insn *last = &b->block->insns[b->block->count - 1];
    if (last->class == SN_INSN_JUMP || last->class == SN_INSN_CALL) return sn_flags_live_at(last->target);
    return last->class == SN_INSN_PLAIN || sn_insn_leaves_block(last) ? sn_flags_live_at(last->pc + last->length) : SN_FLAGS_ARITHMETIC;
}

void sn_builder_find_liveness(builder *b) {
    unsigned flags = flags_at_end(b), registers = 0xffff;
    b->live_flags[b->block->count] = (uint8_t)flags;
    b->live_registers[b->block->count] = (uint16_t)registers;
    for (unsigned i = b->block->count; i-- > 0;) {
        const sn_insn *insn = &b->block->insns[i];
        const sn_place_list *places = b->block->analysis.places[i];
        /* Analysis code reads registers, too, of which the client may not need what is in them: xor %rdx, %rdx does not. What is
           called behind or before the instruction may look at all of them, as client requests do. */
        bool leaves_after = sn_analysis_leaves(&b->block->analysis, &places[SN_WHEN_AFTER]);
        registers = leaves_after ? 0xffff : registers | sn_lower_registers_read(b, i, SN_WHEN_AFTER);
        b->live_registers[i + 1] = (uint16_t)registers;
        if (sn_insn_leaves_block(insn)) flags = SN_FLAGS_ARITHMETIC, registers = 0xffff;
        flags = (flags & ~(unsigned)insn->flags_written) | insn->flags_read;
        registers = (registers & ~insn->registers_written) | insn->registers_read | 1u << SN_RSP;
        /* A fault shows the state before. Stack accesses fault only when the stack overflows: nobody looks at the
           arithmetic flags then (taking that into account as well would cost count a tenth of its speed). */
        sn_fault_kind fault = sn_fault_kind_of(insn);
        if (fault != SN_FAULT_NONE || sn_analysis_leaves(&b->block->analysis, &places[SN_WHEN_BEFORE])) registers = 0xffff;
        registers |= sn_lower_registers_read(b, i, SN_WHEN_BEFORE) | sn_lower_registers_read(b, i, SN_WHEN_ENTERED);
        if (fault == SN_FAULT_ANY || sn_flags_are_kept()) flags = SN_FLAGS_ARITHMETIC;
        b->live_flags[i] = (uint8_t)flags;
        b->live_registers[i] = (uint16_t)registers;
    }
}

/* ---------------------------------------------------------------------------- counters */

/** Add to a counter without touching flags; `reg` may be overwritten, or is spilled to slot 0. */
static void count_with_register(builder *b, sn_counter_use use, unsigned reg, bool spill) {
    if (spill) sn_emit_store_thread(&b->e, reg, SPILL(0));
    sn_emit_load_thread(&b->e, reg, COUNTER(use.counter));
    sn_emit_add_displacement(&b->e, reg, reg, (int32_t)use.amount);
    sn_emit_store_thread(&b->e, reg, COUNTER(use.counter));
    if (spill) sn_emit_load_thread(&b->e, reg, SPILL(0));
}

static void count_with_flags(builder *b, sn_counter_use use) {
    if (use.amount == 1) sn_emit_increment_thread(&b->e, COUNTER(use.counter));
    else sn_emit_add_thread_constant(&b->e, COUNTER(use.counter), (int32_t)use.amount);
}

/** Flags that the code of count_with_flags destroys. */
static unsigned flags_of(sn_counter_use use) {
    return use.amount == 1 ? SN_FLAGS_ARITHMETIC & ~SN_FLAG_CARRY : SN_FLAGS_ARITHMETIC;
}

sn_counting_place sn_builder_find_counting_place(const builder *b) {
    unsigned needed = 0, last = 0;
    for (unsigned i = 0; i < b->block->entry_count; i++) needed |= flags_of(b->block->entry[i]);
    while (last + 1 < b->block->count && !sn_insn_leaves_block(&b->block->insns[last])) last++;
    for (unsigned i = 0; i <= last; i++)
        if (!(b->live_flags[i] & needed)) return (sn_counting_place){i, true, SN_NO_REGISTER};
    for (unsigned i = 0; i <= last; i++) {
        unsigned dead = ~(unsigned)b->live_registers[i] & 0xffff & ~(1u << SN_RSP);
        if (b->stretch.exists) dead &= ~(1u << b->stretch.pointer | 1u << b->stretch.scratch);
        if (dead) return (sn_counting_place){i, false, (unsigned)__builtin_ctz(dead)};
    }
    return (sn_counting_place){0, false, SN_NO_REGISTER};
}

void sn_emit_entry_counters(builder *b, const sn_counting_place *where, uint64_t client) {
    bool spill = where->reg == SN_NO_REGISTER && !where->by_flags;
    unsigned reg = spill ? SN_RAX : where->reg;
    sn_builder_place(b, SN_PLACE_INSIDE, client, spill ? SN_SPILLED(SN_RAX, SN_NOTHING_SPILLED) : NOTHING_SPILLED);
    if (spill) sn_emit_store_thread(&b->e, reg, SPILL(0));
    for (unsigned i = 0; i < b->block->entry_count; i++) {
        if (where->by_flags) count_with_flags(b, b->block->entry[i]);
        else count_with_register(b, b->block->entry[i], reg, false);
    }
    if (spill) sn_emit_load_thread(&b->e, reg, SPILL(0));
    sn_analysis_record_at(b->analysis)->counted_from = (uint16_t)(sn_emit_address(&b->e) - b->record->start);
}

/** Before a repeated instruction: iterations += count; empty += (count == 0). */
void sn_emit_before_iterations(builder *b, unsigned index) {
    const sn_iteration_use *use = &b->block->iterations[index];
    sn_builder_place(b, SN_PLACE_INSIDE, b->block->insns[index].pc, SN_SPILLED(SN_RAX, SN_NOTHING_SPILLED));
    sn_emit_store_thread(&b->e, SN_RAX, SPILL(0));
    sn_emit_load_thread(&b->e, SN_RAX, COUNTER(use->iterations));
    sn_emit_add_registers(&b->e, SN_RAX, SN_RAX, SN_RCX);
    sn_emit_store_thread(&b->e, SN_RAX, COUNTER(use->iterations));
    sn_emit_bytes(&b->e, "\xe3\x02\xeb\x00", 4); /* jrcxz over the next jump; jmp behind the counting */
    uint8_t *skip = b->e.cursor;
    count_with_register(b, (sn_counter_use){use->empty, 1}, SN_RAX, false);
    if (!b->e.overflowed) skip[-1] = (uint8_t)(b->e.cursor - skip);
    sn_emit_load_thread(&b->e, SN_RAX, SPILL(0));
}

/** After it: iterations -= count, by adding the complement and 1, which leaves the flags alone. */
void sn_emit_after_iterations(builder *b, unsigned index) {
    const sn_iteration_use *use = &b->block->iterations[index];
    const sn_insn *insn = &b->block->insns[index];
    sn_builder_place(b, SN_PLACE_INSIDE, insn->pc + insn->length, SN_SPILLED(SN_RAX, SN_RDX));
    sn_emit_store_thread(&b->e, SN_RAX, SPILL(0));
    sn_emit_store_thread(&b->e, SN_RDX, SPILL(1));
    sn_emit_load_thread(&b->e, SN_RAX, COUNTER(use->iterations));
    sn_emit_move(&b->e, SN_RDX, SN_RCX);
    sn_emit_bytes(&b->e, "\x48\xf7\xd2", 3); /* not %rdx */
    sn_emit_add_registers(&b->e, SN_RAX, SN_RAX, SN_RDX);
    sn_emit_add_displacement(&b->e, SN_RAX, SN_RAX, 1);
    sn_emit_store_thread(&b->e, SN_RAX, COUNTER(use->iterations));
    sn_emit_load_thread(&b->e, SN_RDX, SPILL(1));
    sn_emit_load_thread(&b->e, SN_RAX, SPILL(0));
}

void sn_emit_taken_counter(builder *b, sn_counter_use use, unsigned live_flags) {
    bool by_flags = !(live_flags & flags_of(use));
    sn_builder_place(b, SN_PLACE_INSIDE, b->block->address, by_flags ? NOTHING_SPILLED : SN_SPILLED(SN_RAX, SN_NOTHING_SPILLED));
    if (by_flags) count_with_flags(b, use);
    else count_with_register(b, use, SN_RAX, true);
}
