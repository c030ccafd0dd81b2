/**
 * @fileoverview Sizes of caches: parsing and checking. See geometry.h.
 */
#include "geometry.h"

#include <errno.h>
#include <stdlib.h>

enum { LEAST_LINE = 16, MOST_LINE = 4096 };
static const uint64_t most_lines = UINT64_C(1) << 28;

const char *const cache_names[CACHE_COUNT] = {"I1", "D1", "L2", "LL"};

const cache_geometry cache_geometry_defaults[CACHE_COUNT] = {
    [CACHE_I1] = {65536, 2, 64},
    [CACHE_D1] = {65536, 2, 64},
    [CACHE_L2] = {1048576, 16, 64},
    [CACHE_LL] = {262144, 8, 64},
};

static bool parse_number(const char **text, uint64_t *number) {
    char *end;
    if (**text < '0' || **text > '9') {
        return false;
    }
    errno = 0;
    *number = strtoull(*text, &end, 10);
    *text = end;
    return errno == 0;
}

const char *cache_geometry_parse(cache_geometry *geometry, const char *text) {
    uint64_t *const numbers[] = {&geometry->size, &geometry->ways, &geometry->line};
    for (unsigned i = 0; i < 3; i++) {
        if (!parse_number(&text, numbers[i]) || *text != (i < 2 ? ',' : '\0')) {
            return "it must be SIZE,WAYS,LINE: three whole numbers";
        }
        text += i < 2;
    }
    return cache_geometry_check(geometry);
}

static bool is_power_of_two(uint64_t number) {
    return number != 0 && (number & (number - 1)) == 0;
}

const char *cache_geometry_check(const cache_geometry *geometry) {
    if (geometry->size == 0 || geometry->ways == 0 || geometry->line == 0) {
        return "none of its three numbers may be 0";
    }
    if (!is_power_of_two(geometry->line) || geometry->line < LEAST_LINE || geometry->line > MOST_LINE) {
        return "the line size must be a power of two from 16 to 4096";
    }
    if (geometry->size / geometry->line > most_lines) {
        return "it is too large: at most 2^28 lines can be simulated";
    }
    if (geometry->ways > geometry->size / geometry->line) {
        return "it has more ways than lines";
    }
    if (geometry->size % (geometry->line * geometry->ways) != 0) {
        return "its size is no multiple of line size times ways";
    }
    return is_power_of_two(cache_geometry_sets(geometry)) ? NULL : "the number of sets (size / line size / ways) must be "
                                                                   "a power of two";
}

uint64_t cache_geometry_sets(const cache_geometry *geometry) {
    return geometry->size / geometry->line / geometry->ways;
}

void cache_geometry_adjust(cache_geometry *geometry) {
    uint64_t sets = cache_geometry_sets(geometry), power = 1;
    if (is_power_of_two(sets)) {
        return;
    }
    while (power * 2 <= sets) {
        power *= 2;
    }
    geometry->ways = geometry->size / geometry->line / power;
    geometry->size = geometry->ways * geometry->line * power;
}
