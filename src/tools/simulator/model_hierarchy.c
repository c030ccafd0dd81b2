/**
 * @fileoverview A model nearer to today's processors: behind the first-level caches, a second level of each thread's own, a
 * shared third level, and a prefetcher.
 *
 * LRU and write-allocate at all levels; none is exclusive. The prefetcher watches the data references that miss the first
 * level, by instruction: when one is the same distance from the one before it for the second time running, the next two
 * lines at that distance are brought into the second and third level, as long as they are in the same page of 4 KiB. What
 * it brings is no reference and no miss.
 */
#include <stdlib.h>

#include "level.h"
#include "memory.h"
#include "model.h"
#include "shared_level.h"
#include "sites.h"

enum { STREAMS = 256, SURE = 2, AHEAD = 2, PAGE_SHIFT = 12 };

/** What the prefetcher knows of one instruction. Several may share an entry and then disturb each other. */
typedef struct stream {
    uint64_t instruction; /**< its address */
    uint64_t line;     /**< of the second level, last missed */
    int64_t distance;  /**< lines */
    unsigned repeated; /**< how often the distance was the same, up to SURE */
} stream;

typedef struct core {
    cache_level second;
    stream streams[STREAMS];
} core;

static const cache_geometry *second_geometry;
static cache_shared_level *last;

static void start(const cache_geometry *geometries) {
    second_geometry = &geometries[CACHE_L2];
    last = cache_shared_level_new(&geometries[CACHE_LL]);
}

static void *core_new(void) {
    core *new = cache_memory_new(1, sizeof *new);
    cache_level_init(&new->second, second_geometry);
    return new;
}

static void core_free(void *old) {
    core *its = old;
    cache_level_release(&its->second);
    free(its);
}

static void bring_ahead(core *mine, const stream *known) {
    uint32_t shift = mine->second.line_shift;
    for (int64_t i = 1; i <= AHEAD; i++) {
        uint64_t line = known->line + (uint64_t)(i * known->distance);
        if (line << shift >> PAGE_SHIFT != known->line << shift >> PAGE_SHIFT) {
            return;
        }
        if (!cache_level_use(&mine->second, line)) {
            cache_shared_level_refer(last, line << shift, 1);
        }
    }
}

/** Learn from a miss. Lines beyond the first, of a reference that spans some, are not looked at. */
static void watch(core *mine, const cache_reference *reference) {
    uint64_t instruction = cache_site_address(reference->site);
    stream *known = &mine->streams[(instruction ^ instruction >> 8) % STREAMS];
    uint64_t line = reference->address >> mine->second.line_shift;
    int64_t distance = (int64_t)(line - known->line);
    if (known->instruction != instruction) {
        *known = (stream){.instruction = instruction, .line = line};
        return;
    }
    if (distance == 0) {
        return;
    }
    bool is_same = distance == known->distance;
    known->line = line;
    known->distance = distance;
    known->repeated = !is_same ? 1 : known->repeated < SURE ? known->repeated + 1 : SURE;
    if (known->repeated == SURE) {
        bring_ahead(mine, known);
    }
}

static uint8_t miss_one(core *mine, const cache_reference *reference) {
    uint8_t missed = 1;
    if (!cache_level_refer(&mine->second, reference->address, reference->size)) {
        missed = cache_shared_level_refer(last, reference->address, reference->size) ? 2 : 3;
    }
    if (reference->kind != CACHE_FETCH) {
        watch(mine, reference);
    }
    return missed;
}

static void miss(void *data, const cache_miss *misses, uint32_t count, uint8_t *levels) {
    core *mine = data;
    for (uint32_t i = 0; i < count; i++) {
        cache_level_expect(&mine->second, misses[i].reference.address);
        cache_shared_level_expect(last, misses[i].reference.address);
    }
    for (uint32_t i = 0; i < count; i++) {
        levels[i] = miss_one(mine, &misses[i].reference);
    }
}

const cache_model cache_model_hierarchy = {
    .name = "hierarchy",
    .has = {[CACHE_I1] = true, [CACHE_D1] = true, [CACHE_L2] = true, [CACHE_LL] = true},
    .level_count = 3,
    .events =
        {
            [CACHE_FETCH] = {"I1mr", "I2mr", "ILmr"},
            [CACHE_READ] = {"D1mr", "D2mr", "DLmr"},
            [CACHE_WRITE] = {"D1mw", "D2mw", "DLmw"},
        },
    .level_names = {"1", "2", "LL"},
    .start = start,
    .core_new = core_new,
    .core_free = core_free,
    .miss = miss,
};
