/**
 * @fileoverview The memory that the search for leaks looks at: see leak_memory.c. All while the program's threads stand still.
 */
#ifndef MEMCHECK_LEAK_MEMORY_H
#define MEMCHECK_LEAK_MEMORY_H

#include "memcheck.h"

typedef void mc_word_visitor(const uint64_t *words, size_t count, void *data);

/** Visit the words, at multiples of 8, of all of the program's memory that is not of the heap and may be written, stacks from
    the stack pointer on; and the general registers of all threads. */
void mc_leak_visit_roots(mc_word_visitor *visit, void *data);

/** Visit the words that lie at multiples of 8 within [start, end); what cannot be read is left out. */
void mc_leak_visit_words(uint64_t start, uint64_t end, mc_word_visitor *visit, void *data);

/** Read memory; false if not all of it can be read. */
bool mc_leak_read(uint64_t address, void *to, size_t size);

/** Whether an address may be that of a virtual table: of constant data of a module, with an address of code. */
bool mc_leak_is_vtable(uint64_t address);

#endif
