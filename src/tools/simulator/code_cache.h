/**
 * @fileoverview A first-level cache for instructions (I1), in which nothing is moved when a line is used again.
 *
 * Lines of code, and the segments (segments.h) that they are part of, are known when code is translated. A cache remembers for each
 * line when it was used last; a miss looks in its set for the one that was used longest ago: LRU, as level.h has it.
 *
 * While hardly anything misses, it remembers instead for each segment when it was entered last, if its lines are all in the cache: a
 * single number, and the lines need not be known. It is only a miss then that asks when lines were used, which is when the last of
 * their segments was entered. This takes longer. So cache_code_cache_prepare() decides how it is to be done.
 */
#ifndef SONDE_TOOLS_SIMULATOR_CODE_CACHE_H
#define SONDE_TOOLS_SIMULATOR_CODE_CACHE_H

#include <stdbool.h>

#include "geometry.h"

enum {
    CACHE_NO_CODE_LINE = 0, /**< what has no line */
    CACHE_NOT_ENTERED = 0,  /**< when a segment was entered last whose lines may not all be in the cache */
};

/** The lines of I1 that a segment's code is in: the first and the last, which may be the same one. */
typedef struct cache_code_lines {
    uint32_t first, last; /**< CACHE_NO_CODE_LINE, both: it is no code */
} cache_code_lines;

/** The number of a line of code (address / line size), new if it is not known yet. Serialised by Sonde. */
uint32_t cache_code_line(uint64_t line);

/** A new segment uses these lines. Serialised by Sonde; before it is entered. */
void cache_code_lines_add(cache_code_lines lines, uint32_t segment);

typedef struct cache_code_cache {
    bool by_segments;  /**< it remembers segments */
    uint64_t *entered; /**< by segment: when last, or CACHE_NOT_ENTERED */
    uint64_t now;      /**< last entry of all; the first line is used at twice that time, the last one at one more */
    size_t segment_room, line_room;
    uint32_t *places;  /**< by line: where it is in the two below, which have nothing at 0: then it is not in the cache */
    uint32_t *lines;   /**< the ways of each set: the lines that are in it, in no order, CACHE_NO_CODE_LINE for an empty place, */
    uint64_t *uses;    /**< and when they were used; since then, they may have been by segments that are in `entered` */
    uint64_t set_mask;
    uint32_t ways;
    uint64_t misses;   /**< since it was prepared last, */
    uint64_t words;    /**< for so many words; */
    unsigned calm;     /**< how often running there were hardly any */
} cache_code_cache;

void cache_code_cache_init(cache_code_cache *cache, const cache_geometry *geometry);
void cache_code_cache_release(cache_code_cache *cache);

/** Make room for so many segments, and all lines that are known now; before anything that may be new is used. So many words of
    the trace come until the next time. */
void cache_code_cache_prepare(cache_code_cache *cache, size_t segments, size_t words);

/** What it takes to enter segments quickly, one behind the other; `now` goes back to the cache then. */
typedef struct cache_code_entrance {
    uint64_t *entered, *uses, now;
    const uint32_t *places;
} cache_code_entrance;

static inline cache_code_entrance cache_code_cache_entrance(const cache_code_cache *cache) {
    return (cache_code_entrance){cache->entered, cache->uses, cache->now, cache->places};
}

/** Enter a segment that has these lines, if the cache is as it was made for: it remembers segments or lines. If that returns false, it
    must be cache_code_cache_enter() that does. */
static inline bool cache_code_enter_quickly(cache_code_entrance *at, bool by_segments, uint32_t segment,
                                            const cache_code_lines *lines) {
    if (by_segments) {
        if (at->entered[segment] == CACHE_NOT_ENTERED) {
            return false;
        }
        at->entered[segment] = ++at->now;
        return true;
    }
    uint32_t first = at->places[lines->first], last = at->places[lines->last];
    if (first == 0 || last == 0) {
        return false;
    }
    at->now++;
    at->uses[first] = 2 * at->now;
    at->uses[last] = 2 * at->now + 1;
    return true;
}

/** What was not in the cache. */
typedef struct cache_code_miss {
    bool first, last;
} cache_code_miss;

/** Enter a segment that has these lines: use the first one, and then the last one. */
cache_code_miss cache_code_cache_enter(cache_code_cache *cache, uint32_t segment, cache_code_lines lines);

#endif
