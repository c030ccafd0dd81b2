/**
 * @fileoverview Runs: references behind each other whose distances are known when the block is translated, and that all lie in
 * two lines of D1 side by side at most. Two of them are enough for the trace: the first one, and the one that is furthest from
 * it. What is between these finds its line used last in its set, which is a hit that changes nothing.
 *
 * trace.c makes segments of them; simulate.c finds out which of a run's references it was that missed.
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

typedef struct cache_run {
    bool is_open;      /**< more may follow */
    sn_operand first;
    int64_t moved;     /**< by how much the base has been moved since the first */
    int64_t low, high; /**< the bytes that it spans, from the first one's address */
} cache_run;

typedef enum cache_run_place { CACHE_RUN_OUTSIDE, CACHE_RUN_WITHIN, CACHE_RUN_EXTENDS } cache_run_place;

/** Of an instruction with these operands. */
cache_motion cache_motion_of(const sn_operand *operands, unsigned count);

/** A reference of an instruction with that motion begins a run. */
void cache_run_begin(cache_run *run, const sn_operand *operand, const cache_motion *motion);

/** Where the next reference is: outside of the run, if that would be longer than `line` bytes; within what it spans; or it
    becomes the one that is furthest from the first. *low: its distance from that one, if it is not outside. */
cache_run_place cache_run_take(cache_run *run, const sn_operand *operand, const cache_motion *motion, uint64_t line,
                               int64_t *low);

/** The instruction is over. */
void cache_run_follow(cache_run *run, const sn_operand *operands, unsigned count, const cache_motion *motion);

#endif
