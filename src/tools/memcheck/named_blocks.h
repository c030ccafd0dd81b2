/**
 * @fileoverview Memory that the program has given a name to (VALGRIND_CREATE_BLOCK): see named_blocks.c.
 */
#ifndef MEMCHECK_NAMED_BLOCKS_H
#define MEMCHECK_NAMED_BLOCKS_H

#include "memcheck.h"

/** A range gets a name, a text in the program's memory. The answer of the request: its number, or -1. */
uint64_t mc_named_create(sn_thread *thread, uint64_t address, uint64_t size, uint64_t name);
/** The name of that number is given up. The answer of the request: 0, or 1 if there is none. */
uint64_t mc_named_discard(uint64_t number);
/** The note about an address that lies in a named range: false if it lies in none. */
bool mc_named_describe(uint64_t address, mc_note *note);

#endif
