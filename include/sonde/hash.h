/**
 * @file sonde/hash.h
 * Maps from 64-bit keys to 64-bit values, the most common of the tables of <sonde/table.h>, as functions.
 *
 * Every key is allowed, 0 included. On pages of their own: no malloc. No lock: who shares a map must lock it. Not for SN_FAST
 * functions.
 */
#ifndef SONDE_HASH_H
#define SONDE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sonde/table.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** A hash value of bytes: what <sonde/index.h> wants. See also sn_hash_mix() and sn_hash_combine(). */
uint64_t sn_hash_bytes(const void *bytes, size_t size);

typedef struct sn_hash_entry {
    uint64_t key, value;
} sn_hash_entry;

/** All zero is a valid, empty map. */
typedef SN_TABLE(sn_hash_entry) sn_hash;

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

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
