/**
 * @fileoverview A map from 64-bit keys to 64-bit values. See hash.h.
 */
#include "base/hash.h"

#include <string.h>

#include "base/arena.h"

enum { FIRST_ROOM = 4096 / sizeof(sn_hash_entry) };

static size_t home_of(const sn_hash *hash, uint64_t key) {
    return sn_hash_mix(key) & (hash->room - 1);
}

/** The entry of `key`, or the free one where it would go. There is always a free one. */
static sn_hash_entry *probe(const sn_hash *hash, uint64_t key) {
    size_t at = home_of(hash, key);
    while (hash->entries[at].key && hash->entries[at].key != key)
        at = (at + 1) & (hash->room - 1);
    return &hash->entries[at];
}

static void grow(sn_hash *hash) {
    sn_hash old = *hash;
    hash->room = old.room ? old.room * 2 : FIRST_ROOM;
    hash->entries = sn_pages_allocate(hash->room * sizeof *hash->entries);
    for (size_t i = 0; i < old.room; i++)
        if (old.entries[i].key)
            *probe(hash, old.entries[i].key) = old.entries[i];
    if (old.room)
        sn_pages_release(old.entries, old.room * sizeof *old.entries);
}

uint64_t *sn_hash_find(const sn_hash *hash, uint64_t key) {
    if (key == 0)
        return hash->has_zero ? (uint64_t *)&hash->zero_value : NULL;
    if (hash->room == 0)
        return NULL;
    sn_hash_entry *entry = probe(hash, key);
    return entry->key ? &entry->value : NULL;
}

uint64_t sn_hash_get(const sn_hash *hash, uint64_t key, uint64_t otherwise) {
    const uint64_t *value = sn_hash_find(hash, key);
    return value ? *value : otherwise;
}

uint64_t *sn_hash_insert(sn_hash *hash, uint64_t key, bool *is_new) {
    bool ignored;
    if (!is_new)
        is_new = &ignored;
    if (key == 0) {
        *is_new = !hash->has_zero;
        if (*is_new)
            hash->zero_value = 0;
        hash->has_zero = true;
        return &hash->zero_value;
    }
    if (hash->used + 1 > hash->room / 4 * 3)
        grow(hash);
    sn_hash_entry *entry = probe(hash, key);
    *is_new = entry->key == 0;
    if (*is_new) {
        *entry = (sn_hash_entry){.key = key};
        hash->used++;
    }
    return &entry->value;
}

void sn_hash_set(sn_hash *hash, uint64_t key, uint64_t value) {
    *sn_hash_insert(hash, key, NULL) = value;
}

/** Fill the hole at `hole`: an entry further on moves into it if its home does not lie between the two. */
static void close_hole(sn_hash *hash, size_t hole) {
    size_t mask = hash->room - 1;
    for (size_t at = (hole + 1) & mask; hash->entries[at].key; at = (at + 1) & mask) {
        size_t home = home_of(hash, hash->entries[at].key);
        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        hash->entries[hole] = hash->entries[at];
        hole = at;
    }
    hash->entries[hole] = (sn_hash_entry){0};
}

bool sn_hash_remove(sn_hash *hash, uint64_t key) {
    if (key == 0) {
        bool had = hash->has_zero;
        hash->has_zero = false;
        return had;
    }
    if (hash->room == 0)
        return false;
    sn_hash_entry *entry = probe(hash, key);
    if (!entry->key)
        return false;
    close_hole(hash, (size_t)(entry - hash->entries));
    hash->used--;
    return true;
}

size_t sn_hash_count(const sn_hash *hash) {
    return hash->used + hash->has_zero;
}

bool sn_hash_next(const sn_hash *hash, size_t *position, sn_hash_entry *entry) {
    if (*position == 0) {
        *position = 1;
        if (hash->has_zero) {
            *entry = (sn_hash_entry){.key = 0, .value = hash->zero_value};
            return true;
        }
    }
    while (*position <= hash->room) {
        const sn_hash_entry *at = &hash->entries[(*position)++ - 1];
        if (at->key) {
            *entry = *at;
            return true;
        }
    }
    return false;
}

void sn_hash_clear(sn_hash *hash) {
    if (hash->room)
        memset(hash->entries, 0, hash->room * sizeof *hash->entries);
    hash->used = 0;
    hash->has_zero = false;
}

void sn_hash_release(sn_hash *hash) {
    if (hash->room)
        sn_pages_release(hash->entries, hash->room * sizeof *hash->entries);
    *hash = (sn_hash){0};
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
