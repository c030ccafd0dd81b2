/**
 * @fileoverview Counts by segment. See tally.h.
 *
 * A table grows by being copied. The old ones stay, since somebody may be reading them.
 */
#include "tally.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

typedef struct cache_tally_table {
    struct cache_tally_table *smaller;
    size_t count; /**< counters */
    uint64_t counts[];
} cache_tally_table;

enum { FIRST_ROOM = 4096 };

static cache_tally_table *grown(cache_tally_table *from, size_t count) {
    size_t room = from == NULL ? FIRST_ROOM : 2 * from->count;
    room = room < count ? count : room;
    cache_tally_table *to = cache_memory_new(1, sizeof *to + room * sizeof *to->counts);
    to->smaller = from;
    to->count = room;
    if (from != NULL) {
        memcpy(to->counts, from->counts, from->count * sizeof *to->counts);
    }
    return to;
}

uint64_t *cache_tally_counts(cache_tally *tally, size_t count) {
    count *= CACHE_TALLY_LANES;
    if (tally->table == NULL || tally->table->count < count) {
        __atomic_store_n(&tally->table, grown(tally->table, count), __ATOMIC_RELEASE);
    }
    return tally->table->counts;
}

uint64_t cache_tally_of(const cache_tally *tally, size_t segment) {
    const cache_tally_table *table = __atomic_load_n(&tally->table, __ATOMIC_ACQUIRE);
    size_t first = segment * CACHE_TALLY_LANES;
    uint64_t sum = 0;
    for (size_t i = first; table != NULL && i < first + CACHE_TALLY_LANES && i < table->count; i++) {
        sum += __atomic_load_n(&table->counts[i], __ATOMIC_RELAXED);
    }
    return sum;
}

void cache_tally_add(cache_tally *to, const cache_tally *from) {
    const cache_tally_table *table = __atomic_load_n(&from->table, __ATOMIC_ACQUIRE);
    if (table == NULL) {
        return;
    }
    uint64_t *sums = cache_tally_counts(to, table->count / CACHE_TALLY_LANES + 1);
    for (size_t i = 0; i < table->count; i++) {
        sums[i] += __atomic_load_n(&table->counts[i], __ATOMIC_RELAXED);
    }
}

void cache_tally_free(cache_tally *tally) {
    for (cache_tally_table *table = tally->table, *smaller; table != NULL; table = smaller) {
        smaller = table->smaller;
        free(table);
    }
    *tally = (cache_tally){0};
}
