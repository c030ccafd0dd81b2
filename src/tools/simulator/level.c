/**
 * @fileoverview Memory of caches. See level.h.
 */
#include "level.h"

#include <stdlib.h>

#include "memory.h"

void cache_level_init(cache_level *level, const cache_geometry *geometry) {
    enum { ALIGNMENT = CACHE_LEVEL_VECTOR * sizeof *level->tags };
    uint64_t sets = cache_geometry_sets(geometry), vectors = (geometry->ways + CACHE_LEVEL_VECTOR - 1) / CACHE_LEVEL_VECTOR;
    uint32_t stride = geometry->ways < CACHE_LEVEL_FEW ? (uint32_t)geometry->ways : CACHE_LEVEL_VECTOR;
    *level = (cache_level){
        .set_mask = sets - 1,
        .next_vector = sets * stride,
        .ways = (uint32_t)geometry->ways,
        .stride = stride,
        .line_shift = (uint32_t)__builtin_ctzll(geometry->line),
        .set_bits = (uint32_t)__builtin_ctzll(sets),
    };
    /* large ones cost nothing until they are used */
    level->memory = cache_memory_new(vectors * sets * stride * sizeof *level->tags + ALIGNMENT, 1);
    level->tags = (uint64_t *)(((uintptr_t)level->memory + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1));
}

void cache_level_name_lines(cache_level *level) {
    enum { LEAST_SHIFT = 12 };
    if (level->ways > CACHE_LEVEL_VECTOR && level->ways <= 2 * CACHE_LEVEL_VECTOR &&
        level->line_shift + level->set_bits >= LEAST_SHIFT) {
        level->names = (uint32_t *)level->tags; /* which take twice as much */
    }
}

void cache_level_release(cache_level *level) {
    free(level->memory);
    *level = (cache_level){0};
}
