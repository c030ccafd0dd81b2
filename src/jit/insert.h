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
    uint8_t version;       /**< of the code that it belongs to (versions.h) */
    bool is_head;          /**< it counts down in both versions */
    bool is_split;         /**< if it has a clean variant, that is all that is made of it now */
    bool lacks_full;       /**< and nothing was inserted for the other */
    bool must_be_whole;    /**< set by the emitter: it can't be split after all */
    bool is_full;          /**< it is made for its full variant, which is needed now */
    bool counts_down;      /**< the instructions that the thread has left in that version */

    void *data;
    unsigned entry_count;
    sn_counter_use entry[SN_MOST_ENTRY_COUNTERS];
    sn_counter_use taken[SN_MOST_INSTRUCTIONS];
    sn_iteration_use iterations[SN_MOST_INSTRUCTIONS];
    uint64_t functions;    /**< bit I: a function begins at instruction I; filled in by who follows calls */
    uint64_t reached_in;   /**< the function that the thread is in which comes here first; 0: unknown; by the same */
    bool call_is_noted;    /**< the call at its end has been noted by inserted code: the block that it calls is entered behind
                                its SN_WHEN_ENTERED */
    bool instrumented;     /**< anything of the above or below */

    sn_operand operands[SN_MOST_OPERANDS]; /**< of the instruction asked for last */
    unsigned operand_count;
    unsigned operands_of;  /**< that instruction's index; SN_MOST_INSTRUCTIONS: none */
    sn_flow flows[SN_FLOW_MOST]; /**< of the instruction asked for last */

    sn_analysis analysis;
};

/** The value of a general register at the chosen place. */
sn_value sn_register_value(sn_block *block, uint8_t reg);

/** Forget the previous block. */
void sn_block_reset(sn_block *block, uint64_t address);

/* Inserting for the engine's own services: besides what sonde/tool.h offers. */

/** In front of everything else of the block, and passed over by calls from blocks with `call_is_noted`. It may come to run
    several times for one arrival. */
void sn_insert_at_entry(sn_block *block);

/** The stack pointer as an address: where it is, no register is taken for it. */
sn_value sn_stack_top(sn_block *block);

typedef uint64_t sn_checked_function(sn_thread *thread, uint64_t data, uint64_t stack_pointer);

/** If the 8 bytes of the engine's memory at `base` + offset are not `expected` + more, let `base` be what the function returns.
    It is compiled for general registers only, and called by code apart from the block's. `base` is no constant and is not
    used at another place. */
void sn_insert_check(sn_block *block, sn_value base, int32_t offset, sn_value expected, int32_t more,
                     sn_checked_function *function, uint64_t data);

#endif
