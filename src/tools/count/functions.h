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

typedef SN_VECTOR(count_function) count_function_list;

typedef struct count_functions {
    count_function_list list; /**< all that executed anything, the most instructions first */
    size_t listed;            /**< so many of them have source files */
} count_functions;

/** The `limit` functions with the most instructions. */
void count_functions_find(count_functions *functions, const count_summary *summary, uint64_t limit);
void count_functions_free(count_functions *functions);

#endif
