/**
 * @file sonde/client_memory.h
 * Memory in the client's windows, for tools that hand it to the program: that replace its allocator, say.
 */
#ifndef SONDE_CLIENT_MEMORY_H
#define SONDE_CLIENT_MEMORY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** `size` bytes of zeroed memory that the program may read and write, anonymous and private, at a multiple of `alignment` (a
    power of two; whole pages in both). It counts for the program's own limits (RLIMIT_AS, RLIMIT_DATA), is one of its mappings in
    /proc/self/maps, and is copied by fork; memory_mapped is not called for it. 0 if there is none. From the callbacks in the
    engine; any thread. */
uint64_t sn_client_memory_new(uint64_t size, uint64_t alignment);

/** Give back a piece of such memory: whole pages. memory_unmapped is not called for it. */
void sn_client_memory_free(uint64_t address, uint64_t size);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
