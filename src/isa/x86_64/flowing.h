/**
 * @fileoverview What the files share that make the list of flows of an instruction: the list while it grows, and rules.
 *
 * flows.c is the entrance and has the rule for what no table names; flow_general.c, flow_vector.c, flow_shuffle.c,
 * flow_mask.c and flow_x87.c have a table each, by mnemonic, and the functions that turn a row into flows.
 */
#ifndef SONDE_ISA_X86_64_FLOWING_H
#define SONDE_ISA_X86_64_FLOWING_H

#include "isa/isa.h"
#include "sonde/flow.h"
#include "zydis.h"

enum {
    SN_FLOWING_MOST_ARGUMENTS = 8,
    SN_NO_ARGUMENT = 0xff,
    SN_GENERAL_BYTES = 8,
    SN_VECTOR_BYTES = 64,
    SN_MASK_BYTES = 8,
};

/** An instruction's list while it grows. */
typedef struct sn_flowing {
    const sn_insn *insn;
    ZydisDecodedInstruction z;
    const sn_operand *operands;
    unsigned operand_count;
    uint8_t arguments[SN_FLOWING_MOST_ARGUMENTS]; /**< the operands of the assembly text, less write masks and index vectors */
    uint8_t argument_count;
    uint8_t mask;  /**< operand that is the write mask, or SN_NO_ARGUMENT */
    uint8_t index; /**< operand that is a vector of indices, or SN_NO_ARGUMENT */
    uint8_t flags; /**< operand that is the flags, or SN_NO_ARGUMENT */
    sn_flow *flows;
    unsigned capacity;
    unsigned count;
    bool is_whole; /**< false: the list did not fit */
} sn_flowing;

/** A row of a table: who makes the flows, with what. Rows of zeros are no rules. */
typedef struct sn_flow_rule {
    uint8_t shape;
    uint8_t kind;       /**< sn_flow_class */
    uint8_t lane;        /**< bytes of a lane of the destination */
    uint8_t source_lane; /**< bytes of a lane of the sources, or what else the shape needs */
} sn_flow_rule;

/** The tables' functions: false when they have no rule for the instruction, or none that fits its operands. */
bool sn_flow_general(sn_flowing *f);
bool sn_flow_vector(sn_flowing *f);
bool sn_flow_shuffle(sn_flowing *f);
bool sn_flow_mask(sn_flowing *f);
bool sn_flow_x87(sn_flowing *f);

/* -------------------------------------------------------------------------- pieces */

/** Bytes of an operand. */
sn_flow_piece sn_flow_part_of(uint8_t operand, unsigned offset, unsigned size);
/** All of an operand; of an immediate, `size` bytes. */
sn_flow_piece sn_flow_whole(const sn_flowing *f, uint8_t operand);
sn_flow_piece sn_flow_flags_piece(const sn_flowing *f, uint8_t flags);
/** A source that is the flow's constant. */
sn_flow_piece sn_flow_constant_piece(unsigned size);

/* --------------------------------------------------------------------------- flows */

/** A flow to a piece, without sources; where the list is full, one that is thrown away. */
sn_flow *sn_flow_to(sn_flowing *f, unsigned class, sn_flow_piece destination);
void sn_flow_from(sn_flow *flow, sn_flow_piece source);
/** A flow from one piece. */
sn_flow *sn_flow_of(sn_flowing *f, unsigned class, sn_flow_piece destination, sn_flow_piece source);

/** Flags of the result of nothing: constant, or without meaning. Nothing for 0. */
void sn_flow_flags_constant(sn_flowing *f, uint8_t flags);
void sn_flow_flags_undefined(sn_flowing *f, uint8_t flags);

/** What hardware clears when an operand of this size is written in full: the rest of its register. */
void sn_flow_clear_rest(sn_flowing *f, uint8_t operand);

/** The write mask, if there is one, as the flow's guard. */
void sn_flow_apply_mask(const sn_flowing *f, sn_flow *flow);

/** The condition of a hardware condition code (Intel SDM volume 1, appendix B) as the flow's guard, its destination staying
    where it does not hold. */
void sn_flow_guard_condition(const sn_flowing *f, sn_flow *flow, unsigned code);

/** Flags by sn_flow_flag that the instruction surely reads, writes, sets to constants, leaves undefined. */
typedef struct sn_flow_flag_use {
    uint8_t read, result, constant, undefined;
} sn_flow_flag_use;
sn_flow_flag_use sn_flow_flags_of(const sn_flowing *f);

/* ------------------------------------------------------------------------- vectors */

/** Whether a memory operand is one element that is used for every lane. */
bool sn_flow_is_broadcast(const sn_flowing *f, const sn_operand *operand);

/** The low `size` bytes of an argument: of memory no more than the operand has, of a broadcast the element for each lane. */
sn_flow_piece sn_flow_vector_source(const sn_flowing *f, unsigned argument, unsigned size);

/** The arguments whose values count, immediates left out: the first only if it is read as such, and not for a write mask's
    sake; with `first`, always. Returns how many. */
unsigned sn_flow_vector_arguments(const sn_flowing *f, bool first, uint8_t arguments[SN_FLOWING_MOST_ARGUMENTS]);

/** The immediate byte, 0 if there is none. */
unsigned sn_flow_immediate(const sn_flowing *f);

/** The piece of the first argument, all of it. */
sn_flow_piece sn_flow_first(const sn_flowing *f);

/** Whether two arguments are the same vector register. */
bool sn_flow_same_vector(const sn_flowing *f, unsigned a, unsigned b);

static inline const sn_operand *sn_flow_operand(const sn_flowing *f, unsigned argument) {
    return &f->operands[f->arguments[argument]];
}

#endif
