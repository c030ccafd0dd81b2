/**
 * @fileoverview Blocks and pools of allocators of the program's own, told by client requests: see pools.c.
 */
#ifndef MEMCHECK_POOLS_H
#define MEMCHECK_POOLS_H

#include "memcheck.h"

/** False if it is no request about blocks or pools. */
bool mc_pool_request(sn_thread *thread, const uint64_t arguments[6], uint64_t *result);

#endif
