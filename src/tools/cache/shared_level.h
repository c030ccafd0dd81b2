/**
 * @fileoverview A cache that several threads share: a cache_level with a lock for each group of sets.
 *
 * Threads that use different sets do not wait for each other. Used by the models for their last level.
 */
#ifndef SONDE_TOOLS_CACHE_SHARED_LEVEL_H
#define SONDE_TOOLS_CACHE_SHARED_LEVEL_H

#include "level.h"

typedef struct cache_shared_level cache_shared_level;

cache_shared_level *cache_shared_level_new(const cache_geometry *geometry);

/** As cache_level_refer(). */
bool cache_shared_level_refer(cache_shared_level *shared, uint64_t address, uint32_t size);

#endif
