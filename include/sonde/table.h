/**
 * @file sonde/table.h
 * Hash tables with entries of any type, the values inside of them, found by a key of fixed size.
 *
 *     typedef struct pair { uint64_t from, to; } pair;
 *     typedef struct edge { pair key; uint64_t count; } edge;
 *     static SN_TABLE(edge) edges;
 *
 *     sn_table_insert(&edges, ((pair){from, to}), NULL)->count++;
 *     const edge *found = sn_table_find(&edges, ((pair){1, 2}));
 *     sn_table_each(&edges, entry) printf("%lu\n", entry->count);
 *     sn_table_release(&edges);
 *
 * An entry is a struct whose first member is called `key`: one uint64_t, a pointer, or a struct, of 8 to 80 bytes, all of them in
 * members that are compared (64 bits wide, or side by side so that no byte lies between them), with room for whole words of 8
 * bytes. Every key is allowed, zero included. The other members are zero in a new entry.
 *
 * Open addressing with linear probing, at most five eighths full; removal moves later entries back, so that nothing wears out.
 * A table lies on pages of its own, needs no malloc, and has no lock: who shares one must lock it. Pointers to entries are valid
 * until the next insertion or removal. No memory ends the run with one line.
 *
 * In SN_FAST functions, which may call nothing: sn_table_find(), sn_table_each() and sn_table_remove() as they are, and
 * sn_table_insert_fast() in a table that sn_table_reserve() has given address space to grow in. They call nothing but functions of
 * Sonde that are SN_FAST themselves.
 */
#ifndef SONDE_TABLE_H
#define SONDE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sonde/tool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------------------- hash values */

/** One of two numbers, all of whose bits depend on all of theirs: the halves of a long product, put together. The lower half of
    the result is the better one: as places in a table, numbers in a row fall together no more often than at random, whatever they
    are multiples of. */
static inline __attribute__((always_inline, unused)) SN_FAST uint64_t sn_hash_combine(uint64_t a, uint64_t b) {
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)(a ^ UINT64_C(0x9e3779b97f4a7c15)) * (b ^ UINT64_C(0xbf58476d1ce4e5b9));
    uint64_t hash = (uint64_t)product ^ (uint64_t)(product >> 64);
    return hash ^ hash >> 32;
}

/** A well-mixed number from a number. */
static inline __attribute__((always_inline, unused)) SN_FAST uint64_t sn_hash_mix(uint64_t key) {
    key ^= key >> 32;
    key *= UINT64_C(0x9e3779b97f4a7c15);
    key ^= key >> 29;
    key *= UINT64_C(0xbf58476d1ce4e5b9);
    return key ^ key >> 32;
}

/* -------------------------------------------------------------------------------- tables */

/** What all tables have. All zero is a valid, empty table. The members are its own. */
typedef struct sn_table {
    void *entries;        /**< `room` of them, free ones with key zero; behind them is the one whose key is zero */
    size_t room;          /**< a power of two, or 0 */
    size_t used;          /**< entries, the one with key zero not counted */
    bool has_zero;        /**< there is that one */
    void *reserved;       /**< sn_table_reserve(); else NULL */
    size_t reserved_size;
} sn_table;

/** The type of a table of such entries. All zero is a valid, empty one; it may be copied as a whole, after which only one copy may
    be used. */
#define SN_TABLE(type)  \
    union {             \
        sn_table core;  \
        type *entries;  \
    }

/** Where the entry of `key` is, or NULL. */
#define sn_table_find(table, wanted)                                                                      \
    ({                                                                                                    \
        __typeof__(table) sn_table_self = (table);                                                        \
        __typeof__(sn_table_self->entries->key) sn_table_key = (wanted);                                  \
        (SN_TABLE_ENTRY(sn_table_self))sn_table_look(&sn_table_self->core, &sn_table_key, SN_TABLE_SHAPE(sn_table_self)); \
    })

/** Where the entry of `key` is; a new one if there was none, and then *is_new (a bool; may be NULL) is true. */
#define sn_table_insert(table, wanted, is_new)                                                            \
    ({                                                                                                    \
        __typeof__(table) sn_table_self = (table);                                                        \
        __typeof__(sn_table_self->entries->key) sn_table_key = (wanted);                                  \
        (SN_TABLE_ENTRY(sn_table_self))sn_table_make(&sn_table_self->core, &sn_table_key, (is_new),  \
                                                          SN_TABLE_SHAPE(sn_table_self));                 \
    })

