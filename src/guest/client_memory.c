/**
 * @fileoverview Memory in the client's windows that a tool asks for: <sonde/client_memory.h>.
 *
 * It is made by the same functions as the client's own mappings, so that limits, /proc and fork know it.
 */
#include "sonde/client_memory.h"

#include <sys/mman.h>

#include "guest/space.h"
#include "jit/layout.h"

uint64_t sn_client_memory_new(uint64_t size, uint64_t alignment) {
    uint64_t spare = alignment > SN_PAGE_SIZE ? alignment - SN_PAGE_SIZE : 0, room;
    if (__builtin_add_overflow(size, spare, &room)) return 0;
    long got = sn_space_mmap(0, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got < 0) return 0;
    uint64_t start = (uint64_t)got, address = (start + spare) & ~(spare ? alignment - 1 : 0);
    if (address != start) sn_space_munmap(start, address - start);
    if (address + size != start + room) sn_space_munmap(address + size, start + room - address - size);
    return address;
}

void sn_client_memory_free(uint64_t address, uint64_t size) { sn_space_munmap(address, size); }
