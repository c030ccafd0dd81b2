/**
 * @fileoverview Pairs of places, counted: see <sonde/value_pairs.h>. Owned by a thread's state of a tool; called by tools, in
 * the thread that takes the records.
 */
#include "sonde/value_pairs.h"

#include <string.h>

#include "service/value_numbers.h"
#include "sonde/arena.h"

static uint64_t key_of(uint32_t first, uint32_t second) { return (uint64_t)first << 32 | second; }

/** Fresh pages are zero, and have memory when they are touched: most places before have places behind that nothing comes after. */
void sn_value_pairs_grow(sn_value_pairs *pairs, uint32_t second) {
    uint32_t room = second + second / 4 + 1024;
    size_t had = pairs->last_room * sizeof *pairs->last, bytes = room * sizeof *pairs->last;
    pairs->last = had ? sn_pages_resize(pairs->last, had, bytes) : sn_pages_allocate(bytes);
    pairs->last_room = room;
}

static bool is_pair(const void *pairs, uint32_t number, const void *key) {
    return ((const sn_value_pair *)pairs)[number].key == *(const uint64_t *)key;
}

static uint64_t hash_of(const void *pairs, uint32_t number) { return sn_hash_mix(((const sn_value_pair *)pairs)[number].key); }

static void add_pair(sn_value_pairs *pairs, uint64_t key, uint32_t times) {
    sn_value_numbers_reserve(&pairs->numbers, pairs->pairs.count, hash_of, pairs->pairs.items);
    uint32_t *slot = sn_value_numbers_find(&pairs->numbers, sn_hash_mix(key), is_pair, pairs->pairs.items, &key);
    if (!*slot) {
        sn_vector_add(&pairs->pairs)->key = key;
        *slot = (uint32_t)pairs->pairs.count;
    }
    pairs->pairs.items[*slot - 1].times += times;
}

void sn_value_pairs_change(sn_value_pairs *pairs, uint32_t first, uint32_t second) {
    sn_value_last *last = &pairs->last[second];
    if (last->times) add_pair(pairs, key_of(last->first, second), last->times);
    *last = (sn_value_last){first, 1};
}

void sn_value_pairs_add_part(sn_value_pairs *pairs, uint32_t first, uint32_t second, uint64_t bytes) {
    sn_value_part *part = sn_table_insert(&pairs->parts, key_of(first, second), NULL);
    part->times++;
    part->bytes += bytes;
}

/* ------------------------------------------------------------------------- the end */

/** What pairs become. */
typedef struct finishing {
    void *state;
    sn_value_pair_class *class_of;
} finishing;

static const sn_value_site *site_of_spot(const void *state, uint32_t spot) {
    uint32_t site;
    sn_context context;
    sn_values_spot(state, spot, &site, &context);
    return sn_value_site_at(site);
}

static void report(const finishing *to, uint64_t key, const sn_value_site *second, uint64_t times, uint64_t bytes, uint64_t whole) {
    sn_finding finding = {.key = {(uint32_t)(key >> 32), (uint32_t)key, to->class_of(to->state, second, bytes, whole)},
                          .amounts = {bytes, times}};
    sn_report_finding(to->state, &finding);
}

static void report_whole(const finishing *to, uint64_t key, uint64_t times) {
    const sn_value_site *second = site_of_spot(to->state, (uint32_t)key);
    report(to, key, second, times, times * second->size, times);
}

/** The last ones first, and their memory goes with them. */
static void report_last(sn_value_pairs *pairs, const finishing *to) {
    enum { STEP = 1 << 16 };
    for (uint32_t left; pairs->last_room; pairs->last_room = left) {
        left = pairs->last_room > STEP ? pairs->last_room - STEP : 0;
        for (uint32_t second = left; second < pairs->last_room; second++) {
            const sn_value_last *last = &pairs->last[second];
            if (last->times) report_whole(to, key_of(last->first, second), last->times);
        }
        if (left) pairs->last = sn_pages_resize(pairs->last, pairs->last_room * sizeof *pairs->last, left * sizeof *pairs->last);
        else sn_pages_release(pairs->last, pairs->last_room * sizeof *pairs->last);
    }
}

/** What is reported goes before more is: this is when memory is scarcest. */
void sn_value_pairs_finish(sn_value_pairs *pairs, void *state, sn_value_pair_class *class_of) {
    const finishing to = {state, class_of};
    sn_value_numbers_release(&pairs->numbers);
    report_last(pairs, &to);
    for (size_t i = 0; i < pairs->pairs.count; i++) report_whole(&to, pairs->pairs.items[i].key, pairs->pairs.items[i].times);
    sn_vector_release(&pairs->pairs);
    sn_table_each(&pairs->parts, part)
        report(&to, part->key, site_of_spot(state, (uint32_t)part->key), part->times, part->bytes, 0);
    sn_table_release(&pairs->parts);
    memset(pairs, 0, sizeof *pairs);
}
