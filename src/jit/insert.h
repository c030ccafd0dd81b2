/**
 * @fileoverview A block while it is being translated: its instructions and what the tool asked to insert.
 *
 * Filled by jit/translate.c and the tool (through the functions of sonde/tool.h that jit/insert.c implements), read by
 * the per-architecture emitter. One exists at a time, under sn_jit_lock.
 */
#ifndef SONDE_JIT_INSERT_H
#define SONDE_JIT_INSERT_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/isa.h"
#include "jit/analysis.h"
#include "jit/block.h"
#include "sonde/tool.h"

#define SN_MOST_INSTRUCTIONS 64
#define SN_MOST_OPERANDS 16
#define SN_MOST_ENTRY_COUNTERS 16

typedef struct sn_counter_use {
    sn_counter counter;
    uint32_t amount; /**< 0: none */
} sn_counter_use;

typedef struct sn_iteration_use {
    bool present;
    sn_counter iterations, empty;
} sn_iteration_use;

struct sn_block {
    uint64_t address;
    unsigned count;
    sn_insn insns[SN_MOST_INSTRUCTIONS];
    sn_instruction views[SN_MOST_INSTRUCTIONS];
    bool followed[SN_MOST_INSTRUCTIONS]; /**< direct jump whose target is the next instruction of the block */
    bool checks_itself;
    bool far;              /**< lies outside the low window */

    void *data;
    unsigned entry_count;
    sn_counter_use entry[SN_MOST_ENTRY_COUNTERS];
    sn_counter_use taken[SN_MOST_INSTRUCTIONS];
    sn_iteration_use iterations[SN_MOST_INSTRUCTIONS];
    uint64_t functions;    /**< bit I: a function begins at instruction I; filled in by who follows calls */
    bool instrumented;     /**< anything of the above or below */

    sn_operand operands[SN_MOST_OPERANDS]; /**< of the instruction asked for last */
    unsigned operand_count;
    unsigned operands_of;  /**< that instruction's index; SN_MOST_INSTRUCTIONS: none */

    sn_analysis analysis;
};

/** The value of a general register at the chosen place. */
sn_value sn_register_value(sn_block *block, uint8_t reg);

/** Forget the previous block. */
void sn_block_reset(sn_block *block, uint64_t address);

#endif
