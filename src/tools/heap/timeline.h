/**
 * @fileoverview Snapshots of the heap over time: when they are taken, and which are kept.
 *
 * As Massif does (Valgrind's manual, 9): at first at each allocation and deallocation; when there are --max-snapshots, half of them go,
 * and the time between new ones grows.
 */
#ifndef HEAP_TIMELINE_H
#define HEAP_TIMELINE_H

#include <stddef.h>

#include "totals.h"

/** Bytes of one calling context. */
typedef struct heap_site {
    sn_context context;
    uint64_t bytes;
} heap_site;

typedef struct heap_snapshot {
    uint64_t time;
    heap_totals heap;
    uint64_t stacks;
    bool is_detailed, is_peak;
    heap_site *sites; /**< of a detailed one */
    size_t site_count;
} heap_snapshot;

void heap_timeline_init(void);

/** Take one, if it is time for it. In the engine, at an instruction. */
void heap_timeline_take(sn_thread *thread);

/** When the last one was taken. */
uint64_t heap_timeline_last(void);

/** In a forked child: another thread may have been taking one. */
void heap_timeline_fork_child(void);

/** All that are kept, in the order of time, with the peak among them, and the present moment at the end; the caller frees it
    by heap_snapshots_free(). */
heap_snapshot *heap_timeline_all(sn_thread *thread, size_t *count);
void heap_snapshots_free(heap_snapshot *snapshots, size_t count);

#endif
