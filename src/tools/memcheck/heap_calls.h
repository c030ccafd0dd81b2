/**
 * @fileoverview The program's calls of allocating functions, which the tool answers in the functions' place: see heap_calls.c.
 */
#ifndef MEMCHECK_HEAP_CALLS_H
#define MEMCHECK_HEAP_CALLS_H

/** Hook them. From the start callback. */
void mc_heap_calls_init(void);

#endif
