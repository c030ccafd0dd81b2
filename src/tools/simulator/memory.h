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

/** Zeroed memory of some MiB that is looked up all over: in pages of 2 MiB, if the system has them, since the processor knows where
    few pages are. (cc1's simulation takes 0.8 of the time then.) It takes whole such pages. */
void *cache_memory_wide_new(size_t size);
void cache_memory_wide_release(void *memory, size_t size);

#endif
