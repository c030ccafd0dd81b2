/**
 * @fileoverview Reuse distances by a tree of sums. See memtrace_reuse.h.
 *
 * Each access has a time. At the time of each line's last access there is a one in an array, elsewhere zeros; the distance
 * of an access is the number of ones behind the line's last one. The array is summed by a binary indexed tree. When time
 * has reached its end, the ones are moved together.
 */
#include "report/memtrace_reuse.h"

#include <stdlib.h>
#include <string.h>

#include "sonde/arena.h"
#include "base/log.h"

struct sn_reuse {
    sn_hash last;      /**< line -> time of its last access, from 1 */
    uint64_t now;
    uint64_t room;     /**< times, a power of two */
    uint32_t *sums;    /**< binary indexed tree, from 1 */
};

enum { FIRST_ROOM = 1 << 16 };

static uint32_t *new_sums(uint64_t room) {
    return sn_pages_allocate((room + 1) * sizeof(uint32_t));
}

sn_reuse *sn_reuse_new(void) {
    sn_reuse *reuse = calloc(1, sizeof *reuse);
    if (!reuse)
        sn_fail(SN_STATUS_ENGINE, "out of memory");
    reuse->room = FIRST_ROOM;
    reuse->sums = new_sums(reuse->room);
    return reuse;
}

void sn_reuse_free(sn_reuse *reuse) {
    sn_pages_release(reuse->sums, (reuse->room + 1) * sizeof(uint32_t));
    sn_hash_release(&reuse->last);
    free(reuse);
}

static void add(sn_reuse *reuse, uint64_t time, uint32_t amount) {
    for (; time <= reuse->room; time += time & -time)
        reuse->sums[time] += amount;
}

static uint64_t sum_to(const sn_reuse *reuse, uint64_t time) {
    uint64_t sum = 0;
    for (; time; time -= time & -time)
        sum += reuse->sums[time];
    return sum;
}

static int by_time(const void *left, const void *right) {
    const sn_hash_entry *a = left, *b = right;
    return (a->value > b->value) - (a->value < b->value);
}

/** Give the lines new times 1, 2, ... in their order, and at least as much room again. */
static void compact(sn_reuse *reuse) {
    size_t count = sn_hash_count(&reuse->last), position = 0, used = 0;
    sn_hash_entry *entries = malloc((count + 1) * sizeof *entries);
    if (!entries)
        sn_fail(SN_STATUS_ENGINE, "out of memory");
    while (sn_hash_next(&reuse->last, &position, &entries[used]))
        used++;
    qsort(entries, count, sizeof *entries, by_time);
    sn_pages_release(reuse->sums, (reuse->room + 1) * sizeof(uint32_t));
    while (reuse->room < 2 * count)
        reuse->room *= 2;
    reuse->sums = new_sums(reuse->room);
    for (size_t i = 0; i < count; i++) {
        sn_hash_set(&reuse->last, entries[i].key, i + 1);
        add(reuse, i + 1, 1);
    }
    reuse->now = count;
    free(entries);
}

uint64_t sn_reuse_access(sn_reuse *reuse, uint64_t line) {
    if (reuse->now == reuse->room)
        compact(reuse);
    bool is_new;
    uint64_t *last = sn_hash_insert(&reuse->last, line, &is_new);
    uint64_t distance = SN_REUSE_NEVER;
    if (!is_new) {
        distance = sum_to(reuse, reuse->now) - sum_to(reuse, *last);
        add(reuse, *last, UINT32_MAX); /* - 1 */
    }
    *last = ++reuse->now;
    add(reuse, reuse->now, 1);
    return distance;
}
