/**
 * @fileoverview Calls through stubs of the linker: the call is one of the function behind the stub, and the stub's instructions
 * are the caller's, as Callgrind has it.
 *
 * Calls are counted at their sites, which only name the stub. What a stub executed stands on its own in the records, and is in
 * the inclusive cost of its calls: profile.c asks here to put it right.
 */
#ifndef SONDE_TOOLS_CALLS_STUBS_H
#define SONDE_TOOLS_CALLS_STUBS_H

#include <stddef.h>

#include <sonde/sorted.h>

#include "events.h"
#include "record.h"

/** What is left of what a stub has cost: profile.c adds it up, and takes away from it. */
typedef struct calls_stub_share {
    uint64_t executions;
    uint64_t (*costs)[CALLS_MOST_EVENTS]; /**< of each of its instructions; those that are simulated */
} calls_stub_share;

/** A direct call of a stub. */
typedef struct calls_stub_call {
    uint64_t address;
    const calls_record *stub;
} calls_stub_call;

/** What makes a stub; there may be several at an address, of which the first one has the share. */
typedef struct calls_stub {
    uint64_t address;
    const calls_record *record;
    calls_stub_share share;   /**< zero at first */
} calls_stub;

/** All stubs that were executed, and the calls of them, by address. */
typedef struct calls_stubs {
    SN_VECTOR(calls_stub) list;
    SN_VECTOR(calls_stub_call) calls;
} calls_stubs;

calls_stubs calls_stubs_find(void);
void calls_stubs_free(calls_stubs *stubs);

/** The stub at `address`, NULL if none is there. */
const calls_record *calls_stub_at(const calls_stubs *stubs, uint64_t address);

/** The stub that the direct call at `address` calls, NULL if it calls none. */
const calls_record *calls_stub_called(const calls_stubs *stubs, uint64_t address);

/** Of a stub among these: what all records of the same stub have in common. */
calls_stub_share *calls_stub_share_of(calls_stubs *stubs, const calls_record *stub);

/** The function that a stub leads to now; the stub itself if its memory is gone. */
uint64_t calls_stub_target(const calls_record *stub);

#endif
