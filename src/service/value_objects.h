/**
 * @fileoverview Data objects of the framework for values: what its files share. See <sonde/value_objects.h>.
 *
 * value_heap.c takes the heap's events in the code cache; value_objects.c keeps the map of objects and adds up; value_stream.c
 * knows the threads' frames and has events worked off in order; value_report.c prints.
 *
 * Order: at the beginning of each call that allocates or frees, the thread's trace is handed over, and its records meet the map as
 * it was. What the call does is noted by inserted code, and put into the map when records come that were made afterwards.
 */
#ifndef SONDE_SERVICE_VALUE_OBJECTS_H
#define SONDE_SERVICE_VALUE_OBJECTS_H

#include <stddef.h>

#include "sonde/heap.h"
#include "sonde/json.h"
#include "sonde/value_objects.h"

/** A block came or went. */
typedef struct sn_value_heap_event {
    uint64_t address, size;
    sn_context context;
    bool is_freed;
} sn_value_heap_event;

/** Take those that were noted, at most `room`, the oldest first. */
size_t sn_value_heap_take(sn_value_heap_event *events, size_t room);

/** From the start callback, once: follow the heap, for the map if there is one, and for `frees` (NULL: not), which is called in
    the engine. In value_heap.c. */
void sn_value_heap_start(void (*frees)(sn_thread *thread, const sn_heap_block *block));
/** An allocating or freeing call begins. */
void sn_value_objects_attend(sn_thread *thread);

/** From the start callback, with contexts on, before the heap: `flush` hands the thread's trace over. */
void sn_value_objects_start(void (*flush)(sn_thread *thread));
/** Bring the map up to date: before records are worked off. */
void sn_value_objects_update(void);
void sn_value_objects_mapped(const sn_memory_range *range);
void sn_value_objects_unmapped(uint64_t start, uint64_t end);
/** In a fork's child: what was added is the parent's. */
void sn_value_objects_forget(void);

/** The context of the function whose frame holds the address, of the thread with that state; SN_NO_CONTEXT: none. `*outermost`: an
    address in the frames, or 0. In value_stream.c. */
sn_context sn_values_frame_at(const void *state, uint64_t address, uint64_t *outermost);

/** What the list is, as value_report.c describes the others. */
void sn_value_objects_describe(sn_json *json);
void sn_value_objects_print(FILE *file, int64_t most);
void sn_value_objects_write(sn_json *json, int64_t most);

#endif
