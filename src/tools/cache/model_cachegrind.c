/**
 * @fileoverview The default model: first-level caches for instructions and data, and a last level for both, as Cachegrind
 * simulates them.
 *
 * LRU, write-allocate. A reference that spans lines counts as one miss if any of them is missing, and then goes as a whole
 * to the last level. What is fetched into a first-level cache is fetched into the last one; nothing is taken out of the
 * first when the last level replaces it. Each thread has first-level caches of its own.
 */
#include "level.h"
#include "model.h"
#include "shared_level.h"

enum { I1, D1, PRIVATE }; /**< caches of each core */

typedef struct core {
    cache_level levels[PRIVATE];
} core;

static const cache_geometry *private_geometries[PRIVATE];
static cache_shared_level *last;

static void start(const cache_geometry *geometries) {
    private_geometries[I1] = &geometries[CACHE_I1];
    private_geometries[D1] = &geometries[CACHE_D1];
    last = cache_shared_level_new(&geometries[CACHE_LL]);
}

static void *core_new(void) {
    return cache_core_new(sizeof(core), private_geometries, PRIVATE);
}

static void core_free(void *old) {
    cache_core_free(old, PRIVATE);
}

static unsigned refer(void *data, const cache_reference *reference) {
    core *mine = data;
    cache_level *first = reference->kind == CACHE_FETCH ? &mine->levels[I1] : &mine->levels[D1];
    if (cache_level_refer(first, reference->address, reference->size)) {
        return 0;
    }
    return cache_shared_level_refer(last, reference->address, reference->size) ? 1 : 2;
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
    .core_new = core_new,
    .core_free = core_free,
    .refer = refer,
};
