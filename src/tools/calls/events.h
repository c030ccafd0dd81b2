/**
 * @fileoverview The events that a profile has besides instructions, in the order in which Callgrind writes them: which there are
 * follows from the options.
 */
#ifndef SONDE_TOOLS_CALLS_EVENTS_H
#define SONDE_TOOLS_CALLS_EVENTS_H

#include <stdint.h>

#include "simulator/branches.h"
#include "simulator/simulate.h"
#include "simulator/trace.h"

/** Events that are simulated: of data and caches (Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw), and of branches (Bc Bcm Bi Bim). */
enum { CALLS_DATA_EVENTS = 8, CALLS_BRANCH_EVENTS = 4, CALLS_SIMULATED_EVENTS = CALLS_DATA_EVENTS + CALLS_BRANCH_EVENTS };

/** Events beside these that a call may cost: system calls, their time, their time on the processor. */
enum { CALLS_SYSTEM_EVENTS = 3 };

/** All, with the instructions. */
enum { CALLS_MOST_EVENTS = 1 + CALLS_SIMULATED_EVENTS + CALLS_SYSTEM_EVENTS };

typedef struct calls_events {
    const char *names[CALLS_MOST_EVENTS];
    unsigned count;
    unsigned data, branches, system; /**< where each kind begins, if it is there; the first one is Ir */
    unsigned system_count;           /**< how many there are of that kind */
} calls_events;

/** From the settings. Constant once options are parsed. */
calls_events calls_events_now(void);

/** Totals of the simulation have that order. */
_Static_assert(CACHE_TOTAL_READS == 0 && CACHE_TOTAL_WRITES == 1 && CACHE_TOTAL_MISSES == 2 && CACHE_FETCH == 0 &&
                   CACHE_READ == 1 && CACHE_WRITE == 2 && (int)CALLS_DATA_EVENTS <= (int)CACHE_TOTALS,
               "Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw");

/** Add what is simulated of an instruction that was executed so often; `site`: its counters (simulator/sites.h), or NULL. */
void calls_events_add(const calls_events *events, const cache_instruction *instruction, const uint64_t *site,
                      uint64_t executions, uint64_t *costs);

#endif