/** The same where nothing may be called, in a table that was reserved; NULL if it is full. */
#define sn_table_insert_fast(table, wanted, is_new)                                                       \
    ({                                                                                                    \
        __typeof__(table) sn_table_self = (table);                                                        \
        __typeof__(sn_table_self->entries->key) sn_table_key = (wanted);                                  \
        (SN_TABLE_ENTRY(sn_table_self))sn_table_make_fast(&sn_table_self->core, &sn_table_key, (is_new), \
                                                               SN_TABLE_SHAPE(sn_table_self));            \
    })

/** Remove the entry of `key`; returns whether it was there. */
#define sn_table_remove(table, wanted)                                                                    \
    ({                                                                                                    \
        __typeof__(table) sn_table_self = (table);                                                        \
        __typeof__(sn_table_self->entries->key) sn_table_key = (wanted);                                  \
        sn_table_take_out(&sn_table_self->core, &sn_table_key, SN_TABLE_SHAPE(sn_table_self));            \
    })

/** A loop over all entries, in no particular order; `entry` is declared, a pointer. No entry may come or go meanwhile. */
#define sn_table_each(table, entry)                                                                       \
    for (SN_TABLE_ENTRY(table) entry = NULL;                                                       \
         (entry = (SN_TABLE_ENTRY(table))sn_table_next(&(table)->core, entry, SN_TABLE_SHAPE(table))) != NULL;)

/** A copy for sn_table_each() and sn_table_find(), of a reserved table to which another thread, one alone, adds meanwhile by
    sn_table_insert_fast(): what comes meanwhile may be missing, or have half of its key, and values may be older ones. */
#define sn_table_view(table) ((__typeof__(*(table))){.core = sn_table_seen(&(table)->core)})

/** Have the memory fetched where the entry of `key` is likely to be: it will be asked for. */
#define sn_table_expect(table, wanted)                                                                    \
    do {                                                                                                  \
        __typeof__(table) sn_table_self = (table);                                                        \
        __typeof__(sn_table_self->entries->key) sn_table_key = (wanted);                                  \
        sn_table_prefetch(&sn_table_self->core, &sn_table_key, SN_TABLE_SHAPE(sn_table_self));            \
    } while (0)

/** How many entries there are. */
#define sn_table_count(table) ((table)->core.used + (table)->core.has_zero)

/** Have address space ready in which an empty table grows to `most` entries at least, for sn_table_insert_fast(); memory is taken
    as it is touched. Returns whether there is so much address space. */
#define sn_table_reserve(table, most) sn_table_set_aside(&(table)->core, (most), sizeof *(table)->entries)

/** Make room for `count` entries more at once, rather than by growing again and again: what a table has grown out of is memory that has been
    touched, and in a reserved one stays. Never from SN_FAST functions. */
#define sn_table_prepare(table, count) sn_table_widen(&(table)->core, (count), SN_TABLE_SHAPE(table))

/** Remove all entries, keep the memory. */
#define sn_table_clear(table) sn_table_empty(&(table)->core, sizeof *(table)->entries)

/** Give the memory back; the table is empty, and no longer reserved. */
#define sn_table_release(table) sn_table_give_back(&(table)->core, sizeof *(table)->entries)

/* ------------------------------------------------------------------- what the macros are made of */

/** Pointer to an entry. */
#define SN_TABLE_ENTRY(table) __typeof__(*(table)->entries) *
/** Words of a key, bytes of an entry. */
#define SN_TABLE_SHAPE(table) SN_TABLE_KEY_WORDS(*(table)->entries), sizeof *(table)->entries
/** With a length that no array may have where a type is no entry. */
#define SN_TABLE_KEY_WORDS(entry)                                                                         \
    (sizeof(entry).key / 8 +                                                                              \
     0 * sizeof(char[sizeof(entry).key % 8 == 0 && sizeof(entry).key <= 80 && sizeof(entry) % 8 == 0 &&   \
                             __builtin_offsetof(__typeof__(entry), key) == 0                              \
                         ? 1                                                                              \
                         : -1]))

