/**
 * @fileoverview The caches of this processor, by its own description (CPUID leaf 4; on AMD's, the leaf of the same form).
 *
 * Called once by cache.c. L2 is the one of the second level, LL the one of the highest.
 */
#include <cpuid.h>
#include <string.h>

#include "../geometry.h"

enum { LEAF_INTEL = 4, LEAF_AMD = 0x8000001d, MOST_CACHES = 16 };
enum { TYPE_NONE, TYPE_DATA, TYPE_INSTRUCTION, TYPE_UNIFIED };

static unsigned leaf_of_vendor(void) {
    unsigned most, part[3], features[4];
    if (!__get_cpuid(0, &most, &part[0], &part[2], &part[1])) {
        return 0;
    }
    bool is_amd = memcmp(part, "AuthenticAMD", sizeof part) == 0 || memcmp(part, "HygonGenuine", sizeof part) == 0;
    if (!is_amd) {
        return most >= LEAF_INTEL ? LEAF_INTEL : 0;
    }
    /* Whether AMD's leaf is there is a feature of its own. */
    bool has_leaf = __get_cpuid(0x80000001, &features[0], &features[1], &features[2], &features[3]) &&
                    (features[2] & 1u << 22) != 0;
    return has_leaf ? LEAF_AMD : 0;
}

void cache_geometry_detect(cache_geometry geometries[CACHE_COUNT]) {
    unsigned leaf = leaf_of_vendor(), highest = 1;
    for (unsigned i = 0; leaf != 0 && i < MOST_CACHES; i++) {
        unsigned eax, ebx, ecx, edx;
        if (!__get_cpuid_count(leaf, i, &eax, &ebx, &ecx, &edx) || (eax & 0x1f) == TYPE_NONE) {
            return;
        }
        unsigned type = eax & 0x1f, level = eax >> 5 & 7;
        uint64_t ways = (ebx >> 22) + 1, partitions = (ebx >> 12 & 0x3ff) + 1, line = (ebx & 0xfff) + 1;
        cache_geometry found = {ways * partitions * line * ((uint64_t)ecx + 1), ways, line};
        if (level == 1 && type != TYPE_DATA) {
            geometries[CACHE_I1] = found;
        }
        if (level == 1 && type != TYPE_INSTRUCTION) {
            geometries[CACHE_D1] = found;
        }
        if (level == 2 && type != TYPE_INSTRUCTION) {
            geometries[CACHE_L2] = found;
        }
        if (level > highest && type != TYPE_INSTRUCTION) {
            highest = level;
            geometries[CACHE_LL] = found;
        }
    }
}
