/**
 * @fileoverview The result of a run: events by source line. Made at the end by cache.c; summary.c prints its totals.
 */
#ifndef SONDE_TOOLS_CACHE_PROFILE_H
#define SONDE_TOOLS_CACHE_PROFILE_H

#include "thread.h"

enum { CACHE_MOST_EVENTS = CACHE_KINDS * (1 + CACHE_MOST_LEVELS) + 4 };

typedef struct cache_row {
    const char *file;     /**< NULL: unknown */
    const char *function;
    unsigned line;        /**< 0: unknown */
    int64_t counts[CACHE_MOST_EVENTS];
} cache_row;

typedef SN_VECTOR(cache_row) cache_rows;

typedef struct cache_profile {
    const char *events[CACHE_MOST_EVENTS]; /**< in Cachegrind's order: Ir I1mr ILmr Dr ... Bc Bcm Bi Bim */
    unsigned event_count;
    int64_t totals[CACHE_MOST_EVENTS];
    cache_rows rows;                       /**< by file, function and line */
} cache_profile;

/** Where the events of a kind of reference are in a row: the references, then the misses of each level. */
unsigned cache_profile_references(cache_kind kind);
/** Where Bc is, with Bcm, Bi and Bim behind it. */
unsigned cache_profile_branches(void);

/** Its name, as sn_file_create() wants it. Set by cache.c. */
extern const char *cache_profile_file;

void cache_profile_make(cache_profile *profile, const cache_summary *summary);
/** Write it to the file that the options name. */
void cache_profile_write(const cache_profile *profile);
void cache_profile_free(cache_profile *profile);

#endif
