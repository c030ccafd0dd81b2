/**
 * @fileoverview A first-level cache for instructions (I1), in which nothing is moved when a line is used again.
 *
 * Lines of code are known when it is translated: each gets a number then. A cache remembers for each line when it was used
 * last, if it is in the cache; that is all that a hit changes. A miss looks in its set for the line that was used
 * longest ago: LRU, as level.h has it.
 */
#ifndef SONDE_TOOLS_SIMULATOR_CODE_CACHE_H
#define SONDE_TOOLS_SIMULATOR_CODE_CACHE_H

#include <stdbool.h>

#include "geometry.h"

enum {
    CACHE_NO_CODE_LINE = 0, /**< what has no line */
    CACHE_NOT_CACHED = 0,   /**< when a line was used last that is not in the cache; the line of what has none never is */
};

/** The number of a line of code (address / line size), new if it is not known yet. Serialised by Sonde. */
uint32_t cache_code_line(uint64_t line);

typedef struct cache_code_cache {
    uint64_t *last_uses; /**< by line; simulate.c updates it itself for lines that are in the cache */
    uint64_t now;        /**< last use of all */
    size_t room;         /**< of last_uses */
    uint32_t *sets;      /**< for each set the lines that are in it, in no order, CACHE_NO_CODE_LINE for an empty place */
    uint64_t set_mask;
    uint32_t ways;
} cache_code_cache;

void cache_code_cache_init(cache_code_cache *cache, const cache_geometry *geometry);
void cache_code_cache_release(cache_code_cache *cache);

/** Make room for all lines that are known now; before anything that may be new is used. */
void cache_code_cache_prepare(cache_code_cache *cache);

/** Use a line. Returns whether it was there. */
bool cache_code_cache_use(cache_code_cache *cache, uint32_t line);

#endif
