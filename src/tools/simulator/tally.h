/**
 * @fileoverview How often a thread has entered each segment (segments.h).
 *
 * One thread (or its analysis worker) counts; others may read at the same time.
 */
#ifndef SONDE_TOOLS_SIMULATOR_TALLY_H
#define SONDE_TOOLS_SIMULATOR_TALLY_H

#include <stddef.h>
#include <stdint.h>

/** Each segment has so many counters, which are added up when they are read: in a loop of one segment, each increment of the
    same one would wait for the one before it. */
enum { CACHE_TALLY_LANES = 2 };

/** All zero is a valid, empty tally. */
typedef struct cache_tally {
    struct cache_tally_table *table;
} cache_tally;

/** The counters of the first `count` segments at least, one segment's behind the other's, zero at first. Valid until the next
    call. */
uint64_t *cache_tally_counts(cache_tally *tally, size_t count);

/** How often a segment was entered. */
uint64_t cache_tally_of(const cache_tally *tally, size_t segment);

/** Add all of `from` to `to`, which the caller alone uses. */
void cache_tally_add(cache_tally *to, const cache_tally *from);

void cache_tally_free(cache_tally *tally);

#endif
