/**
 * @fileoverview What the tool `calls` keeps about each translated block, and the counters that it inserts there.
 *
 * A block is cut into segments: one begins at its entry, and one wherever another function begins in it. A segment's counter
 * says how often it was entered; what each of its instructions was executed follows from the branches that left it. The
 * thread's total of instructions goes up by a segment at once, and down again by
 * what a taken branch leaves out, so that at calls and returns it is exact.
 *
 * Made while instrumenting, serialised by Sonde; then constant, and read by all threads. Never freed: a block that was
 * discarded has been executed all the same.
 */
#ifndef SONDE_TOOLS_CALLS_RECORD_H
#define SONDE_TOOLS_CALLS_RECORD_H

#include <sonde/tool.h>

#include "simulator/trace.h"

enum {
    CALLS_SEGMENT = 1,     /**< the first of a segment: has a counter of its entries */
    CALLS_CONDITIONAL = 2, /**< has a counter of the times that it was taken, unless */
    CALLS_GOES_BACK = 32,  /**< it goes back, and a segment begins behind it, which counts the times that it was not */
    CALLS_REPEATED = 4,    /**< has a counter of its steps: iterations, and starts with a count of zero */
    CALLS_JUMP = 8,        /**< direct jump or conditional branch: `target` says where to */
    CALLS_CALL = 16,       /**< direct call: the same */
    CALLS_BEGINS = 64,     /**< a function begins here */
    CALLS_LEAVES = 128,    /**< return or indirect jump: what lies behind it is no continuation */
};

typedef struct calls_instruction {
    uint64_t address;
    uint64_t target;
    uint8_t shape;         /**< CALLS_* bits */
    uint8_t segment_end;   /**< index behind the last instruction of its segment */
} calls_instruction;

typedef struct calls_record {
    struct calls_record *next; /**< all records, the newest first */
    sn_counter counters;       /**< those of the instructions in their order */
    uint32_t counter_count;
    sn_counter cuts;           /**< one an instruction: passes that a signal or fault ended before it */
    uint32_t instruction_count;
    bool counts_call;          /**< its last instruction is a call with a counter of its inclusive costs: */
    sn_counter inclusive;
    uint32_t stub_size;        /**< instructions, if it is a stub of the linker; else 0 */
    uint64_t reached_in;       /**< the function in which it was first reached; 0: unknown */
    uint64_t stub_memory;      /**< where it finds the address of the function */
    uint32_t first_site;       /**< if something is simulated: simulator/sites.h, one an instruction */
    cache_instruction *simulated; /**< the same instructions for the simulation; else NULL */
    calls_instruction instructions[];
} calls_record;

/** Look at a block, insert counters, and remember it. */
calls_record *calls_record_new(sn_block *block);

/** The newest record, from which all can be reached. */
const calls_record *calls_record_first(void);

/** The counters of calls' inclusive costs that are in use: from *first up to *end. */
void calls_record_inclusive(sn_counter *first, sn_counter *end);

/** A pass of a block ended after `completed` instructions. */
void calls_record_cut(sn_thread *thread, const calls_record *record, unsigned completed);

/** An instruction and how often it was executed. */
typedef struct calls_executed {
    const calls_instruction *instruction;
    uint64_t executions; /**< passes that completed it */
    uint64_t taken;      /**< of conditional branches and jumps */
    uint64_t steps;      /**< instructions that this makes: `executions`, or iterations and empty starts */
} calls_executed;

/** Call `visit` for each instruction in order; `values` are all counters, by number. */
void calls_record_walk(const calls_record *record, const uint64_t *values,
                       void (*visit)(const calls_executed *executed, void *data), void *data);

#endif
