/**
 * @fileoverview What an instruction's list of flows says of one bit of state before it and one behind it.
 *
 * A bit of state is named by its place, register (or address) and number. Used by flow_flip.c, which changes such bits.
 */
#ifndef SONDE_TESTS_DIFFERENTIAL_FLOW_JUDGE_H
#define SONDE_TESTS_DIFFERENTIAL_FLOW_JUDGE_H

#include <stdio.h>

#include "forms.h"
#include "isa/isa.h"

enum { SN_JUDGE_OPERANDS = 16 };

/** A bit of state. Flags are numbered as in sn_flow_flag, registers of the floating-point stack from its top before the
    instruction (those of 8 bytes by themselves). */
typedef struct sn_state_bit {
    uint8_t place; /**< sn_operand_place */
    uint8_t reg;
    uint64_t address; /**< memory: of the byte */
    unsigned bit;     /**< in the register; in the byte */
} sn_state_bit;

/** The instruction, with the state that its addresses are computed from. */
typedef struct sn_judged {
    sn_insn insn;
    sn_operand operands[SN_JUDGE_OPERANDS];
    unsigned operand_count;
    sn_flow flows[SN_FLOW_MOST];
    int flow_count; /**< -1: unknown */
    unsigned address_bits;
    const uint64_t *registers; /**< general, before the instruction */
    uint8_t (*byte_before)(const sn_state_bit *bit); /**< the byte that a bit is in, before the instruction;
                                                          all flags together */
    bool pushes;       /**< the floating-point stack: destinations are numbered from its new top */
    bool has_indices;          /**< the first memory operand is elements at a vector of indices */
    unsigned index_register, index_size;
    uint8_t indices[64];
} sn_judged;

/** Fills in operands and flows; false when the library does not know the instruction. */
bool sn_judge_open(sn_judged *judged, const ZydisDecodedInstruction *decoded, const ZydisDecodedOperand *operands);

/** Address of an operand; of an element of it, where it has indices. */
uint64_t sn_judge_address(const sn_judged *judged, const sn_operand *operand, unsigned element);

/** Whether a general or vector register is part of the address of memory that is accessed. */
bool sn_judge_is_address(const sn_judged *judged, uint8_t place, unsigned reg);

/** Whether the list says that `after` may depend on `before`. */
bool sn_judge_may_depend(const sn_judged *judged, const sn_state_bit *before, const sn_state_bit *after);

/** Whether the list names `after` as a destination. */
bool sn_judge_is_destination(const sn_judged *judged, const sn_state_bit *after);

void sn_judge_print(const sn_judged *judged, FILE *out);

#endif
