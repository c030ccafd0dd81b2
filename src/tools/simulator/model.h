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
    /** A miss at that address will be told soon: time to have the memory of the caches ready that it will be looked for in. */
    void (*expect)(const void *core, uint64_t address);
    /** How many levels a reference misses that has missed the first: 1 if all of it is in the second. Called for the misses
        of a thread in the order of its references. One that spans lines comes as a whole if any of them is missing. */
    unsigned (*miss)(void *core, const cache_reference *reference);
} cache_model;

extern const cache_model cache_model_cachegrind, cache_model_hierarchy;

/** All models, the default first; and their names for the option, separated by bars. */
extern const cache_model *const cache_models[];
#define CACHE_MODEL_NAMES "cachegrind|hierarchy"

#endif
