/**
 * @fileoverview Blocks and pools that a program tells of by client requests: see heap.h.
 *
 * The requests and their meaning: valgrind.h 3.19, and memcheck's manual 4.8 for pools. They are made one at a time, under a lock
 * that is the engine's, so that no fork finds it taken.
 */
#include "sonde/arena.h"
#include "sonde/client.h"
#include "sonde/hash.h"
#include "base/lock.h"
#include "sonde/vector.h"
#include "service/heap.h"

/** A pool: the addresses of its blocks. */
typedef struct pool {
    sn_hash blocks;
} pool;

static sn_lock lock;
static sn_hash pools; /**< by the address that the program calls it by */
static sn_arena arena;

static void add(sn_thread *thread, uint64_t address, uint64_t size) {
    if (address) sn_heap_add(thread, address, size, size, sn_context_of(thread));
}

static void end(sn_thread *thread, uint64_t address) {
    sn_heap_block *block = sn_heap_take(address);
    if (block) sn_heap_end(thread, block);
}

static void resize(sn_thread *thread, uint64_t address, uint64_t size) {
    sn_heap_block *block = sn_heap_take(address);
    if (!block) return;
    sn_heap_end(thread, block);
    add(thread, address, size);
}

static pool *pool_at(uint64_t name) { return (pool *)(uintptr_t)sn_hash_get(&pools, name, 0); }

static void create(uint64_t name) {
    pool *made = pool_at(name);
    if (!made) made = sn_arena_allocate(&arena, sizeof *made);
    sn_hash_set(&pools, name, (uint64_t)(uintptr_t)made);
}

static void destroy(sn_thread *thread, uint64_t name, pool *old) {
    size_t position = 0;
    sn_hash_entry entry;
    while (sn_hash_next(&old->blocks, &position, &entry)) end(thread, entry.key);
    sn_hash_release(&old->blocks);
    sn_hash_remove(&pools, name);
}

static void pool_free(sn_thread *thread, pool *from, uint64_t address) {
    if (sn_hash_remove(&from->blocks, address)) end(thread, address);
}

static void pool_add(sn_thread *thread, pool *to, uint64_t address, uint64_t size) {
    sn_hash_set(&to->blocks, address, 1);
    add(thread, address, size);
}

/** Blocks that lie outside of [start, end) go, others keep what is inside. */
static void trim(sn_thread *thread, pool *of, uint64_t start, uint64_t end_of_range) {
    SN_VECTOR(uint64_t) addresses = {0};
    size_t position = 0;
    sn_hash_entry entry;
    while (sn_hash_next(&of->blocks, &position, &entry)) *sn_vector_add(&addresses) = entry.key;
    for (size_t i = 0; i < addresses.count; i++) {
        uint64_t address = addresses.items[i];
        const sn_heap_block *block = sn_heap_at(address);
        if (!block) continue;
        uint64_t block_end = address + block->requested;
        uint64_t low = address > start ? address : start, high = block_end < end_of_range ? block_end : end_of_range;
        if (low == address && high == block_end) continue;
        pool_free(thread, of, address);
        if (low < high) pool_add(thread, of, low, high - low);
    }
    sn_vector_release(&addresses);
}

static void change_pool(sn_thread *thread, pool *of, const uint64_t arguments[6]) {
    switch (arguments[0]) {
    case SN_REQUEST_DESTROY_MEMPOOL: destroy(thread, arguments[1], of); break;
    case SN_REQUEST_MEMPOOL_ALLOC: pool_add(thread, of, arguments[2], arguments[3]); break;
    case SN_REQUEST_MEMPOOL_FREE: pool_free(thread, of, arguments[2]); break;
    case SN_REQUEST_MEMPOOL_TRIM: trim(thread, of, arguments[2], arguments[2] + arguments[3]); break;
    case SN_REQUEST_MOVE_MEMPOOL:
        sn_hash_remove(&pools, arguments[1]);
        sn_hash_set(&pools, arguments[2], (uint64_t)(uintptr_t)of);
        break;
    case SN_REQUEST_MEMPOOL_CHANGE:
        pool_free(thread, of, arguments[2]);
        pool_add(thread, of, arguments[3], arguments[4]);
        break;
    default: break;
    }
}

bool sn_heap_request(sn_thread *thread, const uint64_t arguments[6], uint64_t *result) {
    if (arguments[0] < SN_REQUEST_MALLOCLIKE_BLOCK || arguments[0] > SN_REQUEST_RESIZEINPLACE_BLOCK) return false;
    *result = 0;
    sn_heap_settle();
    sn_lock_acquire(&lock);
    pool *of = pool_at(arguments[1]);
    switch (arguments[0]) {
    case SN_REQUEST_MALLOCLIKE_BLOCK: add(thread, arguments[1], arguments[2]); break;
    case SN_REQUEST_FREELIKE_BLOCK: end(thread, arguments[1]); break;
    case SN_REQUEST_RESIZEINPLACE_BLOCK: resize(thread, arguments[1], arguments[3]); break;
    case SN_REQUEST_CREATE_MEMPOOL: create(arguments[1]); break;
    case SN_REQUEST_MEMPOOL_EXISTS: *result = of != NULL; break;
    default:
        if (of) change_pool(thread, of, arguments);
    }
    sn_lock_release(&lock);
    return true;
}
