/**
 * @fileoverview The list of the client's mappings as a data structure: sorted, disjoint, merged as the kernel merges.
 *
 * Bookkeeping only: nothing here touches a mapping, takes a lock or calls libc's allocator. space.c owns the one list of
 * the process; unit tests make their own.
 */
#ifndef SONDE_GUEST_REGIONS_H
#define SONDE_GUEST_REGIONS_H

#include "guest/space.h"

typedef struct sn_regions {
    sn_region *items; /**< by address; somewhere inside `memory`, with room at both ends */
    size_t count;
    sn_region *memory;
    size_t capacity;  /**< of `memory` */
    /* For placement.c: above full_from, up to where ordinary memory is placed, is no hole of full_length bytes. Kept true
       here when something is removed. full_length 0: nothing is known. */
    uint64_t full_from, full_length;
    uint64_t losses; /**< how often memory went, or may have become unreadable */
} sn_regions;

/** What one change can need at most: a split at each end and the new region. */
enum { SN_REGIONS_SPARE = 3 };

/** Make room for `more` further regions, so that what follows can't fail. */
bool sn_regions_reserve(sn_regions *regions, size_t more);

/** Index of the first region that ends above `address`; `count` if there is none. */
size_t sn_regions_lower(const sn_regions *regions, uint64_t address);

/** The region that holds `address`, or NULL. */
sn_region *sn_regions_find(const sn_regions *regions, uint64_t address);

/** Whether no region touches [start, end). */
bool sn_regions_free(const sn_regions *regions, uint64_t start, uint64_t end);

/** The smallest range that holds all executable parts of [*start, *end); false and unchanged if there is none. */
bool sn_regions_executable(const sn_regions *regions, uint64_t *start, uint64_t *end);

/** These three want SN_REGIONS_SPARE reserved. */
void sn_regions_remove(sn_regions *regions, uint64_t start, uint64_t end);
/** Removes what was there, then adds, merging with the neighbours. */
void sn_regions_insert(sn_regions *regions, const sn_region *region);
/** [start, end) lies in one region. */
void sn_regions_protect(sn_regions *regions, uint64_t start, uint64_t end, int protection);

#endif
