/**
 * @fileoverview Pairs of places, counted: see <sonde/value_pairs.h>. Owned by a thread's state of a tool; called by tools, in
 * the thread that takes the records.
 */
#include "sonde/value_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"

static void *checked(void *memory) {
    if (!memory) sn_fail(SN_STATUS_ENGINE, "no memory for pairs of places");
    return memory;
}

static sn_value_pair *place_of(const sn_value_pairs *pairs, uint32_t first, uint32_t second) {
    uint64_t key = (uint64_t)first << 32 | second;
    for (size_t i = key * UINT64_C(0x9e3779b97f4a7c15) >> 32;; i++) {
        sn_value_pair *entry = &pairs->entries[i & (pairs->room - 1)];
        if (!entry->second || (entry->first == first && entry->second == second)) return entry;
    }
}

static void grow_table(sn_value_pairs *pairs) {
    sn_value_pair *old = pairs->entries;
    size_t old_room = pairs->room;
    pairs->room = old_room ? 2 * old_room : 1024;
    pairs->entries = checked(calloc(pairs->room, sizeof *pairs->entries));
    for (size_t i = 0; i < old_room; i++)
        if (old[i].second) *place_of(pairs, old[i].first, old[i].second) = old[i];
    free(old);
}

static sn_value_pair *pair_of(sn_value_pairs *pairs, uint32_t first, uint32_t second) {
    if (2 * (pairs->count + 1) > pairs->room) grow_table(pairs);
    sn_value_pair *entry = place_of(pairs, first, second);
    if (!entry->second) {
        entry->first = first;
        entry->second = second;
        pairs->count++;
    }
    return entry;
}

void sn_value_pairs_grow(sn_value_pairs *pairs, uint32_t second) {
    uint32_t room = second + second / 4 + 1024;
    pairs->last = checked(realloc(pairs->last, room * sizeof *pairs->last));
    memset(pairs->last + pairs->last_room, 0, (room - pairs->last_room) * sizeof *pairs->last);
    pairs->last_room = room;
}

static void settle(sn_value_pairs *pairs, uint32_t second) {
    sn_value_last *last = &pairs->last[second];
    if (last->times) pair_of(pairs, last->first, second)->whole += last->times;
    last->times = 0;
}

void sn_value_pairs_change(sn_value_pairs *pairs, uint32_t first, uint32_t second) {
    settle(pairs, second);
    pairs->last[second] = (sn_value_last){first, 1};
}

void sn_value_pairs_add_part(sn_value_pairs *pairs, uint32_t first, uint32_t second, uint64_t bytes) {
    sn_value_pair *pair = pair_of(pairs, first, second);
    pair->parts++;
    pair->part_bytes += bytes;
}

static void make_finding(const sn_value_pair *pair, void *state, sn_findings *findings, sn_value_pair_class *class_of) {
    uint32_t site;
    sn_context context;
    sn_values_spot(state, pair->second, &site, &context);
    const sn_value_site *second = sn_value_site_at(site);
    uint64_t bytes = pair->whole * second->size + pair->part_bytes;
    uint32_t class_number = class_of(state, second, bytes, pair->whole);
    sn_finding *finding = sn_findings_of(findings, pair->first, pair->second, class_number);
    finding->amounts[0] += bytes;
    finding->amounts[1] += pair->whole + pair->parts;
}

void sn_value_pairs_finish(sn_value_pairs *pairs, void *state, sn_findings *findings, sn_value_pair_class *class_of) {
    for (uint32_t second = 0; second < pairs->last_room; second++) settle(pairs, second);
    for (size_t i = 0; i < pairs->room; i++)
        if (pairs->entries[i].second) make_finding(&pairs->entries[i], state, findings, class_of);
    free(pairs->entries);
    free(pairs->last);
    memset(pairs, 0, sizeof *pairs);
}
