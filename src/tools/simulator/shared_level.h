/**
 * @fileoverview A cache that several threads share: a cache_level with a lock for each group of sets.
 *
 * Threads that use different sets do not wait for each other. Used by the models for their last level.
 */
#ifndef SONDE_TOOLS_SIMULATOR_SHARED_LEVEL_H
#define SONDE_TOOLS_SIMULATOR_SHARED_LEVEL_H

#include "level.h"
#include "model.h"

typedef struct cache_shared_level cache_shared_level;

cache_shared_level *cache_shared_level_new(const cache_geometry *geometry);

/**
 * Locks are taken only when there is more than one thread. Each thread says when it begins and ends a piece of work with
 * shared caches, and gives to the end what the beginning returned; a new thread adds itself before its first, and waits for
 * one that began without locks.
 */
void cache_shared_level_add_user(void);
bool cache_shared_level_begin(void);
void cache_shared_level_end(bool begun);
/** In a forked child: the thread that calls is the only one. */
void cache_shared_level_forget_users(void);

/** As cache_level_expect(), for the beginning of the search. */
void cache_shared_level_expect(const cache_shared_level *shared, uint64_t address);

/** As cache_level_refer(). Between begin and end. */
bool cache_shared_level_refer(cache_shared_level *shared, uint64_t address, uint32_t size);

/** The same for some, in order. found[i]: 1 or 0. */
void cache_shared_level_refer_all(cache_shared_level *shared, const cache_miss *misses, uint32_t count, uint8_t *found);

#endif
