/**
 * @fileoverview What the tool `count` keeps about each translated block, and what follows from a block's counters.
 *
 * A block has one counter for its entries, one for each conditional branch's rarer way, and two for each repeated string
 * instruction. How often an instruction was executed follows: the entries, less the passes that left by an
 * earlier branch, less the passes that a fault or signal cut short before it (struct count_cut).
 * Records are made by count.c while instrumenting, and live to the end of the run: a block that was discarded has been
 * executed all the same.
 */
#ifndef SONDE_TOOLS_COUNT_RECORD_H
#define SONDE_TOOLS_COUNT_RECORD_H

#include <sonde/tool.h>

#include "tally.h"

/** What an instruction is to this tool: bits of count_record.instructions[], above the length. */
enum {
    COUNT_LENGTH_MASK = 0x0f,
    COUNT_CONDITIONAL = 0x10,
    COUNT_REPEATED = 0x20,
    COUNT_ENDS_BASIC_BLOCK = 0x40,
    COUNT_CALL = 0x80,
    COUNT_INDIRECT = 0x100,
    COUNT_GOES_BACK = 0x200, /**< conditional: its counter is that of the times it was not taken */
};

/** One access to memory by one instruction of a block. */
typedef struct count_access {
    uint16_t instruction; /**< its index; accesses are in the order of the instructions */
    uint8_t size_class;
    bool is_store;
} count_access;

/** From instruction `index` on, the block's instructions lie one behind the other from `address` on. */
typedef struct count_run {
    uint64_t address;
    uint32_t index;
} count_run;

typedef struct count_record {
    struct count_record *next; /**< all records, the newest first */
    sn_counter counters;       /**< the first: entries; then those of the instructions, in their order */
    uint32_t counter_count;
    uint32_t instruction_count;
    uint32_t access_count;
    uint32_t run_count;
    uint16_t *instructions;    /**< length and COUNT_* bits */
    count_access *accesses;
    count_run *runs;
} count_record;

/** Passes through a block that ended after `completed` instructions without having reached a way out. */
typedef struct count_cut {
    struct count_cut *next;
    const count_record *record;
    unsigned completed;
    uint64_t passes;
} count_cut;

/** Look at a block, put in its counters, and remember it. Calls are serialised by the engine. */
count_record *count_record_new(sn_block *block);

/** The newest record, from which all can be reached. */
const count_record *count_record_first(void);

/** One instruction of a block with how often it was executed. */
typedef struct count_executed {
    const count_record *record;
    uint32_t index;
    uint64_t address;
    uint64_t executions;  /**< passes that completed it */
    uint64_t steps;       /**< instructions that this makes: `executions`, or iterations and empty starts */
    uint64_t accesses;    /**< times that each of its accesses was done */
    uint64_t taken;       /**< conditional branches */
    uint64_t iterations;  /**< repeated string instructions */
} count_executed;

/**
 * Call `visit` for each instruction of `record` in order. `values` are the values of its counters; `cuts` a list in
 * which those of this record are taken into account.
 */
void count_record_walk(const count_record *record, const uint64_t *values, const count_cut *cuts,
                       void (*visit)(const count_executed *executed, void *data), void *data);

/** Add what the record's counters tell to `tally`. */
void count_record_tally(const count_record *record, const uint64_t *values, const count_cut *cuts,
                        count_tally *tally);

/** The most counters that any record has: room for `values`. */
uint32_t count_record_most_counters(void);

#endif
