/**
 * @fileoverview Arithmetic on tallies, and the classes of access sizes. Used by all files of the tool `count`.
 */
#include "tally.h"

#include <stddef.h>

static const uint32_t size_of_class[COUNT_SIZE_OTHER] = {
    [COUNT_SIZE_1] = 1,   [COUNT_SIZE_2] = 2,   [COUNT_SIZE_4] = 4,   [COUNT_SIZE_8] = 8,
    [COUNT_SIZE_10] = 10, [COUNT_SIZE_16] = 16, [COUNT_SIZE_32] = 32, [COUNT_SIZE_64] = 64,
};

const char *const count_size_names[COUNT_SIZES] = {
    [COUNT_SIZE_1] = "1",   [COUNT_SIZE_2] = "2",   [COUNT_SIZE_4] = "4",   [COUNT_SIZE_8] = "8",
    [COUNT_SIZE_10] = "10", [COUNT_SIZE_16] = "16", [COUNT_SIZE_32] = "32", [COUNT_SIZE_64] = "64",
    [COUNT_SIZE_OTHER] = "other",
};

unsigned count_size_class(uint32_t size) {
    unsigned class = 0;
    while (class < COUNT_SIZE_OTHER && size_of_class[class] != size) {
        class++;
    }
    return class;
}

void count_tally_add(count_tally *sum, const count_tally *part) {
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)part;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++) {
        to[i] += from[i];
    }
}

uint64_t count_all_sizes(const uint64_t accesses[COUNT_SIZES]) {
    uint64_t sum = 0;
    for (unsigned class = 0; class < COUNT_SIZES; class++) {
        sum += accesses[class];
    }
    return sum;
}
