/**
 * @fileoverview What a cache model is, and the table of them, from which --model= chooses.
 *
 * All models have first-level caches for instructions and for data in each thread, LRU and write-allocate, which
 * simulate.c has. What misses those goes to the model: one row with its caches, its events, and functions. Each thread
 * has a core, which it alone uses; what cores share, the model locks. To add a model: write its file, and add its row
 * to model.c.
 */
#ifndef SONDE_TOOLS_SIMULATOR_MODEL_H
#define SONDE_TOOLS_SIMULATOR_MODEL_H

#include "geometry.h"

typedef enum cache_kind { CACHE_FETCH, CACHE_READ, CACHE_WRITE, CACHE_KINDS } cache_kind;

enum { CACHE_MOST_LEVELS = 3 };

/** A reference to memory: `size` bytes from `address` on. */
typedef struct cache_reference {
    uint64_t address;
    uint32_t size;
    uint32_t kind;        /**< cache_kind */
    uint32_t site;        /**< of the instruction that refers: cache_site_address() */
} cache_reference;

/** A reference that has missed the first level. */
typedef struct cache_miss {
    cache_reference reference;
    uint64_t *counters; /**< where simulate.c counts it, by level */
} cache_miss;

typedef struct cache_model {
    const char *name;
    bool has[CACHE_COUNT];        /**< which caches, the first levels among them */
    unsigned level_count;         /**< a reference may miss so many levels one behind the other, the first among them */
    const char *events[CACHE_KINDS][CACHE_MOST_LEVELS]; /**< what a miss of each level is called in profiles */
    const char *level_names[CACHE_MOST_LEVELS];         /**< in the summary: "1", "LL" */
    /** Once, before any core is made. `geometries` live for ever. */
    void (*start)(const cache_geometry *geometries);
    /** A core's memory; NULL, both, if the model needs none. */
    void *(*core_new)(void);
    void (*core_free)(void *core);
    /** How many levels each of some references misses that have missed the first: 1 if all of it is in the second. Called for
        the misses of a thread in the order of its references. One that spans lines comes as a whole if any of them is missing. */
    void (*miss)(void *core, const cache_miss *misses, uint32_t count, uint8_t *levels);
} cache_model;

extern const cache_model cache_model_cachegrind, cache_model_hierarchy;

/** All models, the default first; and their names for the option, separated by bars. */
extern const cache_model *const cache_models[];
#define CACHE_MODEL_NAMES "cachegrind|hierarchy"

#endif