/** A word of a key, whatever its members are. */
typedef uint64_t __attribute__((may_alias)) sn_table_word;

#define SN_TABLE_INLINE static inline __attribute__((always_inline, unused)) SN_FAST

#pragma GCC visibility push(default)

void sn_table_grow(sn_table *table, size_t words, size_t size);
/** SN_FAST. Returns false if no larger one finds room. */
bool sn_table_grow_reserved(sn_table *table, size_t words, size_t size);
void sn_table_widen(sn_table *table, size_t count, size_t words, size_t size);
/** SN_FAST. */
void sn_table_close_hole(sn_table *table, sn_table_word *hole, size_t words, size_t size);
bool sn_table_set_aside(sn_table *table, size_t most, size_t size);
void sn_table_empty(sn_table *table, size_t size);
void sn_table_give_back(sn_table *table, size_t size);

#pragma GCC visibility pop

/** No loops: with a constant number of words the compiler leaves what is needed. */
SN_TABLE_INLINE bool sn_table_is_zero(const sn_table_word *key, size_t words) {
    uint64_t all = key[0];
    if (words > 1) all |= key[1];
    if (words > 2) all |= key[2];
    if (words > 3) all |= key[3];
    if (words > 4) all |= key[4];
    if (words > 5) all |= key[5];
    if (words > 6) all |= key[6];
    if (words > 7) all |= key[7];
    if (words > 8) all |= key[8];
    if (words > 9) all |= key[9];
    return all == 0;
}

SN_TABLE_INLINE bool sn_table_is_same(const sn_table_word *a, const sn_table_word *b, size_t words) {
    return a[0] == b[0] && (words <= 1 || a[1] == b[1]) && (words <= 2 || a[2] == b[2]) && (words <= 3 || a[3] == b[3]) &&
           (words <= 4 || a[4] == b[4]) && (words <= 5 || a[5] == b[5]) && (words <= 6 || a[6] == b[6]) &&
           (words <= 7 || a[7] == b[7]) && (words <= 8 || a[8] == b[8]) && (words <= 9 || a[9] == b[9]);
}

SN_TABLE_INLINE void sn_table_copy_key(sn_table_word *to, const sn_table_word *from, size_t words) {
    to[0] = from[0];
    if (words > 1) to[1] = from[1];
    if (words > 2) to[2] = from[2];
    if (words > 3) to[3] = from[3];
    if (words > 4) to[4] = from[4];
    if (words > 5) to[5] = from[5];
    if (words > 6) to[6] = from[6];
    if (words > 7) to[7] = from[7];
    if (words > 8) to[8] = from[8];
    if (words > 9) to[9] = from[9];
}

SN_TABLE_INLINE uint64_t sn_table_hash(const sn_table_word *key, size_t words) {
    uint64_t hash = sn_hash_combine(key[0], words > 1 ? key[1] : 0);
    if (words > 2) hash = sn_hash_combine(hash ^ key[2], words > 3 ? key[3] : 0);
    if (words > 4) hash = sn_hash_combine(hash ^ key[4], words > 5 ? key[5] : 0);
    if (words > 6) hash = sn_hash_combine(hash ^ key[6], words > 7 ? key[7] : 0);
    if (words > 8) hash = sn_hash_combine(hash ^ key[8], words > 9 ? key[9] : 0);
    return hash;
}

SN_TABLE_INLINE sn_table_word *sn_table_entry(const sn_table *table, size_t at, size_t size) {
    return (sn_table_word *)((char *)table->entries + at * size);
}

/** The entry of a key that is not zero, or the free one where it would go. There is always a free one. */
SN_TABLE_INLINE sn_table_word *sn_table_place(const sn_table *table, const sn_table_word *key, size_t words, size_t size) {
    for (size_t at = (size_t)sn_table_hash(key, words);; at++) {
        sn_table_word *entry = sn_table_entry(table, at & (table->room - 1), size);
        if (sn_table_is_same(entry, key, words) || sn_table_is_zero(entry, words)) return entry;
    }
}

