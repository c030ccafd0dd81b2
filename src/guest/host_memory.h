/**
 * @fileoverview The mapping calls of the host kernel as functions: raw, results as -errno.
 *
 * Used inside src/guest for the client's mappings and for the engine's own bookkeeping memory, which must not come from
 * libc's allocator because the caller may be a thread that libc does not know.
 */
#ifndef SONDE_GUEST_HOST_MEMORY_H
#define SONDE_GUEST_HOST_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/x86_64/raw_syscall.h"

static inline long sn_host_mmap(uint64_t address, uint64_t length, int protection, int flags, int descriptor,
                                uint64_t offset) {
    return sn_syscall(SYS_mmap, address, length, protection, flags, descriptor, offset);
}

static inline long sn_host_munmap(uint64_t address, uint64_t length) {
    return sn_syscall(SYS_munmap, address, length);
}

static inline long sn_host_mprotect(uint64_t address, uint64_t length, int protection) {
    return sn_syscall(SYS_mprotect, address, length, protection);
}

static inline long sn_host_mremap(uint64_t address, uint64_t length, uint64_t new_length, int flags,
                                  uint64_t new_address) {
    return sn_syscall(SYS_mremap, address, length, new_length, flags, new_address);
}

/** Zeroed memory for the engine itself, wherever the kernel puts it; NULL when there is none. */
static inline void *sn_host_allocate(size_t bytes) {
    long memory = sn_host_mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return sn_syscall_failed(memory) ? NULL : (void *)memory;
}

/** Change the size of what sn_host_allocate gave (NULL and 0 at first); it may move. NULL when there is no memory: the
    old block then stays. */
static inline void *sn_host_reallocate(void *block, size_t old_bytes, size_t bytes) {
    if (!block) {
        return sn_host_allocate(bytes);
    }
    long memory = sn_host_mremap((uint64_t)block, old_bytes, bytes, MREMAP_MAYMOVE, 0);
    return sn_syscall_failed(memory) ? NULL : (void *)memory;
}

static inline void sn_host_free(void *block, size_t bytes) {
    if (block) {
        sn_host_munmap((uint64_t)block, bytes);
    }
}

#endif
