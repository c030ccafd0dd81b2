/**
 * @fileoverview One random instruction of a given form, with the moves before it that make its operands usable.
 *
 * Chooses prefixes, registers, addressing mode, displacement and immediates, then loads base and index registers so that
 * every memory operand lies where the test wants it. Used by the block generator.
 */
#ifndef SONDE_TESTS_DIFFERENTIAL_INSTRUCTION_H
#define SONDE_TESTS_DIFFERENTIAL_INSTRUCTION_H

#include "builder.h"

/** Where memory operands shall lie. */
typedef enum sn_aim {
    SN_AIM_DATA,  /**< in the arenas: the instruction should not fault */
    SN_AIM_FAULT, /**< at an address that faults */
} sn_aim;

/** Append an instruction of the form; false when this try came to nothing (the builder is as before). */
bool sn_instruction_add(sn_builder *builder, const sn_form *form, sn_aim aim);

#endif
