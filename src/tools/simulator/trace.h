/**
 * @fileoverview What is put into the code of a program so that it can be simulated: the traces of references (words.h) and of
 * branches (branches.h).
 *
 * Called by the tools while they instrument a block, serialised by Sonde.
 */
#ifndef SONDE_TOOLS_SIMULATOR_TRACE_H
#define SONDE_TOOLS_SIMULATOR_TRACE_H

#include <sonde/tool.h>

enum {
    CACHE_CONDITIONAL = 1, /**< a conditional branch */
    CACHE_REPEATED = 2,    /**< string instruction with a repeat prefix */
    CACHE_GOES_BACK = 8,   /**< conditional: sn_branch_goes_back() */
    CACHE_INDIRECT = 4,    /**< jump or call to an address that it computes; not returns */
    CACHE_SEGMENT_GOES_ON = 16, /**< conditional: what is behind it belongs to its segment, and is executed where it is not taken */
};

typedef struct cache_instruction {
    uint64_t address;
    uint32_t segment;      /**< with simulation of caches */
    uint8_t length;
    uint8_t shape;         /**< CACHE_* bits */
    uint8_t reads, writes; /**< references that each execution makes; those that vary are counted as they happen */
} cache_instruction;

/** Describe the instructions of a block, and give them sites: returns the first one (sites.h). */
uint32_t cache_trace_look(sn_block *block, cache_instruction *instructions);

/** Insert the traces that the settings ask for, and complete the descriptions. */
void cache_trace_insert(sn_block *block, uint32_t first_site, cache_instruction *instructions);

#endif
