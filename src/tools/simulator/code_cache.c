/**
 * @fileoverview A first-level cache for instructions. See code_cache.h.
 */
#include "code_cache.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum { FIRST_ROOM = 4096, FIRST_USERS = 4 };

/** A miss takes some 100 ns more if segments are remembered, and entering one 0.5 ns less. So this is done after so many parts of the
    trace with less than a miss for so many words. */
enum { CALM_PARTS = 8, CALM_WORDS = 1024 };

/* ------------------------------------------------------------------------ all lines */

/** A segment that uses a line. */
typedef struct line_user {
    uint32_t segment;
    uint32_t other; /**< the segment's other line, or the same one */
    bool is_last;   /**< the line is the segment's last one */
} line_user;

/** All segments that use a line. It grows by being copied, as the table of lines does. */
typedef struct line_users {
    const struct line_users *smaller;
    uint32_t count, room;
    line_user items[];
} line_users;

/** Lines by number. It grows by being copied; readers go on with the one that they have. */
typedef struct line_table {
    struct line_table *smaller; /**< given up, but somebody may be reading it */
    uint32_t count, room;
    uint64_t *lines;
    line_users **users;
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
    to->users = cache_memory_new(to->room, sizeof *to->users);
    to->places = cache_memory_new(2 * (size_t)to->room, sizeof *to->places);
    to->count = from == NULL ? CACHE_NO_CODE_LINE + 1 : from->count;
    for (uint32_t i = CACHE_NO_CODE_LINE + 1; i < to->count; i++) {
        to->lines[i] = from->lines[i];
        to->users[i] = from->users[i];
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

static line_users *grown_users(const line_users *from) {
    uint32_t count = from == NULL ? 0 : from->count, room = from == NULL ? FIRST_USERS : 2 * from->room;
    line_users *to = cache_memory_new(1, sizeof *to + room * sizeof *to->items);
    to->smaller = from;
    to->count = count;
    to->room = room;
    if (from != NULL) {
        memcpy(to->items, from->items, count * sizeof *to->items);
    }
    return to;
}

static void add_user(uint32_t line, line_user user) {
    line_users *users = known_lines->users[line];
    if (users == NULL || users->count == users->room) {
        users = grown_users(users);
        __atomic_store_n(&known_lines->users[line], users, __ATOMIC_RELEASE);
    }
    users->items[users->count] = user;
    __atomic_store_n(&users->count, users->count + 1, __ATOMIC_RELEASE);
}

void cache_code_lines_add(cache_code_lines lines, uint32_t segment) {
    if (lines.first == CACHE_NO_CODE_LINE) {
        return;
    }
    add_user(lines.last, (line_user){.segment = segment, .other = lines.first, .is_last = true});
    if (lines.first != lines.last) {
        add_user(lines.first, (line_user){.segment = segment, .other = lines.last, .is_last = false});
    }
}

/* ------------------------------------------------------------------------- a cache */

void cache_code_cache_init(cache_code_cache *cache, const cache_geometry *geometry) {
    uint64_t sets = cache_geometry_sets(geometry);
    *cache = (cache_code_cache){
        .lines = cache_memory_new(sets * geometry->ways + 1, sizeof *cache->lines),
        .uses = cache_memory_new(sets * geometry->ways + 1, sizeof *cache->uses),
        .set_mask = sets - 1,
        .ways = (uint32_t)geometry->ways,
    };
}

void cache_code_cache_release(cache_code_cache *cache) {
    free(cache->entered);
    free(cache->places);
    free(cache->lines);
    free(cache->uses);
}

static void make_room(cache_code_cache *cache, size_t segments) {
    const line_table *table = __atomic_load_n(&known_lines, __ATOMIC_ACQUIRE);
    size_t lines = table == NULL ? CACHE_NO_CODE_LINE + 1 : table->room;
    if (lines > cache->line_room) {
        cache->places = cache_memory_resized(cache->places, lines, sizeof *cache->places);
        memset(cache->places + cache->line_room, 0, (lines - cache->line_room) * sizeof *cache->places);
        cache->line_room = lines;
    }
    if (segments > cache->segment_room) {
        cache->entered = cache_memory_resized(cache->entered, segments, sizeof *cache->entered);
        memset(cache->entered + cache->segment_room, 0, (segments - cache->segment_room) * sizeof *cache->entered);
        cache->segment_room = segments;
    }
}

/** When the segment was entered last, if its lines are all in the cache. It may be too new for the cache to have room for it. */
static inline uint64_t entered(const cache_code_cache *cache, const line_user *user) {
    return user->segment < cache->segment_room ? cache->entered[user->segment] : CACHE_NOT_ENTERED;
}

/** When a line was used last, which was not before `use`. */
static uint64_t last_use(const cache_code_cache *cache, const line_table *table, uint32_t line, uint64_t use) {
    const line_users *users = __atomic_load_n(&table->users[line], __ATOMIC_ACQUIRE);
    uint32_t count = __atomic_load_n(&users->count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at = 2 * entered(cache, &users->items[i]) + users->items[i].is_last;
        use = at > use ? at : use;
    }
    return use;
}

/** A line goes out of the cache. What its segments tell of their other lines must be remembered there. */
static void forget(cache_code_cache *cache, const line_table *table, uint32_t line) {
    cache->places[line] = 0;
    if (!cache->by_segments) {
        return;
    }
    const line_users *users = __atomic_load_n(&table->users[line], __ATOMIC_ACQUIRE);
    uint32_t count = __atomic_load_n(&users->count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        const line_user *user = &users->items[i];
        uint64_t at = entered(cache, user);
        if (at == CACHE_NOT_ENTERED) {
            continue;
        }
        uint64_t *use = &cache->uses[cache->places[user->other]], used = 2 * at + !user->is_last;
        *use = used > *use ? used : *use;
        cache->entered[user->segment] = CACHE_NOT_ENTERED;
    }
}

/** The place of a set whose line was used longest ago, an empty one before all. What is known of lines may be too early: it is
    asked for that which seems to be the oldest, until one is. */
static uint32_t oldest_place(cache_code_cache *cache, const line_table *table, uint32_t first) {
    for (;;) {
        uint32_t oldest = first;
        uint64_t first_use = cache->uses[first];
        /* which is older decides over numbers, not over the way that the processor takes: it could not predict that */
        for (uint32_t place = first + 1; place < first + cache->ways; place++) {
            uint64_t use = cache->uses[place];
            oldest = use < first_use ? place : oldest;
            first_use = use < first_use ? use : first_use;
        }
        uint32_t line = cache->lines[oldest];
        if (line == CACHE_NO_CODE_LINE || !cache->by_segments) {
            return oldest;
        }
        cache->uses[oldest] = last_use(cache, table, line, first_use);
        if (cache->uses[oldest] == first_use) {
            return oldest;
        }
    }
}

/** Remember lines from now on: when they were used is found out for all. */
static void remember_lines(cache_code_cache *cache) {
    const line_table *table = __atomic_load_n(&known_lines, __ATOMIC_ACQUIRE);
    size_t end = (cache->set_mask + 1) * cache->ways + 1;
    for (size_t place = 1; place < end; place++) {
        if (cache->lines[place] != CACHE_NO_CODE_LINE) {
            cache->uses[place] = last_use(cache, table, cache->lines[place], cache->uses[place]);
        }
    }
    memset(cache->entered, 0, cache->segment_room * sizeof *cache->entered);
    cache->by_segments = false;
}

void cache_code_cache_prepare(cache_code_cache *cache, size_t segments, size_t words) {
    bool is_calm = cache->misses * CALM_WORDS < cache->words;
    make_room(cache, segments);
    cache->calm = is_calm ? cache->calm + 1 : 0;
    if (cache->by_segments && !is_calm) {
        remember_lines(cache);
    } else if (cache->calm >= CALM_PARTS) {
        cache->by_segments = true;
    }
    cache->misses = 0;
    cache->words = words;
}

/** Use a line. Returns whether it was missing. */
static bool use(cache_code_cache *cache, uint32_t line, uint64_t now) {
    uint32_t place = cache->places[line];
    bool is_missing = place == 0;
    if (is_missing) {
        const line_table *table = __atomic_load_n(&known_lines, __ATOMIC_ACQUIRE);
        uint32_t set = (uint32_t)(table->lines[line] & cache->set_mask);
        place = oldest_place(cache, table, set * cache->ways + 1);
        if (cache->lines[place] != CACHE_NO_CODE_LINE) {
            forget(cache, table, cache->lines[place]);
        }
        cache->lines[place] = line;
        cache->places[line] = place;
        cache->misses++;
    }
    cache->uses[place] = now;
    return is_missing;
}

cache_code_miss cache_code_cache_enter(cache_code_cache *cache, uint32_t segment, cache_code_lines lines) {
    uint64_t now = ++cache->now;
    cache_code_miss missing;
    missing.first = use(cache, lines.first, 2 * now);
    missing.last = use(cache, lines.last, 2 * now + 1);
    if (cache->by_segments && cache->places[lines.first] != 0) { /* the last one may have taken its place */
        cache->entered[segment] = now;
    }
    return missing;
}
