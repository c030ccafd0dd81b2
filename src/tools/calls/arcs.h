/**
 * @fileoverview What each thread knows of its calls: for each pair of call site and function, in each pair of contexts, how
 * often and at what cost.
 *
 * The table is filled from the code cache, whenever a call ends: without locks, without the C library.
 */
#ifndef SONDE_TOOLS_CALLS_ARCS_H
#define SONDE_TOOLS_CALLS_ARCS_H

#include <stdbool.h>
#include <stdint.h>

#include <sonde/table.h>

#include "events.h"

/** How a function was entered. */
typedef enum calls_how { CALLS_BY_CALL, CALLS_BY_JUMP, CALLS_BY_SIGNAL } calls_how;

/** What is called, from where. */
typedef struct calls_way {
    uint64_t from;     /**< the call instruction; of jumps and signals, the function that was in the way */
    uint64_t target;   /**< the function's entry */
    uint32_t from_context, target_context; /**< separate.h; 0: none */
    uint64_t how;      /**< calls_how */
} calls_way;

typedef struct calls_arc {
    calls_way key;
    uint64_t count;
    uint64_t inclusive;/**< instructions */
    uint64_t system[CALLS_SYSTEM_EVENTS];
} calls_arc;

static inline bool calls_arc_is_empty(const calls_arc *arc) {
    return (arc->count | arc->inclusive | arc->system[0]) == 0;
}

/** Grows in address space that is reserved. */
typedef SN_TABLE(calls_arc) calls_arcs;

/** Returns whether there is address space for it. */
bool calls_arcs_init(calls_arcs *arcs);
void calls_arcs_release(calls_arcs *arcs);

/** The arc, made if there is none. SN_FAST. When there is no more room, one arc takes all. */
calls_arc *calls_arcs_find(calls_arcs *arcs, const calls_way *way);

/** What has been counted is forgotten. */
void calls_arcs_clear(calls_arcs *arcs);

/** Add all of `from` to `to`. */
void calls_arcs_add(calls_arcs *to, const calls_arcs *from);

#endif
