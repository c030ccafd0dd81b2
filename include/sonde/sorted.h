/**
 * @file sonde/sorted.h
 * Sorted tables: vectors (<sonde/vector.h>) whose elements are in the order of one of their members, a uint64_t: an address,
 * mostly.
 *
 *     typedef struct range { uint64_t start, end; const char *name; } range;
 *     static SN_VECTOR(range) ranges;
 *
 *     *sn_vector_add(&ranges) = (range){0x2000, 0x3000, "second"};
 *     *sn_vector_add(&ranges) = (range){0x1000, 0x1800, "first"};
 *     sn_sorted_sort(&ranges, start);
 *     const range *found = sn_sorted_holding(&ranges, start, end, 0x1234);
 *
 * `member` is the name of the member that is the key. Elements with equal keys keep their order, and are allowed but where
 * ranges are meant. Looking something up may be done in SN_FAST functions; nothing else. Who shares a table must lock it. No memory
 * ends the run with one line.
 */
#ifndef SONDE_SORTED_H
#define SONDE_SORTED_H

#include <stddef.h>
#include <stdint.h>

#include <sonde/table.h>
#include <sonde/vector.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bring the elements into the order of the member. */
#define sn_sorted_sort(vector, member) sn_sorted_order((vector)->items, (vector)->count, SN_SORTED_SHAPE(vector, member))

/** Of elements with equal keys, which lie side by side, keep the first ones only. */
#define sn_sorted_unique(vector, member) \
    ((void)((vector)->count = sn_sorted_drop((vector)->items, (vector)->count, SN_SORTED_SHAPE(vector, member))))

/** The position of the first element whose key is not below `wanted`; the number of elements if there is none. */
#define sn_sorted_position(vector, member, wanted) \
    sn_sorted_first((vector)->items, (vector)->count, SN_SORTED_SHAPE(vector, member), (wanted))

/** The first element whose key is `wanted`, or NULL. */
#define sn_sorted_find(vector, member, wanted)                                                            \
    ({                                                                                                    \
        __typeof__(vector) sn_sorted_self = (vector);                                                     \
        uint64_t sn_sorted_key = (wanted);                                                                \
        size_t sn_sorted_at = sn_sorted_position(sn_sorted_self, member, sn_sorted_key);                  \
        sn_sorted_at < sn_sorted_self->count && sn_sorted_self->items[sn_sorted_at].member == sn_sorted_key \
            ? &sn_sorted_self->items[sn_sorted_at]                                                        \
            : NULL;                                                                                       \
    })

/** The last element whose key is not above `wanted`, or NULL: of functions, say, the one that a place in code belongs to. */
#define sn_sorted_before(vector, member, wanted)                                                          \
    ({                                                                                                    \
        __typeof__(vector) sn_sorted_self = (vector);                                                     \
        size_t sn_sorted_at = sn_sorted_behind(sn_sorted_self->items, sn_sorted_self->count,              \
                                               SN_SORTED_SHAPE(sn_sorted_self, member), (wanted));        \
        sn_sorted_at > 0 ? &sn_sorted_self->items[sn_sorted_at - 1] : NULL;                               \
    })

/** The element that holds an address: from its member `start` up to, not including, its member `end`; or NULL. Ranges do not
    overlap. */
#define sn_sorted_holding(vector, start, end, address)                                                    \
    ({                                                                                                    \
        uint64_t sn_sorted_address = (address);                                                           \
        __typeof__(*(vector)->items) *sn_sorted_held = sn_sorted_before((vector), start, sn_sorted_address); \
        sn_sorted_held && sn_sorted_address < sn_sorted_held->end ? sn_sorted_held : NULL;                \
    })

/** A new zeroed element in its place, behind those with the same key; its key is set. Returns a pointer to it. Those behind it
    move: for many, add them at the end and sort. */
#define sn_sorted_insert(vector, member, wanted)                                                          \
    ({                                                                                                    \
        __typeof__(vector) sn_sorted_into = (vector);                                                     \
        uint64_t sn_sorted_key = (wanted);                                                                \
        __typeof__(*sn_sorted_into->items) *sn_sorted_new = sn_vector_insert(                           \
            sn_sorted_into, sn_sorted_behind(sn_sorted_into->items, sn_sorted_into->count,                \
                                             SN_SORTED_SHAPE(sn_sorted_into, member), sn_sorted_key));    \
        sn_sorted_new->member = sn_sorted_key;                                                            \
        sn_sorted_new;                                                                                    \
    })

/** Add copies of the elements of `from`, which has the same type and order, each behind those with the same key. */
#define sn_sorted_merge(vector, from, member)                                                             \
    do {                                                                                                  \
        __typeof__(vector) sn_sorted_into = (vector);                                                     \
        const __typeof__(*(from)->items) *sn_sorted_others = (from)->items;                                   \
        size_t sn_sorted_count = (from)->count;                                                           \
        (void)(sn_sorted_into->items == sn_sorted_others);                                                \
        sn_vector_reserve(sn_sorted_into, sn_sorted_into->count + sn_sorted_count);                       \
        sn_sorted_join(sn_sorted_into->items, sn_sorted_into->count, sn_sorted_others, sn_sorted_count,   \
                       SN_SORTED_SHAPE(sn_sorted_into, member));                                          \
        sn_sorted_into->count += sn_sorted_count;                                                         \
    } while (0)

/* ------------------------------------------------------------------- what the macros are made of */

/** Bytes of an element, and where its key is; with a length that no array may have where that is no number of 64 bits. */
#define SN_SORTED_SHAPE(vector, member)                                                                   \
    (sizeof *(vector)->items + 0 * sizeof(char[sizeof (vector)->items->member == 8 ? 1 : -1])),           \
        __builtin_offsetof(__typeof__(*(vector)->items), member)

#pragma GCC visibility push(default)

void sn_sorted_order(void *items, size_t count, size_t size, size_t key);
size_t sn_sorted_drop(void *items, size_t count, size_t size, size_t key);
/** `items` has room for both. */
void sn_sorted_join(void *items, size_t count, const void *from, size_t from_count, size_t size, size_t key);

#pragma GCC visibility pop

SN_TABLE_INLINE uint64_t sn_sorted_key_at(const void *items, size_t at, size_t size, size_t key) {
    return *(const sn_table_word *)((const char *)items + at * size + key);
}

/** How many keys are below `wanted`. */
SN_TABLE_INLINE size_t sn_sorted_first(const void *items, size_t count, size_t size, size_t key, uint64_t wanted) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sn_sorted_key_at(items, middle, size, key) < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/** How many are not above it. */
SN_TABLE_INLINE size_t sn_sorted_behind(const void *items, size_t count, size_t size, size_t key, uint64_t wanted) {
    return wanted == UINT64_MAX ? count : sn_sorted_first(items, count, size, key, wanted + 1);
}

#ifdef __cplusplus
}
#endif

#endif
