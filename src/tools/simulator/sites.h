/**
 * @fileoverview What is counted for single instructions of blocks (sites) while the client runs: misses, mispredictions,
 * references whose number varies, passes cut short.
 *
 * All are rare, or come with slow instructions: so each thread has tables of its own, of which only the parts that are
 * used exist. One thread (or its analysis worker) writes; others may read at the same time.
 */
#ifndef SONDE_TOOLS_SIMULATOR_SITES_H
#define SONDE_TOOLS_SIMULATOR_SITES_H

#include <stdint.h>

#include "model.h"
#include "segments.h"

enum {
    CACHE_SITE_CUTS,         /**< passes that ended before this instruction */
    CACHE_SITE_MISPREDICTED,
    CACHE_SITE_REFERENCES,   /**< those that vary: one counter for each cache_kind */
    CACHE_SITE_MISSES = CACHE_SITE_REFERENCES + CACHE_KINDS, /**< kind * CACHE_MOST_LEVELS + level */
    CACHE_SITE_COUNTERS = CACHE_SITE_MISSES + CACHE_KINDS * CACHE_MOST_LEVELS,
};

/** All zero is a valid, empty table. */
typedef struct cache_sites {
    struct cache_site_chapter **chapters;
} cache_sites;

/** Numbers for `count` sites of a new record: the first one. Serialised by Sonde. */
uint32_t cache_sites_new(uint32_t count);

/** Where the instruction of a site is, which segment it belongs to (segments.h; none: 0), and to what that refers from this
    instruction on. Set while instrumenting; read by any thread. */
void cache_site_set_address(uint32_t site, uint64_t address);
void cache_site_set_segment(uint32_t site, uint32_t segment, cache_segment_size rest); /**< after its address */
uint64_t cache_site_address(uint32_t site);
uint32_t cache_site_segment(uint32_t site); /**< 0 if there is no such site */
cache_segment_size cache_site_rest(uint32_t site); /**< of one that has a segment */

/** The counters of a site, made if they are not there. */
uint64_t *cache_site_counters(cache_sites *sites, uint32_t site);

/** The counters of a site, NULL if all are 0. */
const uint64_t *cache_site_find(const cache_sites *sites, uint32_t site);

/** Add all of `from` to `to`. */
void cache_sites_add(cache_sites *to, const cache_sites *from);

void cache_sites_free(cache_sites *sites);

#endif
