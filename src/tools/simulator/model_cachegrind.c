/**
 * @fileoverview The default model: behind the first-level caches, a last level for all, as Cachegrind simulates them.
 *
 * LRU, write-allocate. A reference that misses the first level goes as a whole to the last level. What is fetched into a
 * first-level cache is fetched into the last one; nothing is taken out of the first when the last level replaces it.
 */
#include "model.h"
#include "shared_level.h"

static cache_shared_level *last;

static void start(const cache_geometry *geometries) {
    last = cache_shared_level_new(&geometries[CACHE_LL]);
}

static void miss(void *core, const cache_miss *misses, uint32_t count, uint8_t *levels) {
    (void)core;
    cache_shared_level_refer_all(last, misses, count, levels);
    for (uint32_t i = 0; i < count; i++) {
        levels[i] = levels[i] ? 1 : 2;
    }
}

const cache_model cache_model_cachegrind = {
    .name = "cachegrind",
    .has = {[CACHE_I1] = true, [CACHE_D1] = true, [CACHE_LL] = true},
    .level_count = 2,
    .events =
        {
            [CACHE_FETCH] = {"I1mr", "ILmr"},
            [CACHE_READ] = {"D1mr", "DLmr"},
            [CACHE_WRITE] = {"D1mw", "DLmw"},
        },
    .level_names = {"1", "LL"},
    .start = start,
    .miss = miss,
};
