/**
 * @fileoverview Strings kept once. See <sonde/intern.h>.
 *
 * A hash map leads from the text's hash to the newest of a chain of strings with that hash.
 */
#include "sonde/intern.h"

#include <string.h>

#include "sonde/arena.h"
#include "sonde/hash.h"
#include "base/lock.h"

typedef struct interned {
    struct interned *same_hash;
    size_t size;
    char text[];
} interned;

static sn_lock lock;
static sn_arena arena;
static sn_hash chains;

static const interned *find(const interned *chain, const char *text, size_t size) {
    while (chain && (chain->size != size || memcmp(chain->text, text, size) != 0))
        chain = chain->same_hash;
    return chain;
}

static const interned *add(uint64_t *chain, const char *text, size_t size) {
    interned *entry = sn_arena_allocate(&arena, sizeof *entry + size + 1);
    memcpy(entry->text, text, size);
    entry->size = size;
    entry->same_hash = (interned *)(uintptr_t)*chain;
    *chain = (uint64_t)(uintptr_t)entry;
    return entry;
}

const char *sn_intern_bytes(const char *text, size_t size) {
    uint64_t key = sn_hash_bytes(text, size);
    sn_lock_acquire(&lock);
    uint64_t *chain = sn_hash_insert(&chains, key, NULL);
    const interned *entry = find((const interned *)(uintptr_t)*chain, text, size);
    if (!entry)
        entry = add(chain, text, size);
    sn_lock_release(&lock);
    return entry->text;
}

const char *sn_intern(const char *text) {
    return sn_intern_bytes(text, strlen(text));
}

void sn_intern_lock(void) {
    sn_lock_acquire(&lock);
}

void sn_intern_unlock(void) {
    sn_lock_release(&lock);
}
