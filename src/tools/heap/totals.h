/**
 * @fileoverview What lives altogether, and the peak: the callbacks of the heap service, which run in the code cache.
 */
#ifndef HEAP_TOTALS_H
#define HEAP_TOTALS_H

#include <sonde/heap.h>

#include "cells.h"

typedef struct heap_totals {
    uint64_t bytes, extra; /**< requested; slop and what the allocator needs for itself */
} heap_totals;

void heap_totals_init(void);
void heap_totals_thread_start(sn_thread *thread);
void heap_totals_thread_end(sn_thread *thread);
/** In a forked child, whose counters are zero again: the time goes on from `so_far`. */
void heap_totals_fork_child(sn_thread *thread, uint64_t so_far);

/** Callbacks of the service. */
void heap_allocated(sn_thread *thread, sn_heap_block *block);
void heap_freed(sn_thread *thread, sn_heap_block *block);
void heap_measured(sn_thread *thread, sn_heap_block *block, uint64_t before);

/** In the engine: let count what --ignore-fn has let wait. */
void heap_totals_judge(void);

/** The same for memory that is no block: pages. */
void heap_bytes_come(sn_thread *thread, sn_context context, uint64_t bytes);
void heap_bytes_go(sn_thread *thread, sn_context context, uint64_t bytes);

heap_totals heap_totals_now(void);
/** At the peak: bytes, extra and stacks together were the most. *time: when, in the unit of the time axis. */
heap_totals heap_totals_peak(uint64_t *time, uint64_t *stacks);

/** In the code cache: the thread's stack has grown to there, by more than was allowed (stacks.h). */
void heap_stack_grew(sn_thread *thread, uint64_t stack_pointer);

/** In the engine: what the clock says, and how soon it is to be looked at again. heap_time() does so if it is the time axis. */
void heap_look_at_clock(void);

/** The time now, in the unit of the time axis, as the thread that runs knows it: exact for the only thread, else as of the
    thread's last snapshot plus what it has done since. */
uint64_t heap_time(sn_thread *thread);

/** From now on the thread asks for attention `interval` later. */
void heap_next_at(sn_thread *thread, uint64_t interval);

/** A dump for --dump-every-bytes was written: the next one is due after as many bytes. */
void heap_totals_every_bytes(void);

/** The block that inserted code adds to: instructions. */
void heap_time_instrument(sn_block *block);

#endif
