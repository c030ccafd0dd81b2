/**
 * @fileoverview A first-level cache for instructions. See code_cache.h.
 */
#include "code_cache.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum { FIRST_ROOM = 4096 };

/* ------------------------------------------------------------------------ all lines */

/** Lines by number. It grows by being copied; readers go on with the one that they have. */
typedef struct line_table {
    struct line_table *smaller; /**< given up, but somebody may be reading it */
    uint32_t count, room;
    uint64_t *lines;
    uint32_t *places; /**< a hash table: numbers, CACHE_NO_CODE_LINE for a free place; twice as many as `room` */
} line_table;

static line_table *known_lines;

static uint32_t *place_of(const line_table *table, uint64_t line) {
    uint64_t at = line * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    for (;; at++) {
        uint32_t *place = &table->places[at & (2 * table->room - 1)];
        if (*place == CACHE_NO_CODE_LINE || table->lines[*place] == line) {
            return place;
        }
    }
}

static line_table *grown(line_table *from) {
    line_table *to = cache_memory_new(1, sizeof *to);
    to->smaller = from;
    to->room = from == NULL ? FIRST_ROOM : 2 * from->room;
    to->lines = cache_memory_new(to->room, sizeof *to->lines);
    to->places = cache_memory_new(2 * (size_t)to->room, sizeof *to->places);
    to->count = from == NULL ? CACHE_NO_CODE_LINE + 1 : from->count;
    for (uint32_t i = CACHE_NO_CODE_LINE + 1; i < to->count; i++) {
        to->lines[i] = from->lines[i];
        *place_of(to, to->lines[i]) = i;
    }
    return to;
}

uint32_t cache_code_line(uint64_t line) {
    line_table *table = known_lines;
    if (table == NULL || table->count == table->room) {
        table = grown(table);
        __atomic_store_n(&known_lines, table, __ATOMIC_RELEASE);
    }
    uint32_t *place = place_of(table, line);
    if (*place == CACHE_NO_CODE_LINE) {
        table->lines[table->count] = line;
        *place = table->count;
        __atomic_store_n(&table->count, table->count + 1, __ATOMIC_RELEASE);
    }
    return *place;
}

/* ------------------------------------------------------------------------- a cache */

void cache_code_cache_init(cache_code_cache *cache, const cache_geometry *geometry) {
    uint64_t sets = cache_geometry_sets(geometry);
    *cache = (cache_code_cache){
        .sets = cache_memory_new(sets * geometry->ways, sizeof *cache->sets),
        .set_mask = sets - 1,
        .ways = (uint32_t)geometry->ways,
    };
}

void cache_code_cache_release(cache_code_cache *cache) {
    free(cache->last_uses);
    free(cache->sets);
}

void cache_code_cache_prepare(cache_code_cache *cache) {
    const line_table *table = __atomic_load_n(&known_lines, __ATOMIC_ACQUIRE);
    size_t needed = table == NULL ? CACHE_NO_CODE_LINE + 1 : table->room;
    if (needed <= cache->room) {
        return;
    }
    cache->last_uses = cache_memory_resized(cache->last_uses, needed, sizeof *cache->last_uses);
    memset(cache->last_uses + cache->room, 0, (needed - cache->room) * sizeof *cache->last_uses);
    cache->room = needed;
}

/** Put a line in place of the one of its set that was used longest ago, an empty place being used before all. */
static void put(cache_code_cache *cache, uint32_t line) {
    uint64_t set = __atomic_load_n(&known_lines, __ATOMIC_ACQUIRE)->lines[line] & cache->set_mask;
    uint32_t *places = cache->sets + set * cache->ways, oldest = 0;
    uint64_t first_use = cache->last_uses[places[0]];
    /* which is older decides over numbers, not over the way that the processor takes: it could not predict that */
    for (uint32_t i = 1; i < cache->ways; i++) {
        uint64_t use = cache->last_uses[places[i]];
        oldest = use < first_use ? i : oldest;
        first_use = use < first_use ? use : first_use;
    }
    cache->last_uses[places[oldest]] = CACHE_NOT_CACHED;
    places[oldest] = line;
}

bool cache_code_cache_use(cache_code_cache *cache, uint32_t line) {
    bool is_hit = cache->last_uses[line] != CACHE_NOT_CACHED;
    if (!is_hit) {
        put(cache, line);
    }
    cache->last_uses[line] = ++cache->now;
    return is_hit;
}
