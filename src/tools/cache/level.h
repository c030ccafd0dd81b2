/**
 * @fileoverview One set-associative cache with LRU replacement: the first levels, and what the models are made of.
 *
 * The set of a line is given by the low bits of its number. Not thread-safe: shared caches lock (shared_level.h).
 */
#ifndef SONDE_TOOLS_CACHE_LEVEL_H
#define SONDE_TOOLS_CACHE_LEVEL_H

#include <stdbool.h>

#include "geometry.h"

/** Sets of up to CACHE_LEVEL_VECTOR * 2 ways are as long as whole vectors of this many tags, and begin where such may. */
enum { CACHE_LEVEL_VECTOR = 8 };

typedef struct cache_level {
    uint64_t *tags;      /**< for each set its ways, the last used first: line number + 1, 0 for an empty one */
    uint64_t set_mask;
    uint32_t ways;
    uint32_t stride;     /**< tags from one set to the next */
    uint32_t line_shift; /**< line number = address >> line_shift */
    void *memory;        /**< that `tags` is in */
} cache_level;

void cache_level_init(cache_level *level, const cache_geometry *geometry);
void cache_level_release(cache_level *level);

static inline uint64_t *cache_level_set(const cache_level *level, uint64_t line) {
    return level->tags + (line & level->set_mask) * level->stride;
}

/** Use a line: it becomes the last used of its set, in place of the one least recently used if it was not there. Returns
    whether it was. */
static inline bool cache_level_use(cache_level *level, uint64_t line) {
    uint64_t *set = cache_level_set(level, line), tag = line + 1;
    if (set[0] == tag) {
        return true;
    }
    uint64_t moved = set[0];
    set[0] = tag;
    if (moved == 0) {
        return false;
    }
    /* Those before it move one place on, in one pass; what is behind an empty place is empty. */
    for (uint64_t *place = set + 1, *end = set + level->ways; place < end; place++) {
        uint64_t next = *place;
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

/** The line at that address will be used soon: have the memory of its set fetched. */
static inline void cache_level_expect(const cache_level *level, uint64_t address) {
    enum { PROCESSOR_LINE = 64 / sizeof(uint64_t) };
    const uint64_t *set = cache_level_set(level, address >> level->line_shift);
    for (uint32_t way = 0; way < level->ways; way += PROCESSOR_LINE) {
        __builtin_prefetch(set + way, 1);
    }
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
