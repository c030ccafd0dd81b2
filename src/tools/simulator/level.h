/**
 * @fileoverview One set-associative cache with LRU replacement: the first levels, and what the models are made of.
 *
 * The set of a line is given by the low bits of its number. Not thread-safe: shared caches lock (shared_level.h).
 */
#ifndef SONDE_TOOLS_SIMULATOR_LEVEL_H
#define SONDE_TOOLS_SIMULATOR_LEVEL_H

#include <stdbool.h>

#include "geometry.h"

/** Sets of CACHE_LEVEL_FEW or more ways are made of whole vectors of so many tags, which begin where such may. The first
    vectors of all sets are behind each other, then the second ones: of large caches, these are seldom used. */
enum { CACHE_LEVEL_VECTOR = 8, CACHE_LEVEL_FEW = 5 };

typedef struct cache_level {
    uint64_t *tags;      /**< for each set its ways, the last used first: line number + 1, 0 for an empty one */
    uint64_t set_mask;
    uint64_t next_vector; /**< tags from one vector of a set to the next */
    uint32_t ways;
    uint32_t stride;     /**< tags from one set to the next */
    uint32_t line_shift; /**< line number = address >> line_shift */
    void *memory;        /**< that `tags` is in */
} cache_level;

void cache_level_init(cache_level *level, const cache_geometry *geometry);
void cache_level_release(cache_level *level);

/** The first tag of the set of a line. */
static inline uint64_t *cache_level_set(const cache_level *level, uint64_t line) {
    return level->tags + (line & level->set_mask) * level->stride;
}

/** The tag of a way. */
static inline uint64_t *cache_level_way(const cache_level *level, uint64_t *set, uint32_t way) {
    return set + way / CACHE_LEVEL_VECTOR * level->next_vector + way % CACHE_LEVEL_VECTOR;
}

/** Use a line: it becomes the last used of its set, in place of the one least recently used if it was not there. Returns
    whether it was. */
static inline bool cache_level_use(cache_level *level, uint64_t line) {
    uint64_t *set = cache_level_set(level, line), tag = line + 1, moved = tag;
    /* Those before it move one place on, in one pass; what is behind an empty place is empty. */
    for (uint32_t way = 0; way < level->ways; way++) {
        uint64_t *place = cache_level_way(level, set, way), next = *place;
        *place = moved;
        if (next == tag) {
            return true;
        }
        if (next == 0) {
            return false;
        }
        moved = next;
    }
    return false;
}

/** The line at that address will be used soon: have the memory of its set fetched, of which the beginning mostly does. */
static inline void cache_level_expect(const cache_level *level, uint64_t address) {
    __builtin_prefetch(cache_level_set(level, address >> level->line_shift), 1);
}

/** Use all of these lines. Returns whether all were there. */
static inline bool cache_level_use_lines(cache_level *level, uint64_t first, uint64_t last) {
    bool is_hit = cache_level_use(level, first);
    while (first < last) {
        is_hit &= cache_level_use(level, ++first);
    }
    return is_hit;
}

/** Use all lines of the bytes from `address` on. Returns whether all were there. */
static inline bool cache_level_refer(cache_level *level, uint64_t address, uint32_t size) {
    return cache_level_use_lines(level, address >> level->line_shift, (address + size - 1) >> level->line_shift);
}

#endif
