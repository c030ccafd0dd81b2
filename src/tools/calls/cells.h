/**
 * @fileoverview What a thread counted in each context (separate.h): a table from context and counter to a count.
 *
 * Only filled when functions are separated by their callers or by recursion: then a counter of a block is several, one for each
 * context that the block was executed in. Filled from the code cache, like arcs.h: without locks, without the C library.
 */
#ifndef SONDE_TOOLS_CALLS_CELLS_H
#define SONDE_TOOLS_CALLS_CELLS_H

#include <stdbool.h>
#include <stdint.h>

#include <sonde/table.h>
#include <sonde/tool.h>

typedef struct calls_cell {
    uint64_t key;    /**< the context in the upper half, the counter in the lower */
    uint64_t count;
} calls_cell;

/** Grows in address space that is reserved. All zero is an empty one that has none. */
typedef SN_TABLE(calls_cell) calls_cells;

static inline uint32_t calls_cell_context(const calls_cell *cell) {
    return (uint32_t)(cell->key >> 32);
}
static inline sn_counter calls_cell_counter(const calls_cell *cell) {
    return (sn_counter)cell->key;
}

/** Returns whether there is address space for it. */
bool calls_cells_init(calls_cells *cells);
void calls_cells_release(calls_cells *cells);

/** Add to the count of a counter in a context. SN_FAST. What finds no room is counted in one cell. */
void calls_cells_count(calls_cells *cells, uint32_t context, sn_counter counter, uint64_t amount);

/** What has been counted is forgotten. */
void calls_cells_clear(calls_cells *cells);

/** Add all of `from`, which may be empty, to `to`. */
void calls_cells_add(calls_cells *to, const calls_cells *from);

#endif
