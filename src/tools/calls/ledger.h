/**
 * @fileoverview What calls cost of the events that are simulated: a ledger follows what a trace tells of frames, and books what
 * was counted from when a function began to when its frame had gone.
 *
 * One ledger belongs to a thread and a trace. It mirrors the frames of all stacks that it hears of. What it is told says which
 * frame it is about, so that what it was not told does no harm beyond that frame. Not thread-safe: simulated.c locks.
 */
#ifndef SONDE_TOOLS_CALLS_LEDGER_H
#define SONDE_TOOLS_CALLS_LEDGER_H

#include <stdbool.h>
#include <stddef.h>

#include <sonde/arena.h>
#include <sonde/table.h>

#include "arcs.h"
#include "events.h"

/** A call as in arcs.h, and what it cost of all that is simulated. */
typedef struct calls_bill_key {
    uint64_t from;               /**< of CALLS_BY_CALL the site: sn_call_site_address() */
    uint64_t target;
    uint64_t how;                /**< calls_how */
    uint64_t contexts;           /**< as in arcs.h: calls_bill_from_context(), calls_bill_target_context(). One number, since it is read
                                      as one as soon as it is written */
} calls_bill_key;

static inline uint32_t calls_bill_from_context(const calls_bill_key *key) {
    return (uint32_t)(key->contexts >> 32);
}
static inline uint32_t calls_bill_target_context(const calls_bill_key *key) {
    return (uint32_t)key->contexts;
}

typedef struct calls_bill {
    calls_bill_key key;
    uint64_t costs[CALLS_SIMULATED_EVENTS];
} calls_bill;

typedef SN_TABLE(calls_bill) calls_bills;

/** Where a bill of a ledger is: it stays there. */
typedef struct calls_bill_place {
    calls_bill_key key;
    calls_bill *bill;
} calls_bill_place;

enum { CALLS_RECENT_BILLS = 1 << 10 };

void calls_bills_free(calls_bills *bills);

typedef struct calls_ledger {
    bool is_of_branches;         /**< its events are the last of those that are simulated; else the first, CALLS_DATA_EVENTS */
    unsigned first;              /**< which of them is its first */
    SN_TABLE(calls_bill_place) bills; /**< of calls that have ended, or go on */
    sn_arena bill_memory;
    calls_bill *recent[CALLS_RECENT_BILLS]; /**< some that were wanted last: found without the table. NULL: none */
    struct calls_ledger_stack *stacks;
    size_t stack_count;
    struct calls_ledger_stack *current; /**< the one that was told of last */
    uint64_t near;               /**< frames whose addresses begin like this are in it: the upper bits of theirs */
} calls_ledger;

void calls_ledger_free(calls_ledger *ledger);

/** What a trace tells of a frame, and the totals of the ledger's events at that moment. */
void calls_ledger_frame(calls_ledger *ledger, const cache_frame *frame, const uint64_t *totals);

/** The function that was told of last is executed in a context, and its caller was in another (separate.h). */
void calls_ledger_contexts(calls_ledger *ledger, uint32_t context, uint32_t caller);

/** Add all bills; calls that the thread is in, as if they ended now. */
void calls_ledger_add(calls_bills *to, const calls_ledger *ledger, const uint64_t *totals);

/** What was counted until now is forgotten. */
void calls_ledger_zero(calls_ledger *ledger, const uint64_t *totals);

#endif
