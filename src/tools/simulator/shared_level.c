/**
 * @fileoverview A cache that several threads share. See shared_level.h.
 */
#include "shared_level.h"

#include <sched.h>
#include <stdatomic.h>

#include "memory.h"
#include "passes.h"

enum { LOCKS = 1024, SPINS = 200, ADDRESS_BITS = 48 };

struct cache_shared_level {
    cache_level level;
    bool (*use_line)(cache_level *level, uint64_t line);
    /** For each set the line that was used last in it: what is above the bits that give the set, and 1; 0: none. When it is used
        again, nothing else need be touched, and the lines of 16 sets are side by side. NULL: lines have too many bits. */
    uint32_t *last;
    uint32_t set_bits;
    atomic_bool locks[LOCKS]; /**< set N has lock N % LOCKS */
};

static atomic_uint users, working_without_locks;
static atomic_bool needs_locks;

void cache_shared_level_add_user(void) {
    if (atomic_fetch_add(&users, 1) > 0) {
        atomic_store(&needs_locks, true);
        while (atomic_load(&working_without_locks) > 0) {
            sched_yield();
        }
    }
}

bool cache_shared_level_begin(void) {
    if (atomic_load(&needs_locks)) {
        return false;
    }
    atomic_fetch_add(&working_without_locks, 1); /* now who sets the other waits, or has set it already */
    if (!atomic_load(&needs_locks)) {
        return true;
    }
    atomic_fetch_sub(&working_without_locks, 1);
    return false;
}

void cache_shared_level_end(bool begun) {
    if (begun) {
        atomic_fetch_sub(&working_without_locks, 1);
    }
}

void cache_shared_level_forget_users(void) {
    atomic_store(&users, 1);
    atomic_store(&working_without_locks, 0);
    atomic_store(&needs_locks, false);
}

cache_shared_level *cache_shared_level_new(const cache_geometry *geometry) {
    cache_shared_level *shared = cache_memory_new(1, sizeof *shared);
    cache_level_init(&shared->level, geometry);
    shared->use_line = cache_passes_best(&shared->level)->use_line;
    shared->set_bits = (uint32_t)__builtin_popcountll(shared->level.set_mask);
    if (ADDRESS_BITS - shared->level.line_shift - shared->set_bits < 32) {
        shared->last = cache_memory_new(shared->level.set_mask + 1, sizeof *shared->last);
    }
    return shared;
}

/** Held for some nanoseconds, so that waiting in the kernel would be slower. */
static void acquire(atomic_bool *lock) {
    for (unsigned spins = 0; atomic_exchange_explicit(lock, true, memory_order_acquire); spins++) {
        while (atomic_load_explicit(lock, memory_order_relaxed) && ++spins < SPINS) {
        }
        if (spins >= SPINS) {
            sched_yield(); /* its owner may not be running */
            spins = 0;
        }
    }
}

static inline uint32_t *last_of(const cache_shared_level *shared, uint64_t line) {
    return &shared->last[line & shared->level.set_mask];
}

/** As `last` has it. */
static inline uint32_t name_of(const cache_shared_level *shared, uint64_t line) {
    return (uint32_t)(line >> shared->set_bits) + 1;
}

static inline bool use_alone(cache_shared_level *shared, uint64_t line) {
    if (shared->last != NULL) {
        uint32_t *last = last_of(shared, line), name = name_of(shared, line);
        if (*last == name) {
            return true;
        }
        *last = name;
    }
    return shared->use_line(&shared->level, line);
}

static bool use_locked(cache_shared_level *shared, uint64_t line) {
    atomic_bool *lock = &shared->locks[line & shared->level.set_mask & (LOCKS - 1)];
    acquire(lock);
    bool is_hit = use_alone(shared, line);
    atomic_store_explicit(lock, false, memory_order_release);
    return is_hit;
}

static inline bool use(cache_shared_level *shared, uint64_t line) {
    return atomic_load_explicit(&needs_locks, memory_order_relaxed) ? use_locked(shared, line) : use_alone(shared, line);
}

static inline bool refer(cache_shared_level *shared, uint64_t address, uint32_t size) {
    uint64_t line = address >> shared->level.line_shift, last = (address + size - 1) >> shared->level.line_shift;
    bool is_hit = use(shared, line);
    while (line < last) {
        is_hit &= use(shared, ++line);
    }
    return is_hit;
}

void cache_shared_level_expect(const cache_shared_level *shared, uint64_t address) {
    if (shared->last != NULL) {
        __builtin_prefetch(last_of(shared, address >> shared->level.line_shift), 1);
    } else {
        cache_level_expect(&shared->level, address);
    }
}

bool cache_shared_level_refer(cache_shared_level *shared, uint64_t address, uint32_t size) {
    return refer(shared, address, size);
}

/** Have the sets fetched of lines that were not the last used of theirs; another thread may be changing what is read. */
static void expect_sets(const cache_shared_level *shared, const cache_miss *misses, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uint64_t line = misses[i].reference.address >> shared->level.line_shift;
        if (__atomic_load_n(last_of(shared, line), __ATOMIC_RELAXED) != name_of(shared, line)) {
            __builtin_prefetch(cache_level_set(&shared->level, line), 1);
        }
    }
}

void cache_shared_level_refer_all(cache_shared_level *shared, const cache_miss *misses, uint32_t count, uint8_t *found) {
    for (uint32_t i = 0; i < count; i++) {
        cache_shared_level_expect(shared, misses[i].reference.address);
    }
    if (shared->last != NULL) {
        expect_sets(shared, misses, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        found[i] = refer(shared, misses[i].reference.address, misses[i].reference.size);
    }
}
