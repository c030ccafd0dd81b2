/**
 * @fileoverview Blocks that a program tells of by client requests: by address, in a table of their own. See custom_blocks.c.
 */
#ifndef MEMCHECK_CUSTOM_BLOCKS_H
#define MEMCHECK_CUSTOM_BLOCKS_H

#include "blocks.h"

/** Where requests told of a block, and of its end: addresses of instructions. */
typedef struct mc_custom_places {
    uint64_t allocated, freed;
} mc_custom_places;

mc_custom_places *mc_custom_places_of(mc_block *block);

/** The record of the block at an address, a new one or one that was freed, which the caller fills. */
mc_block *mc_custom_make(uint64_t address);
/** The block that begins at an address, live or freed; NULL. */
mc_block *mc_custom_at(uint64_t address);
/** A block that holds an address, or has it in the red zone before or behind it: the smallest that lives, else one that was freed. */
mc_block *mc_custom_around(uint64_t address);
void mc_custom_visit(mc_block_state state, void (*visit)(mc_block *block, void *data), void *data);

#endif
