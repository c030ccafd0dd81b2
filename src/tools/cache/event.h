/**
 * @fileoverview The records of the trace: what a thread did that the simulation must know of, in order.
 *
 * Written by the code that record.c inserts and by its callbacks, read by simulate.c.
 */
#ifndef SONDE_TOOLS_CACHE_EVENT_H
#define SONDE_TOOLS_CACHE_EVENT_H

#include <stdint.h>

#include "model.h"

/** The first ones are those of cache_kind: references. */
enum {
    CACHE_EVENT_VARYING = CACHE_KINDS, /**< added to a kind: also counted, since their number varies */
    CACHE_EVENT_TAKEN = 2 * CACHE_KINDS,
    CACHE_EVENT_NOT_TAKEN,
    CACHE_EVENT_INDIRECT, /**< `address` is where it goes */
    CACHE_EVENT_CUT,      /**< a signal or fault ended a pass before this site */
};

typedef struct cache_event {
    uint64_t address;
    uint32_t site;  /**< sites.h */
    uint16_t kind;
    uint16_t size;  /**< of a reference */
} cache_event;

#endif
