/**
 * @fileoverview One set-associative cache with LRU replacement, of which the models are made.
 *
 * The set of a line is given by the low bits of its number. Not thread-safe: shared caches lock (shared_level.h).
 */
#ifndef SONDE_TOOLS_CACHE_LEVEL_H
#define SONDE_TOOLS_CACHE_LEVEL_H

#include <stdbool.h>

#include "geometry.h"

typedef struct cache_level {
    uint64_t *tags;      /**< for each set its ways, the last used first: line number + 1, 0 for an empty one */
    uint64_t set_mask;
    uint32_t ways;
    uint32_t line_shift; /**< line number = address >> line_shift */
} cache_level;

void cache_level_init(cache_level *level, const cache_geometry *geometry);
void cache_level_release(cache_level *level);

/** A model's core of `size` zeroed bytes, which begins with caches of these geometries; and its end. */
void *cache_core_new(size_t size, const cache_geometry *const *geometries, unsigned count);
void cache_core_free(void *core, unsigned count);

/** Use a line: it becomes the last used of its set, in place of the one least recently used if it was not there. Returns
    whether it was. */
static inline bool cache_level_use(cache_level *level, uint64_t line) {
    uint64_t *set = level->tags + (line & level->set_mask) * level->ways, tag = line + 1;
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

/** Use all lines of the bytes from `address` on. Returns whether all were there. */
static inline bool cache_level_refer(cache_level *level, uint64_t address, uint32_t size) {
    uint64_t line = address >> level->line_shift, last = (address + size - 1) >> level->line_shift;
    bool is_hit = cache_level_use(level, line);
    while (line < last) {
        is_hit &= cache_level_use(level, ++line);
    }
    return is_hit;
}

#endif
