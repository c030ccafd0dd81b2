/**
 * @fileoverview Blocks that nothing points to: see leaks.c.
 */
#ifndef MEMCHECK_LEAKS_H
#define MEMCHECK_LEAKS_H

#include "memcheck.h"

/** Bytes and blocks of each kind, and of what suppressions took. */
typedef struct mc_leak_totals {
    uint64_t bytes[MC_LEAK_KINDS], blocks[MC_LEAK_KINDS];
    uint64_t suppressed_bytes, suppressed_blocks;
    uint64_t indirect_bytes; /**< of those that are counted as part of what they hang from */
} mc_leak_totals;

/** Which records a search prints: all, or those of more leaks, or of other numbers of leaks, than at the search before. */
typedef enum mc_leak_compare { MC_LEAKS_ALL, MC_LEAKS_INCREASED, MC_LEAKS_CHANGED } mc_leak_compare;

/** Look for leaks now, and report as `how` says. In the engine, in a thread of the program that holds no lock. */
void mc_leaks_search(sn_thread *thread, mc_leak_check how, mc_leak_compare compare);
/** What the last search found. */
const mc_leak_totals *mc_leaks_found(void);

#endif
