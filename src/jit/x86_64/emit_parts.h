/**
 * @fileoverview The parts of the emitter: what their files offer to emit_block.c and to each other.
 *
 * places.c keeps the map of places, exits.c the ways out, counting.c and countdown.c count, relocate.c rewrites operands, branches.c branches,
 * system.c system calls, self_check.c compares code. All under sn_jit_lock. Per-architecture file.
 */
#ifndef SONDE_JIT_X86_64_EMIT_PARTS_H
#define SONDE_JIT_X86_64_EMIT_PARTS_H

#include "jit/x86_64/builder.h"

/** The client is at, or inside of, the instruction at an address. */
static inline void sn_builder_inside(builder *b, uint64_t client) {
    sn_builder_place(b, SN_PLACE_INSIDE, client, NOTHING_SPILLED);
}
static inline void sn_builder_boundary(builder *b, uint64_t client) {
    sn_builder_place(b, SN_PLACE_BOUNDARY, client, NOTHING_SPILLED);
}

/** Whether the instruction may leave the block in its middle. */
static inline bool sn_insn_leaves_block(const sn_insn *insn) {
    return insn->class == SN_INSN_CONDITIONAL || insn->class == SN_INSN_LOOP || insn->class == SN_INSN_TRANSACTION_BEGIN;
}

/* --------------------------------------------------------------------------- exits.c */

/** Padding before a patchable field, `lead` bytes behind the cursor, if it needs any. */
void sn_builder_align_patchable(builder *b, unsigned lead, uint64_t client);
/** The displacement that was just emitted (4 bytes before the cursor) leads out of the block by an exit. */
void sn_builder_open_exit(builder *b, uint32_t number, sn_counter_use taken);
/** A jump out of the block. `client`: where the client is when it is reached. Returns the exit's number. */
uint32_t sn_emit_jump_to_client(builder *b, uint64_t client, uint64_t target);
/** An exit that the dispatcher treats specially: never linked. */
void sn_emit_special_exit(builder *b, uint64_t client, uint32_t marker);
/** The way into the full variant, where that is a block of its own: the client is at the current instruction, what is done in front of
    the label there is done. Returns the address of the jump. */
uint64_t sn_emit_exit_to_full(builder *b);
/** What the displacements of all open exits lead to until they are linked. */
void sn_emit_stubs(builder *b);

/* ------------------------------------------------------------------------ counting.c */

/** Before which instruction of the first segment the entry counters disturb least, and by which form of code. */
typedef struct sn_counting_place {
    unsigned index;
    bool by_flags;
    unsigned reg; /**< a dead register; SN_NO_REGISTER: spill */
} sn_counting_place;

/** Fill live_flags and live_registers of the builder. */
void sn_builder_find_liveness(builder *b);
sn_counting_place sn_builder_find_counting_place(const builder *b);
void sn_emit_entry_counters(builder *b, const sn_counting_place *where, uint64_t client);
/** Around the repeated instruction at `index`. */
void sn_emit_before_iterations(builder *b, unsigned index);
void sn_emit_after_iterations(builder *b, unsigned index);
/** On the way out by a branch that is taken, behind which `live_flags` are live. */
void sn_emit_taken_counter(builder *b, sn_counter_use use, unsigned live_flags);

/* ----------------------------------------------------------------------- countdown.c */

/** Before which instruction of the first segment the thread's instructions are counted down, and how. */
typedef struct sn_countdown_place {
    unsigned index;
    bool by_flags; /**< they are dead there */
} sn_countdown_place;

/** The liveness must have been found. */
sn_countdown_place sn_builder_find_countdown_place(const builder *b);
void sn_emit_countdown(builder *b, const sn_countdown_place *where);
/** Behind the block: where it is left when nothing is left. */
void sn_emit_countdown_stub(builder *b);

/* ------------------------------------------------------------------------ relocate.c */

/** An instruction that changes nothing but registers and memory: its own bytes, or others that do the same. */
void sn_emit_plain(builder *b, const sn_insn *insn);
/** Whether its memory operand may be used from the cache. */
bool sn_builder_can_stay(const builder *b, const sn_insn *insn);
/** Prefixes and REX for an instruction of ours that uses the client's memory operand. */
void sn_emit_memory_prefixes(builder *b, const sn_insn *insn, bool keep_segment, unsigned reg);
/** ModRM, SIB and displacement of the client's memory operand with another register field. */
void sn_emit_memory_operand(builder *b, const sn_insn *insn, unsigned reg);
/** scratch = address of the client's operand in the flat address space, its second register being free for use */
void sn_emit_flat_address(builder *b, const sn_insn *insn, unsigned scratch, unsigned second);

/* ------------------------------------------------------------------------ branches.c */

/** What an indirect branch that arrives for `client` finds first. */
void sn_emit_arrival(builder *b, uint64_t client);
void sn_emit_conditional(builder *b, unsigned index);
void sn_emit_loop(builder *b, unsigned index);
void sn_emit_call(builder *b, unsigned index);
void sn_emit_indirect(builder *b, unsigned index);
void sn_emit_return(builder *b, unsigned index);

/* ---------------------------------------------------------------- system.c, self_check.c */

void sn_emit_system_call(builder *b, unsigned index);
void sn_emit_segment_base(builder *b, unsigned index);
/** At the entry: leave the block if the client's code is another one by now. */
void sn_emit_checks(builder *b);

#endif
