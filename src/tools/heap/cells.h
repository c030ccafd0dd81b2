/**
 * @fileoverview How many blocks and bytes live, lived at the peak, and ever lived, for each cell: blocks of one calling context,
 * and, where sizes matter, of one size.
 *
 * Changed in the code cache by whoever allocates or frees, a cell at a time; read by dumps. The state at the peak costs no copy
 * of all cells: a new peak only gets a number, and a cell that changes for the first time after it keeps what it was.
 */
#ifndef HEAP_CELLS_H
#define HEAP_CELLS_H

#include <sonde/heap.h>

typedef struct heap_amount {
    uint64_t blocks, bytes, slop;
} heap_amount;

/** --accesses=yes: sums over blocks. */
typedef struct heap_uses {
    uint64_t read, written;          /**< bytes */
    uint64_t never_read, never_used; /**< blocks */
} heap_uses;

/** What changes whenever a block comes or goes is in the first 64 bytes: processors fetch memory by so many. */
typedef struct heap_cell {
    uint64_t requested, slop; /**< of each block; 0 if cells are contexts */
    sn_context context;
    uint32_t lock;            /**< spins */
    uint64_t epoch;           /**< number of the peak that `peak` is of, if it is the newest */
    heap_amount live;
    uint64_t ever;            /**< blocks */
    uint64_t freed;           /**< blocks; not if cells are contexts */
    uint64_t lived;           /**< sum of the lives of freed ones, in bytes that were allocated meanwhile; likewise */
    heap_amount peak;
    uint32_t verdict;         /**< heap_verdict: --ignore-fn */
    heap_uses uses, now;      /**< of freed blocks; of those that live, when it was last asked for */
} __attribute__((aligned(64))) heap_cell;

/** Once. */
void heap_cells_init(void);
/** There is a second thread: before, nothing is locked, or atomic. */
extern bool heap_is_shared;

/** In a forked child: nobody holds a lock. */
void heap_cells_unlock(void);

/* ---------------------------------------------------------------------------------------- in the code cache */

/** The cell of such blocks; made if there is none. */
heap_cell *heap_cell_of(sn_context context, uint64_t requested, uint64_t slop);
uint32_t heap_cell_number(const heap_cell *cell);
heap_cell *heap_cell_at(uint32_t number);

/** A block comes, or goes after `lived`. */
void heap_cell_add(heap_cell *cell, uint64_t requested, uint64_t slop);
void heap_cell_remove(heap_cell *cell, uint64_t requested, uint64_t slop, uint64_t lived);
/** A block never was in this cell. */
void heap_cell_undo(heap_cell *cell, uint64_t requested, uint64_t slop);

/** What lives now is the peak. */
void heap_cells_peak(void);

/* ------------------------------------------------------------------------------------------------ in the engine */

/** Numbers of cells are from 1 up to this. */
uint32_t heap_cell_count(void);
/** What the cell had at the peak. */
heap_amount heap_cell_peak(const heap_cell *cell);

#endif
