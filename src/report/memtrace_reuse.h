/**
 * @fileoverview Reuse distances: how many different lines of memory a thread has accessed since it last accessed this one.
 *
 * A fully associative cache of N lines with replacement of the least recently used misses exactly the accesses whose
 * distance is N or more. Exact, in logarithmic time an access.
 */
#ifndef SONDE_REPORT_MEMTRACE_REUSE_H
#define SONDE_REPORT_MEMTRACE_REUSE_H

#include <stdint.h>

#include "sonde/hash.h"

typedef struct sn_reuse sn_reuse;

sn_reuse *sn_reuse_new(void);
void sn_reuse_free(sn_reuse *reuse);

#define SN_REUSE_NEVER UINT64_MAX

/** Distance of an access to `line`, counted in different lines since its last one; SN_REUSE_NEVER for the first one. */
uint64_t sn_reuse_access(sn_reuse *reuse, uint64_t line);

#endif
