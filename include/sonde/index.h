/**
 * @file sonde/index.h
 * Hash tables of numbers: for things that lie elsewhere, each with a number from 0 on, and are found by what they are like.
 *
 *     static SN_VECTOR(place) places;
 *     static sn_index known;
 *
 *     uint64_t hash = sn_hash_combine(line, sn_hash_combine((uintptr_t)file, (uintptr_t)function));
 *     uint32_t number;
 *     sn_index_each(&known, hash, number)
 *         if (is_same(&places.items[number], &wanted)) return number;
 *     sn_index_add(&known, hash, (uint32_t)places.count);
 *     *sn_vector_add(&places) = wanted;
 *
 * The comparison is the user's, so that keys may be of any size, strings, or parts of what they are keys of; it is asked only
 * where half of the hash value is the same. On pages of its own: no malloc; no lock: who shares an index must lock it. Looking
 * something up may be done in SN_FAST functions. No memory ends the run with one line.
 */
#ifndef SONDE_INDEX_H
#define SONDE_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include <sonde/table.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sn_index_place {
    uint32_t hash;   /**< the lower half of the hash value */
    uint32_t number; /**< and one; 0: the place is free */
} sn_index_place;

/** All zero is a valid, empty index. The members are its own. */
typedef struct sn_index {
    sn_index_place *places;
    size_t room;    /**< a power of two, or 0 */
    size_t count;
} sn_index;

/** A loop over the numbers that were added with `hash` (and, rarely, others), in no particular order, into `number`, a variable of
    type uint32_t. Nothing may be added meanwhile. */
#define sn_index_each(index, hash, number)                                                                \
    for (sn_index_walk sn_index_at = sn_index_begin((index), (hash)); sn_index_next(&sn_index_at, &(number));)

#pragma GCC visibility push(default)

/** Add a number, at most UINT32_MAX - 1; the same one may be added with several hash values. */
void sn_index_add(sn_index *index, uint64_t hash, uint32_t number);

/** Forget all, keep the memory. */
void sn_index_clear(sn_index *index);

/** Give the memory back; the index is empty. */
void sn_index_release(sn_index *index);

#pragma GCC visibility pop

/* --------------------------------------------------------------------- what the loop is made of */

typedef struct sn_index_walk {
    const sn_index_place *places;
    size_t mask, at;
    uint32_t hash;
} sn_index_walk;

SN_TABLE_INLINE sn_index_walk sn_index_begin(const sn_index *index, uint64_t hash) {
    sn_index_walk walk;
    walk.places = index->places;
    walk.mask = index->room - 1;
    walk.hash = (uint32_t)hash;
    walk.at = walk.hash;
    return walk;
}

SN_TABLE_INLINE bool sn_index_next(sn_index_walk *walk, uint32_t *number) {
    while (walk->places) {
        const sn_index_place *place = &walk->places[walk->at++ & walk->mask];
        if (!place->number) return false;
        if (place->hash == walk->hash) {
            *number = place->number - 1;
            return true;
        }
    }
    return false;
}

#ifdef __cplusplus
}
#endif

#endif
