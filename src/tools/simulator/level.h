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
    uint32_t set_bits;
    /** Or else, for sets of more than one such vector and up to two: 32 bits for each way, two vectors' worth side by side for each set,
        the last used first: cache_level_name(), and 1, 0 for an empty one. NULL: there are `tags`. Only the passes that
        x86_64/vector_passes.c has for such levels know of it. */
    uint32_t *names;
    void *memory;        /**< that the one or the other is in */
} cache_level;

void cache_level_init(cache_level *level, const cache_geometry *geometry);
void cache_level_release(cache_level *level);

/** Have `names` instead of `tags`, if it can be. Before it is used. */
void cache_level_name_lines(cache_level *level);

/** What of a line is above the bits that give the set, in 32 bits. The client's memory is below 2^31 and from 2^44 to 3 * 2^43, the
    vdso elsewhere below 2^47: lines of different parts have different names, as address bits 12 to 43 are there, and bit 44 where bit 43
    is, which the second part does not have. */
static inline uint32_t cache_level_name(const cache_level *level, uint64_t line) {
    uint64_t above = line >> level->set_bits;
    return (uint32_t)(above ^ above >> 32 << 31);
}

/** The names of the set of a line. */
static inline uint32_t *cache_level_names(const cache_level *level, uint64_t line) {
    return level->names + (line & level->set_mask) * 2 * CACHE_LEVEL_VECTOR;
}

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
    uint64_t line = address >> level->line_shift;
    __builtin_prefetch(level->names != NULL ? (void *)cache_level_names(level, line) : (void *)cache_level_set(level, line), 1);
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
