/**
 * @fileoverview Blocks told by client requests. See custom_blocks.h.
 *
 * A table of pointers by the hash of the address, with a lock for changes and searches; a program that tells of none pays one load.
 */
#include "custom_blocks.h"

#include <pthread.h>
#include <stdlib.h>

#include "memcheck.h"

typedef struct custom_block {
    mc_block block; /* first */
    mc_custom_places places;
} custom_block;

mc_custom_places *mc_custom_places_of(mc_block *block) { return &((custom_block *)block)->places; }

static struct {
    pthread_mutex_t lock;
    mc_block **slots;
    size_t size, count; /**< size: a power of two */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t first_slot(uint64_t address) { return (address * UINT64_C(0x9e3779b97f4a7c15)) >> 20; }

static mc_block **find(uint64_t address) {
    size_t at = first_slot(address) & (table.size - 1);
    while (table.slots[at] != NULL && table.slots[at]->address != address) {
        at = (at + 1) & (table.size - 1);
    }
    return &table.slots[at];
}

static void double_table(void) {
    mc_block **old = table.slots;
    size_t size = table.size;
    table.size = size != 0 ? 2 * size : 1024;
    table.slots = calloc(table.size, sizeof *table.slots);
    if (table.slots == NULL) {
        sn_fail(125, "memcheck: out of memory");
    }
    for (size_t i = 0; i < size; i++) {
        if (old[i] != NULL) {
            *find(old[i]->address) = old[i];
        }
    }
    free(old);
}

mc_block *mc_custom_make(uint64_t address) {
    pthread_mutex_lock(&table.lock);
    if (2 * table.count >= table.size) {
        double_table();
    }
    mc_block **slot = find(address);
    if (*slot == NULL) {
        *slot = calloc(1, sizeof(custom_block));
        if (*slot == NULL) {
            sn_fail(125, "memcheck: out of memory");
        }
        (*slot)->address = address;
        table.count++;
    }
    mc_block *block = *slot;
    pthread_mutex_unlock(&table.lock);
    return block;
}

mc_block *mc_custom_at(uint64_t address) {
    if (__atomic_load_n(&table.count, __ATOMIC_RELAXED) == 0) {
        return NULL;
    }
    pthread_mutex_lock(&table.lock);
    mc_block *block = *find(address);
    pthread_mutex_unlock(&table.lock);
    return block;
}

static bool is_better(const mc_block *block, const mc_block *than) {
    if (than == NULL || block->state != than->state) {
        return than == NULL || block->state == MC_BLOCK_LIVE;
    }
    return block->size < than->size;
}

mc_block *mc_custom_around(uint64_t address) {
    mc_block *best = NULL;
    pthread_mutex_lock(&table.lock);
    for (size_t i = 0; i < table.size; i++) {
        mc_block *block = table.slots[i];
        uint64_t zone = mc_redzone();
        if (block != NULL && address + zone >= block->address && address < block->address + block->size + zone &&
            is_better(block, best)) {
            best = block;
        }
    }
    pthread_mutex_unlock(&table.lock);
    return best;
}

void mc_custom_visit(mc_block_state state, void (*visit)(mc_block *block, void *data), void *data) {
    for (size_t i = 0; i < table.size; i++) {
        if (table.slots[i] != NULL && table.slots[i]->state == state) {
            visit(table.slots[i], data);
        }
    }
}
