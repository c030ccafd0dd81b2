/**
 * @fileoverview What a cache model is, and the table of them, from which --model= chooses.
 *
 * A model is one row: its caches, its events, and functions. Each thread has a core, which it alone uses; what cores
 * share, the model locks. To add a model: write its file, and add its row to model.c.
 */
#ifndef SONDE_TOOLS_CACHE_MODEL_H
#define SONDE_TOOLS_CACHE_MODEL_H

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
    bool has[CACHE_COUNT];        /**< which caches */
    unsigned level_count;         /**< a reference may miss so many levels one behind the other */
    const char *events[CACHE_KINDS][CACHE_MOST_LEVELS]; /**< what a miss of each level is called in profiles */
    const char *level_names[CACHE_MOST_LEVELS];         /**< in the summary: "1", "LL" */
    /** Once, before any core is made. `geometries` live for ever. */
    void (*start)(const cache_geometry *geometries);
    void *(*core_new)(void);
    void (*core_free)(void *core);
    /** How many levels the reference misses: 0 if all of it is in the first. Not called for a reference within the very
        line that this core referred to last in the same set of I1 (fetches) or D1: that is a hit, and changes nothing. */
    unsigned (*refer)(void *core, const cache_reference *reference);
} cache_model;

extern const cache_model cache_model_cachegrind, cache_model_hierarchy;

/** All models, the default first; and their names for the option, separated by bars. */
extern const cache_model *const cache_models[];
#define CACHE_MODEL_NAMES "cachegrind|hierarchy"

#endif
