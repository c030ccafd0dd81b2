/**
 * @fileoverview What the kernel is given: see system_calls.c.
 */
#ifndef MEMCHECK_SYSTEM_CALLS_H
#define MEMCHECK_SYSTEM_CALLS_H

#include "memcheck.h"

/** The engine's callback: all memory that the call reads or may write must be addressable. */
void mc_system_call_before(sn_thread *thread, const sn_system_call *call);

#endif
