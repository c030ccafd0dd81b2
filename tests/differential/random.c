/**
 * @fileoverview Values that make instructions do something: see random.h.
 */
#include "random.h"

#include <string.h>

static uint64_t small_integer(sn_random *random) {
    return (uint64_t)((int64_t)sn_random_below(random, 512) - 256);
}

/** A double whose exponent is near one, so that sums and products stay finite. */
static uint64_t moderate_double(sn_random *random) {
    uint64_t exponent = 1023 - 20 + sn_random_below(random, 40);
    uint64_t bits = sn_random_next(random);
    return (bits & UINT64_C(0x800fffffffffffff)) | exponent << 52;
}

static uint64_t moderate_floats(sn_random *random) {
    uint64_t bits = sn_random_next(random) & UINT64_C(0x807fffff807fffff);
    uint64_t low = 127 - 10 + sn_random_below(random, 20), high = 127 - 10 + sn_random_below(random, 20);
    return bits | low << 23 | high << 55;
}

/** Zeros, infinities, not-a-numbers, denormals and the extreme integers. */
static uint64_t special(sn_random *random) {
    static const uint64_t values[] = {
        0, ~UINT64_C(0), UINT64_C(1) << 63, INT64_MAX, UINT64_C(0x7ff0000000000000), UINT64_C(0xfff0000000000000),
        UINT64_C(0x7ff8000000000000), UINT64_C(0x7ff0000000000001), 1, UINT64_C(0x7f8000007fc00000),
        UINT64_C(0x0000000100000001), UINT64_C(0x8000000080000000), UINT64_C(0x7fffffff7fffffff),
        UINT64_C(0x7c007e00fc000001), UINT64_C(0x000fffffffffffff),
    };
    return values[sn_random_below(random, sizeof values / sizeof *values)];
}

uint64_t sn_random_value(sn_random *random) {
    switch (sn_random_below(random, 8)) {
    case 0: return small_integer(random);
    case 1: return moderate_double(random);
    case 2: return moderate_floats(random);
    case 3: return special(random);
    default: return sn_random_next(random);
    }
}

void sn_random_fill(sn_random *random, void *memory, size_t size) {
    enum { VALUES = 16384, LONGEST = 2048 };
    static uint64_t table[VALUES];
    if (!table[0]) {
        sn_random filler = {.state = 3};
        for (unsigned i = 0; i < VALUES; i++)
            table[i] = sn_random_value(&filler);
        table[0] |= 1;
    }
    memcpy(memory, table + sn_random_below(random, VALUES - LONGEST), size);
}
