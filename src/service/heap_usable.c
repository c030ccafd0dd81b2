/**
 * @fileoverview How much of a block the program may use: what malloc_usable_size() would tell.
 *
 * glibc's blocks say so themselves. Other allocators have classes of sizes: the client is asked once for each size, by a call of
 * the allocator's own function, and the answer is kept. See heap.h. Runs in the code cache too, but for what is said there.
 */
#include "sonde/hash.h"
#include "service/heap.h"

/* glibc malloc/malloc.c (malloc_usable_size, musable): the word before the block is the chunk's size with three flags, the
   second of which says that the chunk has a mapping of its own; there its header, two words, is no one else's. */
#define GLIBC_FLAGS 7
#define GLIBC_MAPPED 2

/** What is known of one size. Several may fall on one place; then the last one asked for stays. */
typedef struct size_class {
    uint64_t size; /**< UINT64_MAX while it is written, and at first 0, with no allocator */
    uint64_t usable;
    uint64_t alignment;
    uint32_t allocator;
} size_class;

enum { PLACES = 1 << 14 };
static size_class classes[PLACES];

static size_class *place_of(const sn_heap_allocator *allocator, uint64_t size, uint64_t alignment) {
    return &classes[sn_hash_mix(size ^ alignment << 40 ^ (uint64_t)allocator->number << 56) % PLACES];
}

static uint64_t glibc_usable(uint64_t address) {
    uint64_t head = ((const uint64_t *)address)[-1];
    return (head & ~(uint64_t)GLIBC_FLAGS) - (head & GLIBC_MAPPED ? 2 : 1) * sizeof head;
}

bool sn_heap_usable_of_block(const sn_heap_allocator *allocator, uint64_t address, uint64_t *usable) {
    if (allocator->is_glibc) *usable = glibc_usable(address);
    return allocator->is_glibc || !allocator->measure;
}

bool sn_heap_usable_is_known(const sn_heap_allocator *allocator, uint64_t size, uint64_t alignment, uint64_t *usable) {
    const size_class *found = place_of(allocator, size, alignment);
    uint64_t before = __atomic_load_n(&found->size, __ATOMIC_ACQUIRE);
    size_class copy = {0, found->usable, found->alignment, found->allocator};
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (before != size || __atomic_load_n(&found->size, __ATOMIC_RELAXED) != size) return false;
    if (copy.alignment != alignment || copy.allocator != allocator->number) return false;
    *usable = copy.usable;
    return true;
}

void sn_heap_usable_learn(const sn_heap_allocator *allocator, uint64_t size, uint64_t alignment, uint64_t usable) {
    size_class *place = place_of(allocator, size, alignment);
    __atomic_store_n(&place->size, UINT64_MAX, __ATOMIC_SEQ_CST);
    place->usable = usable;
    place->alignment = alignment;
    place->allocator = allocator->number;
    __atomic_store_n(&place->size, size, __ATOMIC_RELEASE);
}
