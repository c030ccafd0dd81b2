/**
 * @fileoverview A cache that several threads share. See shared_level.h.
 */
#include "shared_level.h"

#include <sched.h>
#include <stdatomic.h>

#include "memory.h"
#include "passes.h"

enum { LOCKS = 1024, SPINS = 200 };

struct cache_shared_level {
    cache_level level;
    bool (*use_line)(cache_level *level, uint64_t line);
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
    shared->use_line = cache_passes_best(shared->level.ways)->use_line;
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

static bool use(cache_shared_level *shared, uint64_t line) {
    if (!atomic_load_explicit(&needs_locks, memory_order_relaxed)) {
        return shared->use_line(&shared->level, line);
    }
    atomic_bool *lock = &shared->locks[line & shared->level.set_mask & (LOCKS - 1)];
    acquire(lock);
    bool is_hit = shared->use_line(&shared->level, line);
    atomic_store_explicit(lock, false, memory_order_release);
    return is_hit;
}

void cache_shared_level_expect(const cache_shared_level *shared, uint64_t address) {
    cache_level_expect(&shared->level, address);
}

bool cache_shared_level_refer(cache_shared_level *shared, uint64_t address, uint32_t size) {
    uint64_t line = address >> shared->level.line_shift, last = (address + size - 1) >> shared->level.line_shift;
    bool is_hit = use(shared, line);
    while (line < last) {
        is_hit &= use(shared, ++line);
    }
    return is_hit;
}
