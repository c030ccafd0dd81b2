/**
 * @fileoverview Where undefined values were made, for --track-origins=yes: see origins.c. Without that option there are none.
 */
#ifndef MEMCHECK_ORIGINS_H
#define MEMCHECK_ORIGINS_H

#include "memcheck.h"

/** Stands for a kind and a place; 0: unknown. */
typedef uint32_t mc_origin;

/** A block that was allocated in a context. */
mc_origin mc_origin_of_heap(sn_context allocated);
/** The instruction that moves the stack pointer. */
mc_origin mc_origin_of_stack(uint64_t instruction);
/** The request that the thread makes: that allocates a block, or that says that memory is undefined. */
mc_origin mc_origin_of_block_request(sn_thread *thread);
mc_origin mc_origin_of_request(sn_thread *thread);

/** Add what is to be said of an origin to an error; nothing of an unknown one. */
void mc_origin_tell(mc_origin origin, mc_finding *finding);

#endif
