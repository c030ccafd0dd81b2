/**
 * @fileoverview A block under construction in the code cache: what the emitter (emit_parts.h) and lower.c share.
 *
 * One exists at a time, under sn_jit_lock. Per-architecture file.
 */
#ifndef SONDE_JIT_X86_64_BUILDER_H
#define SONDE_JIT_X86_64_BUILDER_H

#include "isa/x86_64/emit.h"
#include "jit/block.h"
#include "jit/insert.h"
#include "jit/thread_offsets.h"

#define SPILL(n) (SN_THREAD_SPILL + 8 * (n))
#define NOTHING_SPILLED SN_SPILLED(SN_NOTHING_SPILLED, SN_NOTHING_SPILLED)
#define COUNTER(n) ((uint32_t)(SN_THREAD_COUNTERS + 8 * (n)))
#define SAVED(reg) ((uint32_t)(SN_THREAD_SAVED + 8 * (reg)))
/** The register that indirect branches have their target in. The client's value lies where analysis code saves it, too. */
#define BRANCH_REGISTER SN_RCX
_Static_assert(SN_THREAD_BRANCH_SPILL == SN_THREAD_SAVED + 8 * BRANCH_REGISTER, "one place for both");

/** Two registers that a stretch of the block's instructions leave alone hold the place of the trace's next record, and
    what is computed for it. The client's values of both are saved. */
typedef struct pinning {
    bool on;
    uint8_t pointer, scratch;
    uint8_t trace;
    bool moved;       /**< `pointer` is not what the thread's memory says */
    uint16_t pending; /**< bytes appended behind `pointer` */
} pinning;

/** Where the stretch begins and ends: before the analysis code of instruction `first`, behind that after `last`. */
typedef struct pinned_stretch {
    bool exists;
    unsigned first, last;
    bool before_only; /**< the last instruction itself cannot be inside */
    bool entered;     /**< it begins with the block, and can be entered with the registers pinned */
    bool left;        /**< it reaches to the block's end, which can be left with the registers pinned */
    uint8_t pointer, scratch, trace;
} pinned_stretch;

/** An exit whose stub is still to be written. */
typedef struct open_exit {
    uint32_t number;
    uint64_t field;   /**< address of the displacement that leads to the stub */
    sn_counter_use taken;
    bool is_branch;   /**< of the conditional branch at `index` */
    unsigned index;
    uint8_t variant;  /**< of the block, in which it is */
    pinning pin;      /**< in force at the branch */
} open_exit;

/** Code that counts down has been written, its stub is still to be. */
typedef struct countdown {
    uint64_t field;   /**< address of the displacement that leads to the stub */
    unsigned index;   /**< of the instruction that it stands before */
    bool by_flags;
    pinning pin;      /**< in force there */
} countdown;

/** In fields that name a register: none. */
#define NO_REGISTER 0xff

/** Caller-saved registers of the System V convention. */
#define SN_CALLER_SAVED 0x0fc7

#define SN_MOST_RARE_CALLS 512

/** A fast call that rarely happens, whose code is still to be written: behind everything else of the block. */
typedef struct rare_call {
    uint64_t field;       /**< address of the displacement that leads there */
    uint64_t back;        /**< where it goes on */
    void *function;
    uint64_t data;
    uint64_t constants[2];/**< the values that were compared, or */
    uint8_t registers[2]; /**< where they are; 0xff: constant */
    unsigned index;       /**< of the instruction */
    uint16_t saved;       /**< registers whose client values have been saved */
    bool saved_flags;
    bool keeps_flags;     /**< they are the client's, and needed */
    bool is_check;        /**< of SN_OPERATION_CHECK: */
    uint8_t result;       /**< where the function's result goes */
    bool leaves;          /**< no call, but the way from the clean variant to the full one, at `label`: */
    bool is_probe;        /**< of SN_OPERATION_PROBE: the function gets the address of `operand` */
    bool is_asked;        /**< of SN_OPERATION_ASK, with a function: where it has cleared these bits (constants[0]) of the thread's */
    uint32_t asked;       /**< state, here, it goes back */
    uint16_t restored;    /**< registers that the client gets back */
    uint16_t label;
    uint16_t operand;
    pinning pin;          /**< in force there */
} rare_call;

