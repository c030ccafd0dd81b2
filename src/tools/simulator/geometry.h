/**
 * @fileoverview Sizes of caches: as options say, as the processor says, and what makes one possible.
 *
 * cache.c parses and completes them; the models build caches of them.
 */
#ifndef SONDE_TOOLS_SIMULATOR_GEOMETRY_H
#define SONDE_TOOLS_SIMULATOR_GEOMETRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The caches that a model may have. */
enum { CACHE_I1, CACHE_D1, CACHE_L2, CACHE_LL, CACHE_COUNT };

typedef struct cache_geometry {
    uint64_t size; /**< bytes; 0: not known */
    uint64_t ways;
    uint64_t line; /**< bytes */
} cache_geometry;

/** "I1", "D1", "L2", "LL": in options and reports. */
extern const char *const cache_names[CACHE_COUNT];

/** Parse SIZE,WAYS,LINE. Returns NULL if all is well, else what is wrong with it, in one static line. */
const char *cache_geometry_parse(cache_geometry *geometry, const char *text);

/** Whether such a cache can be: NULL, or why not. */
const char *cache_geometry_check(const cache_geometry *geometry);

uint64_t cache_geometry_sets(const cache_geometry *geometry);

/** Real caches may have a number of sets that is no power of two: then more ways and fewer sets, of the same size. */
void cache_geometry_adjust(cache_geometry *geometry);

/** What the processor says of its caches; size 0 for those that it does not tell. x86_64/processor_caches.c. */
void cache_geometry_detect(cache_geometry geometries[CACHE_COUNT]);

/** What is simulated where neither tells: a small processor of 2004, as in Cachegrind. */
extern const cache_geometry cache_geometry_defaults[CACHE_COUNT];

#endif
