/**
 * @fileoverview How many blocks and bytes live, lived at the peak, and ever lived, for each cell: blocks of one calling context,
 * and, where sizes matter, of one size.
 *
 * Changed in the code cache by whoever allocates or frees, a cell at a time, by functions that are inlined there; read by dumps.
 * The state at the peak costs no copy of all cells: a new peak only gets a number, and a cell that changes for the first time after
 * it keeps what it was.
 */
#ifndef HEAP_CELLS_H
#define HEAP_CELLS_H

#include <sonde/heap.h>
#include <sonde/spin.h>

#include "settings.h"

/** Room, committed as it is touched. */
#define HEAP_MOST_CELLS (UINT32_C(1) << 27)

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

extern heap_cell *heap_cells;     /**< number 0 is not used; by contexts: number of the context */
extern uint64_t heap_cells_epoch; /**< number of the newest peak */

/** The cell of blocks of this context and size; made if there is none. */
heap_cell *heap_cell_of_size(sn_context context, uint64_t requested, uint64_t slop);

SN_FAST static inline uint32_t heap_cell_number(const heap_cell *cell) {
    return (uint32_t)(cell - heap_cells);
}

SN_FAST static inline heap_cell *heap_cell_at(uint32_t number) {
    return &heap_cells[number];
}

/** The cell of such blocks; made if there is none. */
SN_FAST static inline heap_cell *heap_cell_of(sn_context context, uint64_t requested, uint64_t slop) {
    if (!heap_current.is_by_site) {
        return heap_cell_of_size(context, requested, slop);
    }
    heap_cell *cell = heap_cell_at(context < HEAP_MOST_CELLS ? context : 0);
    cell->context = context;
    return cell;
}

/** The cell is about to change: nobody else changes it until heap_cell_end(). What it was at the peak, it keeps. */
SN_FAST static inline void heap_cell_begin(heap_cell *cell) {
    if (heap_is_shared) {
        sn_spin_acquire(&cell->lock);
    }
    uint64_t newest = __atomic_load_n(&heap_cells_epoch, __ATOMIC_ACQUIRE);
    if (cell->epoch != newest) {
        cell->peak.blocks = cell->live.blocks;
        cell->peak.bytes = cell->live.bytes;
        cell->peak.slop = cell->live.slop;
        cell->epoch = newest;
    }
}

SN_FAST static inline void heap_cell_end(heap_cell *cell) {
    if (heap_is_shared) {
        sn_spin_release(&cell->lock);
    }
}

/** A block comes. */
SN_FAST static inline void heap_cell_add(heap_cell *cell, uint64_t requested, uint64_t slop) {
    heap_cell_begin(cell);
    cell->live.blocks++;
    cell->live.bytes += requested;
    cell->live.slop += slop;
    cell->ever++;
    heap_cell_end(cell);
}

SN_FAST static inline void heap_cell_take_away(heap_cell *cell, uint64_t requested, uint64_t slop) {
    cell->live.blocks--;
    cell->live.bytes -= requested;
    cell->live.slop -= slop;
}

/** A block goes after `lived`. */
SN_FAST static inline void heap_cell_remove(heap_cell *cell, uint64_t requested, uint64_t slop, uint64_t lived) {
    heap_cell_begin(cell);
    heap_cell_take_away(cell, requested, slop);
    if (!heap_current.is_by_site) {
        cell->freed++;
        cell->lived += lived;
    }
    heap_cell_end(cell);
}

/** A block never was in this cell. */
SN_FAST static inline void heap_cell_undo(heap_cell *cell, uint64_t requested, uint64_t slop) {
    heap_cell_begin(cell);
    heap_cell_take_away(cell, requested, slop);
    cell->ever--;
    heap_cell_end(cell);
}

/** What lives now is the peak. */
SN_FAST static inline void heap_cells_peak(void) {
    __atomic_store_n(&heap_cells_epoch, heap_cells_epoch + 1, __ATOMIC_RELEASE); /* two peaks at once are one */
}

/* ------------------------------------------------------------------------------------------------ in the engine */

/** Numbers of cells are from 1 up to this. */
uint32_t heap_cell_count(void);
/** What the cell had at the peak. */
heap_amount heap_cell_peak(const heap_cell *cell);

#endif
