/**
 * @fileoverview Memory of the simulation. See memory.h.
 */
#include "memory.h"

#include <stdlib.h>

#include <sonde/tool.h>

static void *checked(void *memory) {
    if (memory == NULL) {
        sn_fail(125, "out of memory for the simulation");
    }
    return memory;
}

void *cache_memory_new(size_t count, size_t size) {
    return checked(calloc(count, size));
}

void *cache_memory_resized(void *memory, size_t count, size_t size) {
    return checked(reallocarray(memory, count, size));
}
