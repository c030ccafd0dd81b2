/**
 * @fileoverview Client requests of valgrind.h and memcheck.h: see requests.c.
 */
#ifndef MEMCHECK_REQUESTS_H
#define MEMCHECK_REQUESTS_H

#include "memcheck.h"

/** For the tool's `request` callback. */
bool mc_request(sn_thread *thread, const uint64_t arguments[6], uint64_t *result);

#endif
