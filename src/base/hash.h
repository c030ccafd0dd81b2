/**
 * @fileoverview A map from 64-bit keys to 64-bit values: open addressing on pages of its own, no malloc, no lock.
 *
 * Every key is allowed, 0 included. Not thread-safe. Linear probing; removal moves later entries back, so that nothing
 * wears out.
 */
#ifndef SONDE_BASE_HASH_H
#define SONDE_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sn_hash_entry {
    uint64_t key, value;
} sn_hash_entry;

/** All zero is a valid, empty map. */
typedef struct sn_hash {
    sn_hash_entry *entries; /**< room of them; an entry with key 0 is free */
    size_t room;            /**< a power of two, or 0 */
    size_t used;            /**< entries, the one of key 0 not counted */
    bool has_zero;          /**< key 0 is kept apart */
    uint64_t zero_value;
} sn_hash;

/** Where the value of `key` is, or NULL. Valid until the next insertion or removal. */
uint64_t *sn_hash_find(const sn_hash *hash, uint64_t key);

/** The value of `key`, or `otherwise`. */
uint64_t sn_hash_get(const sn_hash *hash, uint64_t key, uint64_t otherwise);

/** Where the value of `key` is; a new entry with value 0 if there was none, and then *is_new (may be NULL) is true. */
uint64_t *sn_hash_insert(sn_hash *hash, uint64_t key, bool *is_new);

/** Set the value of `key`. */
void sn_hash_set(sn_hash *hash, uint64_t key, uint64_t value);

/** Returns whether the key was there. */
bool sn_hash_remove(sn_hash *hash, uint64_t key);

size_t sn_hash_count(const sn_hash *hash);

/** Visit all entries in no particular order: start with *position 0; false at the end. The map must not change. */
bool sn_hash_next(const sn_hash *hash, size_t *position, sn_hash_entry *entry);

/** Remove all entries, keep the memory. */
void sn_hash_clear(sn_hash *hash);

/** Give the memory back; the map is empty. */
void sn_hash_release(sn_hash *hash);

/** A well-mixed number from a number: also for tables of one's own. */
static inline uint64_t sn_hash_mix(uint64_t key) {
    key ^= key >> 32;
    key *= UINT64_C(0x9e3779b97f4a7c15);
    key ^= key >> 29;
    key *= UINT64_C(0xbf58476d1ce4e5b9);
    return key ^ key >> 32;
}

/** The same from bytes. */
uint64_t sn_hash_bytes(const void *bytes, size_t size);

#endif
