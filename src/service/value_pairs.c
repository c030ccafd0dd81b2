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

static sn_value_pair *pair_of(sn_value_pairs *pairs, uint32_t first, uint32_t second) {
    return sn_table_insert(&pairs->table, (uint64_t)first << 32 | second, NULL);
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
    sn_values_spot(state, (uint32_t)pair->key, &site, &context);
    const sn_value_site *second = sn_value_site_at(site);
    uint64_t bytes = pair->whole * second->size + pair->part_bytes;
    uint32_t class_number = class_of(state, second, bytes, pair->whole);
    sn_finding *finding = sn_findings_of(findings, (uint32_t)(pair->key >> 32), (uint32_t)pair->key, class_number);
    finding->amounts[0] += bytes;
    finding->amounts[1] += pair->whole + pair->parts;
}

void sn_value_pairs_finish(sn_value_pairs *pairs, void *state, sn_findings *findings, sn_value_pair_class *class_of) {
    for (uint32_t second = 0; second < pairs->last_room; second++) settle(pairs, second);
    sn_table_each(&pairs->table, pair) make_finding(pair, state, findings, class_of);
    sn_table_release(&pairs->table);
    free(pairs->last);
    memset(pairs, 0, sizeof *pairs);
}
