/**
 * @fileoverview Which functions executed how many instructions. Called by count.c at the end of a run.
 */
#ifndef SONDE_TOOLS_COUNT_FUNCTIONS_H
#define SONDE_TOOLS_COUNT_FUNCTIONS_H

#include "thread.h"

typedef struct count_function {
    uint64_t instructions;
    uint64_t address;   /**< where it begins, 0 when the code has no symbol */
    const char *name;   /**< NULL when the code has no symbol */
    const char *file;   /**< source file, or NULL */
    unsigned line;      /**< where the function begins, 0 when unknown */
    const char *module; /**< NULL when the code was not mapped from a file */
} count_function;

typedef struct count_functions {
    count_function *list; /**< the most instructions first */
    size_t count;         /**< listed */
    size_t found;         /**< all functions that executed anything */
} count_functions;

/** The `limit` functions with the most instructions. */
void count_functions_find(count_functions *functions, const count_summary *summary, uint64_t limit);
void count_functions_free(count_functions *functions);

#endif
