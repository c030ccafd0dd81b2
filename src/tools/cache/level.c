/**
 * @fileoverview Memory of caches. See level.h.
 */
#include "level.h"

#include <stdlib.h>

#include <sonde/tool.h>

void cache_level_init(cache_level *level, const cache_geometry *geometry) {
    uint64_t sets = cache_geometry_sets(geometry);
    *level = (cache_level){
        .tags = calloc(sets * geometry->ways, sizeof *level->tags), /* large ones cost nothing until they are used */
        .set_mask = sets - 1,
        .ways = (uint32_t)geometry->ways,
        .line_shift = (uint32_t)__builtin_ctzll(geometry->line),
    };
    if (level->tags == NULL) {
        sn_fail(125, "cache: out of memory");
    }
}

void cache_level_release(cache_level *level) {
    free(level->tags);
    *level = (cache_level){0};
}

void *cache_core_new(size_t size, const cache_geometry *const *geometries, unsigned count) {
    cache_level *levels = calloc(1, size);
    if (levels == NULL) {
        sn_fail(125, "cache: out of memory");
    }
    for (unsigned i = 0; i < count; i++) {
        cache_level_init(&levels[i], geometries[i]);
    }
    return levels;
}

void cache_core_free(void *core, unsigned count) {
    cache_level *levels = core;
    for (unsigned i = 0; i < count; i++) {
        cache_level_release(&levels[i]);
    }
    free(core);
}
