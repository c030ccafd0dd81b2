/**
 * @fileoverview Unit test of the simulated instruction cache (tools/simulator/code_cache.h): segments are entered at random, now from
 * few lines and now from many, so that it comes to remember segments, and lines again; what misses must be what misses in a plain LRU
 * cache.
 */
#include "tools/simulator/code_cache.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

enum { LINES = 300, SEGMENTS = 900, MOST_WAYS = 16, MOST_PLACES = 64, PART = 4096, PARTS = 120 };

static uint64_t random_state = 88172645463325252u;

static unsigned random_below(unsigned limit) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state >> 20) % limit;
}

/** The plain one: of each set its lines, the last used first. */
typedef struct plain_cache {
    uint64_t lines[MOST_PLACES];
    unsigned sets, ways;
} plain_cache;

static bool plain_misses(plain_cache *cache, uint64_t line) {
    uint64_t *set = cache->lines + line % cache->sets * cache->ways;
    unsigned way = 0;
    while (way < cache->ways - 1 && set[way] != line)
        way++;
    bool is_missing = set[way] != line;
    memmove(set + 1, set, way * sizeof *set);
    set[0] = line;
    return is_missing;
}

/** Segments, as many for each line as there may be; new ones come as the test goes on. */
static uint64_t first_lines[SEGMENTS + 1], last_lines[SEGMENTS + 1];
static cache_code_lines numbers[SEGMENTS + 1];
static unsigned segment_count;

static void make_segment(void) {
    unsigned segment = ++segment_count;
    first_lines[segment] = 1000 + random_below(LINES);
    last_lines[segment] = first_lines[segment] + random_below(2);
    numbers[segment].first = cache_code_line(first_lines[segment]);
    numbers[segment].last = cache_code_line(last_lines[segment]);
    cache_code_lines_add(numbers[segment], segment);
}

static void enter(cache_code_cache *cache, plain_cache *plain, unsigned segment) {
    cache_code_entrance entrance = cache_code_cache_entrance(cache);
    cache_code_miss missed = {false, false};
    if (cache_code_enter_quickly(&entrance, cache->by_segments, segment, &numbers[segment]))
        cache->now = entrance.now;
    else
        missed = cache_code_cache_enter(cache, segment, numbers[segment]);
    bool misses_first = plain_misses(plain, first_lines[segment]), misses_last = plain_misses(plain, last_lines[segment]);
    assert_int_equal(missed.first, misses_first);
    assert_int_equal(missed.last, misses_last);
}

/** Parts of a trace, most of which keep to few segments. Once in a while these are left for a single other one. */
static void try_geometry(unsigned sets, unsigned ways) {
    const bool is_tiny = sets * ways == 1; /* even one segment may be too large for it */
    const cache_geometry geometry = {.size = sets * ways * 64ull, .ways = ways, .line = 64};
    cache_code_cache cache;
    plain_cache plain = {.sets = sets, .ways = ways};
    unsigned by_segments = 0, few[3] = {0}, changes = 0;
    cache_code_cache_init(&cache, &geometry);
    for (unsigned part = 0; part < PARTS; part++) {
        bool was = cache.by_segments;
        for (unsigned i = 0; i < 3 && segment_count < SEGMENTS; i++)
            make_segment();
        cache_code_cache_prepare(&cache, segment_count + 1, PART);
        by_segments += cache.by_segments;
        changes += was != cache.by_segments;
        bool is_wild = part % 15 == 14;
        for (unsigned i = 0; i < 3 && (is_wild || part == 0); i++)
            few[i] = 1 + random_below(segment_count);
        for (unsigned step = 0; step < PART; step++) {
            bool leaves = is_wild ? random_below(3) == 0 : random_below(4 * PART) == 0;
            unsigned other = 1 + random_below(is_tiny ? 8 : segment_count);
            enter(&cache, &plain, leaves ? other : few[random_below(is_wild ? 3 : is_tiny ? 1 : 2)]);
        }
    }
    if (ways >= 2 && sets >= 2) {
        assert_in_range(by_segments, PARTS / 8, PARTS - 10);
        assert_true(changes > 4);
    }
    cache_code_cache_release(&cache);
}

static void misses_as_a_plain_one_does(void **state) {
    (void)state;
    static const unsigned geometries[][2] = {{1, 1}, {4, 1}, {1, 4}, {2, 2}, {8, 2}, {4, 3}, {4, MOST_WAYS}};
    for (unsigned i = 0; i < sizeof geometries / sizeof *geometries; i++)
        try_geometry(geometries[i][0], geometries[i][1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(misses_as_a_plain_one_does)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
