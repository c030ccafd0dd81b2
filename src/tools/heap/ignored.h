/**
 * @fileoverview Calling contexts whose blocks do not count: --ignore-fn.
 *
 * Names are not looked up in the code cache. The first block of a context does not count yet; the engine is asked to look at the
 * context before the thread allocates or frees again, and then what lives of it counts, or never will.
 */
#ifndef HEAP_IGNORED_H
#define HEAP_IGNORED_H

#include "cells.h"

typedef enum heap_verdict { HEAP_UNJUDGED, HEAP_COUNTS, HEAP_IGNORED } heap_verdict;

/** The same where functions are ignored. SN_FAST. */
bool heap_cell_is_judged_to_count(heap_cell *cell);

/** Whether the cell's blocks count now; has it judged soon if it is not. */
SN_FAST static inline bool heap_cell_counts(heap_cell *cell) {
    return heap_current.ignored_functions.count == 0 || heap_cell_is_judged_to_count(cell);
}

/** In the engine: judge the cells that wait for it. `count` is called, while all threads stand still, for those that count from now
    on. */
void heap_ignored_judge(void (*count)(const heap_cell *cell));

#endif
