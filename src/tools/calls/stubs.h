/**
 * @fileoverview Calls through stubs of the linker: the stub's instructions are the caller's, as Callgrind has it.
 *
 * The shadow stack shows a call through a stub as one of the function behind it. What the stub executed then stands on its own,
 * and in the inclusive cost of the function: profile.c asks here to put it right.
 */
#ifndef SONDE_TOOLS_CALLS_STUBS_H
#define SONDE_TOOLS_CALLS_STUBS_H

#include "record.h"

typedef struct calls_stubs calls_stubs;

/** From all records. */
calls_stubs *calls_stubs_find(void);
void calls_stubs_free(calls_stubs *stubs);

/** The stub that the call instruction at `site` calls, NULL if it calls none. */
const calls_record *calls_stub_of(const calls_stubs *stubs, uint64_t site);

#endif
