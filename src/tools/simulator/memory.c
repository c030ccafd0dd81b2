/**
 * @fileoverview Memory of the simulation. See memory.h.
 */
#include "memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

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

enum { WIDE_PAGE = 2 << 20 };

static size_t wide_size(size_t size) {
    return (size + WIDE_PAGE - 1) & ~(size_t)(WIDE_PAGE - 1);
}

void *cache_memory_wide_new(size_t size) {
    size_t wanted = wide_size(size);
    char *mapped = mmap(NULL, wanted + WIDE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *begin = checked(mapped == MAP_FAILED ? NULL : mapped);
    size_t before = -(uintptr_t)begin & (WIDE_PAGE - 1);
    if (before != 0) {
        munmap(begin, before);
    }
    begin += before;
    munmap(begin + wanted, WIDE_PAGE - before);
    madvise(begin, wanted, MADV_HUGEPAGE); /* without, it is only slower */
    return begin;
}

void cache_memory_wide_release(void *memory, size_t size) {
    munmap(memory, wide_size(size));
}