SN_TABLE_INLINE void *sn_table_look(const sn_table *table, const void *wanted, size_t words, size_t size) {
    const sn_table_word *key = (const sn_table_word *)wanted;
    if (__builtin_expect(sn_table_is_zero(key, words), 0))
        return table->has_zero ? sn_table_entry(table, table->room, size) : NULL;
    if (__builtin_expect(table->room == 0, 0)) return NULL;
    sn_table_word *entry = sn_table_place(table, key, words, size);
    return sn_table_is_zero(entry, words) ? NULL : entry;
}

/** Whether one entry more would be too many. */
SN_TABLE_INLINE bool sn_table_is_full(const sn_table *table) { return table->used >= table->room / 8 * 5; }

/** There is room for one more. */
SN_TABLE_INLINE void *sn_table_fill(sn_table *table, const sn_table_word *key, bool *is_new, size_t words, size_t size) {
    sn_table_word *entry;
    bool is_zero = sn_table_is_zero(key, words), makes;
    if (__builtin_expect(is_zero, 0)) {
        entry = sn_table_entry(table, table->room, size);
        makes = !table->has_zero;
        table->has_zero = true;
    } else {
        entry = sn_table_place(table, key, words, size);
        makes = sn_table_is_zero(entry, words);
        if (makes) {
            sn_table_copy_key(entry, key, words);
            table->used++;
        }
    }
    if (is_new) *is_new = makes;
    return entry;
}

SN_TABLE_INLINE void *sn_table_make_fast(sn_table *table, const void *wanted, bool *is_new, size_t words, size_t size) {
    const sn_table_word *key = (const sn_table_word *)wanted;
    if (__builtin_expect(sn_table_is_full(table), 0)) {
        void *known = sn_table_look(table, wanted, words, size);
        if (known) {
            if (is_new) *is_new = false;
            return known;
        }
        if (!sn_table_grow_reserved(table, words, size) && table->used >= table->room / 8 * 7) return NULL;
    }
    return sn_table_fill(table, key, is_new, words, size);
}

/** Never from SN_FAST functions, though it may be inlined into them. */
SN_TABLE_INLINE void *sn_table_make(sn_table *table, const void *wanted, bool *is_new, size_t words, size_t size) {
    if (__builtin_expect(sn_table_is_full(table), 0)) sn_table_grow(table, words, size);
    return sn_table_fill(table, (const sn_table_word *)wanted, is_new, words, size);
}

SN_TABLE_INLINE bool sn_table_take_out(sn_table *table, const void *wanted, size_t words, size_t size) {
    sn_table_word *entry = (sn_table_word *)sn_table_look(table, wanted, words, size);
    if (!entry) return false;
    sn_table_close_hole(table, entry, words, size);
    return true;
}

/** The entry behind `before`; the first one for NULL; NULL behind the last. */
SN_TABLE_INLINE void *sn_table_next(const sn_table *table, const void *before, size_t words, size_t size) {
    size_t at = before ? (size_t)((const char *)before - (const char *)table->entries) / size + 1 : 0;
    for (; at < table->room; at++) {
        sn_table_word *entry = sn_table_entry(table, at, size);
        if (!sn_table_is_zero(entry, words)) return entry;
    }
    return at == table->room && table->has_zero ? sn_table_entry(table, at, size) : NULL;
}

/** Tables are replaced with `entries` first: what is read the other way round is never too large. */
SN_TABLE_INLINE sn_table sn_table_seen(const sn_table *table) {
    sn_table seen = {NULL, __atomic_load_n(&table->room, __ATOMIC_ACQUIRE), 0, false, NULL, 0};
    seen.entries = __atomic_load_n(&table->entries, __ATOMIC_ACQUIRE);
    seen.used = table->used;
    seen.has_zero = table->has_zero;
    return seen;
}

SN_TABLE_INLINE void sn_table_prefetch(const sn_table *table, const void *wanted, size_t words, size_t size) {
    if (table->room) {
        size_t at = (size_t)sn_table_hash((const sn_table_word *)wanted, words) & (table->room - 1);
        __builtin_prefetch(sn_table_entry(table, at, size), 1);
        __builtin_prefetch((const char *)sn_table_entry(table, at + 1, size) - 1, 1);
    }
}

#ifdef __cplusplus
}
#endif

#endif
