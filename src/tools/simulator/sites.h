/**
 * @fileoverview What is counted for single instructions of blocks (sites) while the client runs: misses, mispredictions,
 * references whose number varies, passes cut short.
 *
 * All are rare, or come with slow instructions: so each thread has tables of its own, of which only the parts that are
 * used exist. One thread (or its analysis worker) writes; others may read at the same time, unless contexts are told apart.
 *
 * A tool may tell apart in which context something happened, by numbers of its own: then each site has counters in each. Context
 * 0 is where all is counted for a tool that does not.
 */
#ifndef SONDE_TOOLS_SIMULATOR_SITES_H
#define SONDE_TOOLS_SIMULATOR_SITES_H

#include <stdint.h>

#include <sonde/arena.h>
#include <sonde/table.h>

#include "model.h"
#include "segments.h"

enum {
    CACHE_SITE_CUTS,         /**< passes that ended before this instruction */
    CACHE_SITE_MISPREDICTED,
    CACHE_SITE_REFERENCES,   /**< those that vary: one counter for each cache_kind */
    CACHE_SITE_MISSES = CACHE_SITE_REFERENCES + CACHE_KINDS, /**< kind * CACHE_MOST_LEVELS + level */
    CACHE_SITE_COUNTERS = CACHE_SITE_MISSES + CACHE_KINDS * CACHE_MOST_LEVELS,
};

/** A site in a context that is not 0. */
typedef struct cache_site_key {
    uint64_t context, site;
} cache_site_key;
typedef struct cache_site_apart {
    cache_site_key key;
    uint64_t *counters;
} cache_site_apart;

/** All zero is a valid, empty table. */
typedef struct cache_sites {
    const struct cache_sites *joined;     /**< cache_sites_join(): what is in that one, and nothing else; else NULL */
    struct cache_site_chapter **chapters; /**< of context 0 */
    struct cache_site_block *blocks;      /**< what their memory is taken from */
    SN_TABLE(cache_site_apart) apart;     /**< of all others */
    sn_arena apart_counters;
    uint32_t context;                     /**< the one that is counted in now; set by who owns the table */
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

/** The counters of a site in a context, made if they are not there. They stay where they are until all are freed. */
uint64_t *cache_site_counters_in(cache_sites *sites, uint32_t context, uint32_t site);

/** The same in the context that is counted in now. */
static inline uint64_t *cache_site_counters(cache_sites *sites, uint32_t site) {
    return cache_site_counters_in(sites, sites->context, site);
}

/** The counters of a site in a context, NULL if all are 0. */
const uint64_t *cache_site_find_in(const cache_sites *sites, uint32_t context, uint32_t site);

/** The same in context 0. */
static inline const uint64_t *cache_site_find(const cache_sites *sites, uint32_t site) {
    return cache_site_find_in(sites, 0, site);
}

/** One of the two below. */
typedef void cache_sites_adder(cache_sites *to, const cache_sites *from);

/** Add all of `from` to `to`. */
void cache_sites_add(cache_sites *to, const cache_sites *from);

/** The same, where `from` stays where it is and counts nothing more in contexts, as long as `to` is read: if `to` was empty, nothing is
    copied. Of cc1, with calls, that is 130 MB of 830. */
void cache_sites_join(cache_sites *to, const cache_sites *from);

/** Forget all that was counted; the context stays. */
void cache_sites_free(cache_sites *sites);

#endif
