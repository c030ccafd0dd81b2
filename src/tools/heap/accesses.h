/**
 * @fileoverview --accesses=yes: how much was read from each block and written to it, added up by cell when the block is freed, and
 * which blocks were never read, or never used at all.
 *
 * Each 8 bytes of the program's memory have the number of the block that they are part of as their shadow, so that an access that is
 * to no block costs a load and a comparison. What an allocator itself does, when it moves or clears a block, does not count.
 */
#ifndef HEAP_ACCESSES_H
#define HEAP_ACCESSES_H

#include <sonde/heap.h>

#include "cells.h"

/** Once, if they are wanted. */
void heap_accesses_init(void);

void heap_accesses_instrument(sn_block *block);
/** What the kernel reads, and what it has written. */
void heap_accesses_system_call_begins(sn_thread *thread, const sn_system_call *call);
void heap_accesses_system_call_ends(sn_thread *thread, const sn_system_call *call);

/** A block of this cell comes and goes. In the code cache. */
void heap_accesses_begin(const sn_heap_block *block);
void heap_accesses_end(const sn_heap_block *block, heap_cell *cell);

/** In the engine: of blocks that live, what was read and written so far, into the cells' `now`. */
void heap_accesses_of_live(void);

#endif
