/**
 * @fileoverview What the tool `cache` keeps about each translated block, and what it inserts there.
 *
 * With simulation of caches, a trace (simulator/words.h) tells all: how often each segment of the block was entered,
 * and what was referred to. Without, counters tell how often each instruction was executed: entries, less passes that
 * left by an earlier branch. Passes that a signal or fault cut short are kept by site, see simulator/sites.h.
 *
 * Made while instrumenting, serialised by Sonde; then constant, and read by all threads. Never freed: a block that was
 * discarded has been executed all the same.
 */
#ifndef SONDE_TOOLS_CACHE_RECORD_H
#define SONDE_TOOLS_CACHE_RECORD_H

#include <sonde/tool.h>

#include "simulator/tally.h"
#include "simulator/trace.h"

typedef struct cache_record {
    struct cache_record *next;  /**< all records, the newest first */
    uint32_t first_site;        /**< simulator/sites.h: one an instruction */
    sn_counter counters;        /**< the first: entries, without simulation; then those of the instructions, in order */
    uint32_t counter_count;
    uint32_t instruction_count;
    cache_instruction instructions[];
} cache_record;

/** Look at a block, insert counters and trace, and remember it. */
cache_record *cache_record_new(sn_block *block);

/** The newest record, from which all can be reached. */
const cache_record *cache_record_first(void);

/** One instruction of a record and how often it was executed. */
typedef struct cache_executed {
    const cache_record *record;
    unsigned index;
    uint64_t executions; /**< passes that completed it */
    uint64_t steps;      /**< instructions that this makes: `executions`, or iterations and empty starts */
} cache_executed;

/** Call `visit` for each instruction in order. `values` are the record's counters, `tally` counts the segments;
    `cuts(first_site + index, data)` says how many passes were cut short before that instruction. */
void cache_record_walk(const cache_record *record, const uint64_t *values, const cache_tally *tally,
                       uint64_t (*cuts)(uint32_t site, void *data),
                       void (*visit)(const cache_executed *executed, void *data), void *data);

#endif
