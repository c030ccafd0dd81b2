/**
 * @fileoverview What lies at an address, in words: see address.c.
 */
#ifndef MEMCHECK_ADDRESS_H
#define MEMCHECK_ADDRESS_H

#include "blocks.h"
#include "memcheck.h"

/** Notes that say what lies at an address, for an error of the running thread; returns how many. */
unsigned mc_describe_address(sn_thread *thread, uint64_t address, mc_note notes[MC_MOST_NOTES]);

/** The stacks where a block was allocated and freed, as far as --keep-stacktraces has them kept; NULL: not. */
const mc_stack *mc_allocation_stack(const mc_block *block);
const mc_stack *mc_free_stack(const mc_block *block);

#endif
