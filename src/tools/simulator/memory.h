/**
 * @fileoverview Memory of the simulation and of the tool `cache`: there, or the run ends with one line.
 */
#ifndef SONDE_TOOLS_SIMULATOR_MEMORY_H
#define SONDE_TOOLS_SIMULATOR_MEMORY_H

#include <stddef.h>

/** Zeroed memory for `count` things of `size` bytes. Given back by free(). */
void *cache_memory_new(size_t count, size_t size);

/** As reallocarray(). */
void *cache_memory_resized(void *memory, size_t count, size_t size);

#endif
