/**
 * @fileoverview Hash tables of nothing but numbers, of 4 bytes: for things that lie in an array, a million of them and small, so
 * that a table with the things in it, or with their hash values, would be the better part of their memory.
 *
 * The user compares and hashes: a look-up goes to the array as well. No lock.
 */
#ifndef SONDE_SERVICE_VALUE_NUMBERS_H
#define SONDE_SERVICE_VALUE_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sonde/arena.h"
#include "sonde/value_pairs.h"

/** Whether number `number` of an array is what is looked for. */
typedef bool sn_value_is_like(const void *array, uint32_t number, const void *like);
/** The hash value of number `number` of an array. */
typedef uint64_t sn_value_hash(const void *array, uint32_t number);

/** Where the number plus 1 of what is looked for is, or, if it is 0, is to be put. There must be room. */
static inline __attribute__((always_inline)) uint32_t *sn_value_numbers_find(const sn_value_numbers *numbers, uint64_t hash,
                                                                             sn_value_is_like *is_like, const void *array,
                                                                             const void *like) {
    for (;; hash++) {
        uint32_t *slot = &numbers->slots[hash & (numbers->room - 1)];
        if (!*slot || is_like(array, *slot - 1, like)) return slot;
    }
}

/** Let there be room for one more than the `count` that there are. Half may be full: each that is passed by costs a look into the
    array. */
static inline void sn_value_numbers_reserve(sn_value_numbers *numbers, size_t count, sn_value_hash *hash_of, const void *array) {
    enum { FIRST_ROOM = 1024 };
    size_t had = numbers->room;
    if (__builtin_expect(count < had / 2, 1)) return;
    if (had) sn_pages_release(numbers->slots, had * sizeof *numbers->slots);
    numbers->room = had ? 2 * had : FIRST_ROOM;
    numbers->slots = sn_pages_allocate(numbers->room * sizeof *numbers->slots);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at = hash_of(array, i);
        while (numbers->slots[at & (numbers->room - 1)]) at++;
        numbers->slots[at & (numbers->room - 1)] = i + 1;
    }
}

static inline void sn_value_numbers_release(sn_value_numbers *numbers) {
    if (numbers->room) sn_pages_release(numbers->slots, numbers->room * sizeof *numbers->slots);
    *numbers = (sn_value_numbers){0};
}

#endif
