/**
 * @fileoverview Telling a tool of accesses that are known only when an instruction runs (sn_insert_accesses,
 * sn_thread_accesses), and of instructions that cannot be looked at before (sn_on_unreadable).
 *
 * Called by the dispatcher, with the client's state exact in the thread.
 */
#ifndef SONDE_GUEST_ENUMERATE_H
#define SONDE_GUEST_ENUMERATE_H

#include "jit/block.h"
#include "jit/thread.h"

/** Before the instruction, or, if it is repeated: note the state before, and tell afterwards. */
void sn_enumerate_accesses(sn_thread *thread, const sn_call_record *call);

/** If a repeated instruction was left early: tell of what it did. */
void sn_enumerate_interrupted(sn_thread *thread);

/** The instruction at thread->pc is to run bare, because analysis code could not read what it looks at. */
void sn_enumerate_unreadable(sn_thread *thread);

#endif
