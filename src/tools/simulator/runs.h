/**
 * @fileoverview Runs: references of a block whose distances from each other are known when it is translated, as they have their
 * registers in common. The simulation need not hear of those that are sure to change nothing in D1.
 *
 * Lines whose distance is less than the cache's sets are in sets of their own. So where all lines of a run are less apart than
 * that, and nothing else is referred to in between, a reference changes nothing if a reference of the run has used its line.
 * Which line that is, is not known; but what is between two bytes that are no more apart than a line is in the line of one or
 * of the other. Those bytes are a window. A run may have several windows, and a window grows to both sides: of what is beyond
 * its end, that which goes furthest is enough for the trace; what is between it and the end finds the line of one of them used.
 *
 * trace.c makes segments of them; simulate.c finds out which of a window's references it was that missed.
 */
#ifndef SONDE_TOOLS_SIMULATOR_RUNS_H
#define SONDE_TOOLS_SIMULATOR_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include <sonde/tool.h>

/** How an instruction moves the register through which it refers to memory, as push and pop do. */
typedef struct cache_motion {
    uint8_t reg;      /**< SN_NO_REGISTER: it moves none */
    int64_t distance; /**< bytes */
} cache_motion;

/** Bytes, from the address of the run's first reference. */
typedef struct cache_window {
    int64_t first;     /**< of the reference that opened it */
    int64_t low, high; /**< what it spans */
} cache_window;

enum { CACHE_RUN_WINDOWS = 8 };

typedef struct cache_run {
    bool is_open;      /**< more may follow */
    sn_operand first;
    int64_t moved;     /**< by how much the base has been moved since the first */
    int64_t low, high; /**< the bytes that all of it spans */
    cache_window windows[CACHE_RUN_WINDOWS];
    unsigned window_count; /**< ever opened; the last ones are there */
} cache_run;

/** How long windows and runs may be, in bytes: a line, and what is less than all sets. */
typedef struct cache_reach {
    int64_t window, run;
} cache_reach;

typedef enum cache_run_where {
    CACHE_RUN_OUTSIDE, /**< not of the run */
    CACHE_RUN_APART,   /**< it has opened a window */
    CACHE_RUN_WITHIN,  /**< all of it is in a window */
    CACHE_RUN_BELOW,   /**< the window has grown by it to that side */
    CACHE_RUN_ABOVE,
} cache_run_where;

typedef struct cache_run_place {
    cache_run_where where;
    unsigned window;  /**< its number; not if outside */
    int64_t distance; /**< from the first reference of the window, in bytes */
} cache_run_place;

/** Of an instruction with these operands. */
cache_motion cache_motion_of(const sn_operand *operands, unsigned count);

/** A reference of an instruction with that motion begins a run. */
void cache_run_begin(cache_run *run, const sn_operand *operand, const cache_motion *motion);

/** The next reference, if it is of the run. */
cache_run_place cache_run_take(cache_run *run, const sn_operand *operand, const cache_motion *motion, const cache_reach *reach);

/** The instruction is over. */
void cache_run_follow(cache_run *run, const sn_operand *operands, unsigned count, const cache_motion *motion);

#endif
