/**
 * @fileoverview Listings of folders without the entries that the client must not see.
 *
 * Called by guest/syscall.c with what getdents or getdents64 stored in client memory.
 */
#ifndef SONDE_GUEST_LISTING_H
#define SONDE_GUEST_LISTING_H

#include <stdbool.h>
#include <stdint.h>

/** Take the entries out that stand for descriptors of the engine, if `directory` lists those of this process; `wide`: of
    getdents64. Returns how many bytes are left of the `size` at `address`. */
uint64_t sn_listing_clean(int directory, bool wide, uint64_t address, uint64_t size);

#endif
