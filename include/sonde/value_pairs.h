/**
 * @file sonde/value_pairs.h
 * How often one place was followed by another: the inner loop of detectors that attribute what they find to pairs.
 *
 * Places are spots (<sonde/values.h>). Part of a thread's state: no locks. Most often the place before a spot is the one that
 * it was the last time: that is a comparison and an addition, next to those of the spot's neighbours; only changes are looked
 * up in a table.
 */
#ifndef SONDE_VALUE_PAIRS_H
#define SONDE_VALUE_PAIRS_H

#include <sonde/table.h>
#include <sonde/value_report.h>
#include <sonde/vector.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** What came before a spot, and how often since it was last looked up. One for each spot: they are small. */
typedef struct __attribute__((packed, aligned(2))) sn_value_last {
    uint32_t first;
    uint16_t times;
} sn_value_last;

/** All of what the second one accesses came after the first. There are many: they are small. */
typedef struct sn_value_pair {
    uint64_t key;   /**< spots: the first one in the upper half, the second in the lower */
    uint64_t times;
} sn_value_pair;

/** Where each of them is. */
typedef struct sn_value_numbers {
    uint32_t *slots; /**< numbers plus 1 */
    size_t room;     /**< a power of two, or 0 */
} sn_value_numbers;

/** A part of it did. */
typedef struct sn_value_part {
    uint64_t key;   /**< the same */
    uint64_t times, bytes;
} sn_value_part;

/** All zero is empty; the members are its own. */
typedef struct sn_value_pairs {
    sn_value_last *last;    /**< by the second spot; what was never touched has no memory */
    uint32_t last_room;
    SN_VECTOR(sn_value_pair) pairs;
    sn_value_numbers numbers;
    SN_TABLE(sn_value_part) parts;
} sn_value_pairs;

/** What the tool makes of a pair at the end: returns the class of its finding, and may add to its totals. It may be asked for a pair
    several times, each with some of its bytes, and of the times that these were all of what the second one accesses. */
typedef uint32_t sn_value_pair_class(void *state, const sn_value_site *second, uint64_t bytes, uint64_t whole);

/** The same as sn_value_pairs_reach(), when there is no room yet. */
void sn_value_pairs_grow(sn_value_pairs *pairs, uint32_t second);
/** The same as sn_value_pairs_add(), when the place before is another one than last time. */
void sn_value_pairs_change(sn_value_pairs *pairs, uint32_t first, uint32_t second);
/** `bytes` of what `second` accesses came after `first`. */
void sn_value_pairs_add_part(sn_value_pairs *pairs, uint32_t first, uint32_t second, uint64_t bytes);
/** From the tool's `finish`: report findings of all pairs, with bytes and times as their amounts, and give the memory back. */
void sn_value_pairs_finish(sn_value_pairs *pairs, void *state, sn_value_pair_class *class_of);

/** Spots up to this one may be second ones from now on. Cheap. */
static inline void sn_value_pairs_reach(sn_value_pairs *pairs, uint32_t second) {
    if (__builtin_expect(second >= pairs->last_room, 0)) sn_value_pairs_grow(pairs, second);
}

/** All that `second` accesses came after `first`. */
static inline void sn_value_pairs_add(sn_value_pairs *pairs, uint32_t first, uint32_t second) {
    sn_value_last *last = &pairs->last[second];
    if (__builtin_expect(last->first == first && last->times != UINT16_MAX, 1)) last->times++;
    else sn_value_pairs_change(pairs, first, second);
}

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