typedef struct builder {
    sn_emitter e;
    sn_block *block;
    sn_block_record *record;
    uint32_t number;
    uint32_t analysis;
    unsigned open_count;
    open_exit open[2 * (SN_MOST_INSTRUCTIONS + 2)];
    countdown countdown;
    unsigned rare_count;
    sn_place last;
    bool has_last;
    unsigned current; /**< instruction that is being emitted */
    bool branch_saved; /**< the client's branch register has been saved already for the instruction that comes */
    bool committed;   /**< analysis code has run for it: the state before it is no boundary any more */
    bool is_split;    /**< the full variant is not in this block: the clean one leaves it by exits, */
    uint64_t leaving[SN_MOST_INSTRUCTIONS]; /**< each once for an instruction: the jumps' addresses; 0: none yet */
    uint8_t variant;  /**< SN_VARIANT_*: which one is being emitted */
    pinning pin;
    pinned_stretch stretch;
    /* What follows is not cleared for each block. */
    rare_call rare[SN_MOST_RARE_CALLS];
    uint8_t live_flags[SN_MOST_INSTRUCTIONS + 1];
    uint16_t live_registers[SN_MOST_INSTRUCTIONS + 1];
} builder;

/** What the code from here on means for a reader of the program counter. */
void sn_builder_place(builder *b, sn_place_kind kind, uint64_t client, uint8_t spilled);

/** Whether the last row is a boundary at this very byte: a row of analysis code here would hide it, and a loop all of
    whose instructions have such code would never reach one. */
bool sn_builder_at_boundary(const builder *b);

/** The same inside analysis code: `saved`: registers whose client values are in the thread's saved registers. */
void sn_builder_analysis_place(builder *b, uint16_t saved, bool saved_flags);

/** The same where it reads the client's memory. */
void sn_builder_reading_place(builder *b, uint16_t saved, bool saved_flags);
/** The same for a store that is left out where it faults; the row holds until the next one. */
void sn_builder_storing_place(builder *b, uint16_t saved, bool saved_flags);

/** Whether the branch register may be left saved for an instruction, which uses it itself and does not read it. */
bool sn_builder_can_take_branch_register(builder *b, const sn_insn *insn);

/** The first operation at a place in the variant that is being emitted; 0: none. */
unsigned sn_builder_first(const builder *b, unsigned index, sn_when when);
/** Give the client back registers, and its flags, which takes %rax (then among the registers, unless it is dead). */
void sn_builder_restore(builder *b, uint16_t registers, bool flags);
/** Forget labels of other blocks. */
void sn_lower_begin(const sn_block *block);
/** Where a label is that has been emitted. */
uint64_t sn_label_address(unsigned label);
/** Emit the analysis code at a place. */
void sn_lower_place(builder *b, unsigned index, sn_when when);
/** General registers, a bit each, that analysis code at a place reads. */
unsigned sn_lower_registers_read(builder *b, unsigned index, sn_when when);
/** Emit what places have left for the end of the block (rare_calls.c). */
void sn_lower_rare_calls(builder *b);

/** Find the stretch of the block in which registers can be pinned for a trace. */
void sn_lower_plan(builder *b);
/** Begin or end the pinned stretch, if it is there that it does. */
void sn_lower_pin(builder *b);
void sn_lower_unpin(builder *b);
/** End the stretch on the way out: by a jump that can be linked to a block with the same registers pinned, and behind it by
    giving the registers back. */
void sn_lower_leave_pinned(builder *b, uint32_t exit);

/** reg = address of the operand in the flat address space; `second` is free for use. Leaves the flags alone. */
void sn_lower_address(builder *b, const sn_insn *insn, const sn_operand *operand, unsigned reg, unsigned second);

#endif
