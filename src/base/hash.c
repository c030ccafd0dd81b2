/**
 * @fileoverview Maps from 64-bit keys to 64-bit values. See <sonde/hash.h>.
 */
#include "sonde/hash.h"

#include <string.h>

uint64_t *sn_hash_find(const sn_hash *hash, uint64_t key) {
    sn_hash_entry *entry = sn_table_find(hash, key);
    return entry ? &entry->value : NULL;
}

uint64_t sn_hash_get(const sn_hash *hash, uint64_t key, uint64_t otherwise) {
    const sn_hash_entry *entry = sn_table_find(hash, key);
    return entry ? entry->value : otherwise;
}

uint64_t *sn_hash_insert(sn_hash *hash, uint64_t key, bool *is_new) {
    return &sn_table_insert(hash, key, is_new)->value;
}

void sn_hash_set(sn_hash *hash, uint64_t key, uint64_t value) {
    sn_table_insert(hash, key, NULL)->value = value;
}

bool sn_hash_remove(sn_hash *hash, uint64_t key) {
    return sn_table_remove(hash, key);
}

size_t sn_hash_count(const sn_hash *hash) {
    return sn_table_count(hash);
}

/** *position is that of the entry to look at, 0 before the first. */
bool sn_hash_next(const sn_hash *hash, size_t *position, sn_hash_entry *entry) {
    const sn_hash_entry *before = *position ? &hash->entries[*position - 1] : NULL;
    const sn_hash_entry *next = sn_table_next(&hash->core, before, SN_TABLE_SHAPE(hash));
    if (!next)
        return false;
    *position = (size_t)(next - hash->entries) + 1;
    *entry = *next;
    return true;
}

void sn_hash_clear(sn_hash *hash) {
    sn_table_clear(hash);
}

void sn_hash_release(sn_hash *hash) {
    sn_table_release(hash);
}

uint64_t sn_hash_bytes(const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    uint64_t hash = size;
    for (; size >= 8; at += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        hash = sn_hash_mix(hash ^ word);
    }
    uint64_t rest = 0;
    memcpy(&rest, at, size);
    return sn_hash_mix(hash ^ rest);
}
