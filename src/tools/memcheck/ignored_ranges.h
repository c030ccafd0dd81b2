/**
 * @fileoverview Addresses of which wrong accesses are not reported (VALGRIND_DISABLE_ADDR_ERROR_REPORTING_IN_RANGE): see
 * ignored_ranges.c.
 */
#ifndef MEMCHECK_IGNORED_RANGES_H
#define MEMCHECK_IGNORED_RANGES_H

#include "memcheck.h"

/** From now on, accesses in a range are not reported, or are again. Whether there is anything in the range. */
bool mc_ignore_range(uint64_t start, uint64_t size, bool is_ignored);
/** Whether accesses at an address are not reported. SN_FAST. */
bool mc_is_ignored(uint64_t address);

#endif
