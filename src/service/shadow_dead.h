/**
 * @fileoverview Registers of which the clean variant of a block need not know whether they are clean: what was in them is dead.
 * Called by shadow_clean.c.
 */
#ifndef SONDE_SERVICE_SHADOW_DEAD_H
#define SONDE_SERVICE_SHADOW_DEAD_H

#include "jit/insert.h"

/** Bits of the word of dirty registers: those that are written, from the instruction at `index` on, before anything reads them and
    before the block can be left: general registers as a whole, of vector registers the low 16 bytes. */
uint64_t sn_shadow_dead_at(sn_block *block, unsigned index);

#endif
