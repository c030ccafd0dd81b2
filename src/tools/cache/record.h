/**
 * @fileoverview What the tool `cache` keeps about each translated block.
 *
 * Counters tell how often each instruction was executed: entries, less passes that left by an earlier branch, less those
 * that a signal or fault cut short (kept by site, see sites.h). For the simulation a record lists, in program order, the
 * fetches that reach another cache line than the one before and the slots that the trace's addresses fill; where a pass
 * left the block is told by marks in the trace, and where a mark can be saved, by its absence.
 *
 * Made while instrumenting, serialised by Sonde; then constant, and read by all threads. Never freed: a block that was
 * discarded has been executed all the same. Records have numbers that are 16ths of their place in one large area.
 */
#ifndef SONDE_TOOLS_CACHE_RECORD_H
#define SONDE_TOOLS_CACHE_RECORD_H

#include <sonde/tool.h>

#include "model.h"

enum {
    CACHE_CONDITIONAL = 1, /**< has a counter of the times that it was taken */
    CACHE_REPEATED = 2,    /**< has two counters: iterations, and starts with a count of zero */
    CACHE_INDIRECT = 4,    /**< jump or call to an address that it computes; not returns */
};

typedef struct cache_instruction {
    uint64_t address;
    uint8_t length;
    uint8_t shape;         /**< CACHE_* bits */
    uint8_t reads, writes; /**< references that each execution makes; those that vary are counted as they happen */
} cache_instruction;

enum { CACHE_SLOT_TARGET = CACHE_KINDS }; /**< the word is where an indirect branch goes */

typedef struct cache_slot {
    int16_t most_offset;  /**< in its line, at which all of it is still in that line; -1: never shortcut */
    uint16_t size;
    uint8_t kind;         /**< CACHE_READ, CACHE_WRITE or CACHE_SLOT_TARGET */
    uint8_t instruction;  /**< its index */
    uint8_t fetches;      /**< of the record's fetches, those before it */
} cache_slot;

/** A way out: taken conditional branches, in order, and at last the end of the block. */
typedef struct cache_exit {
    uint8_t instruction; /**< index of the last one executed */
    uint8_t fetches;     /**< of the record's, those up to it */
} cache_exit;

enum { CACHE_NO_EXIT = 255 };

typedef struct cache_record {
    uint32_t size;              /**< of all of it, a multiple of 16 */
    uint32_t number;
    uint32_t first_site;        /**< sites.h: one an instruction */
    sn_counter counters;        /**< the first: entries; then those of the instructions, in their order */
    uint32_t counter_count;
    uint8_t instruction_count, fetch_count, exit_count;
    uint8_t line_count;
    uint16_t slot_count;
    const uint64_t *lines;      /**< of I1, that the fetches reach: numbers, each once */
    const cache_slot *slots;
    const uint8_t *fetches;     /**< indexes of instructions */
    const cache_exit *exits;
    const uint8_t *implied;     /**< for each number of slots filled: the way out that has no mark, or CACHE_NO_EXIT */
    const cache_instruction *instructions;
} cache_record;

/** Look at a block, insert counters and trace, and remember it. */
cache_record *cache_record_new(sn_block *block);

/** The record of that number; NULL if there is none (yet). */
const cache_record *cache_record_at(uint32_t number);

/** All records in the order in which they were made: `record` NULL for the first; NULL at the end. */
const cache_record *cache_record_next(const cache_record *record);

/** The most counters that any record has. */
uint32_t cache_record_most_counters(void);

/** One instruction of a record and how often it was executed. */
typedef struct cache_executed {
    const cache_record *record;
    unsigned index;
    uint64_t executions; /**< passes that completed it */
    uint64_t steps;      /**< instructions that this makes: `executions`, or iterations and empty starts */
} cache_executed;

/** Call `visit` for each instruction in order. `values` are the record's counters; `cuts(first_site + index, data)` says how
    many passes were cut short before that instruction. */
void cache_record_walk(const cache_record *record, const uint64_t *values,
                       uint64_t (*cuts)(uint32_t site, void *data),
                       void (*visit)(const cache_executed *executed, void *data), void *data);

#endif
