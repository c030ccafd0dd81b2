/**
 * @fileoverview What the files of the address space share: its state, changes under the lock, and claims on the host.
 *
 * Owned by space.c; used by space_map.c, space_move.c, space_break.c, space_shared.c and the loader's stack. Nobody else.
 */
#ifndef SONDE_GUEST_SPACE_INTERNAL_H
#define SONDE_GUEST_SPACE_INTERNAL_H

#include "base/lock.h"
#include "guest/placement.h"
#include "guest/regions.h"
#include "guest/space.h"
#include "guest/watched_pages.h"

typedef struct sn_space {
    sn_lock lock;
    sn_regions regions;
    sn_watched_pages watched;
    uint64_t break_current; /**< the client's program break */
    uint64_t data_size;     /**< of the program's data segment: counts for RLIMIT_DATA */
    uint64_t address_limit; /**< RLIMIT_AS and RLIMIT_DATA of the client; UINT64_MAX: none */
    uint64_t data_limit;
    ino_t shared_memories;  /**< numbers given to shared anonymous mappings */
} sn_space;

extern sn_space sn_space_current;

/** A change in progress: what code it made stale. */
typedef struct sn_space_change {
    unsigned count;
    struct {
        uint64_t start, end;
    } stale[2];
} sn_space_change;

/** Take the lock and make room for the bookkeeping of one change; false (and no lock held) if there is no memory. */
bool sn_space_begin(sn_space_change *change);

/** Give the lock back, then discard what became stale. Returns `result`. */
long sn_space_finish(sn_space_change *change, long result);

/** [start, end) is about to be unmapped, replaced or moved: its executable parts become stale. */
void sn_space_forget_code(sn_space_change *change, uint64_t start, uint64_t end);

/** Take the watches of [start, end) off and give the pages their write permission back. */
void sn_space_restore_writes(uint64_t start, uint64_t end);

/** What the host gets for a client protection: never executable; executable implies readable. */
int sn_space_host_protection(int protection);

/** Whether the client may replace all of [start, end): it is client memory, or window, or free on the host. The free
    places outside the windows are held by a placeholder until sn_space_release. 0 or -ENOMEM. */
long sn_space_claim(uint64_t start, uint64_t end);

/** Undo what a claim reserved, when the change behind it failed. Only before the list is changed. */
void sn_space_release(uint64_t start, uint64_t end);

/** Whether a page of the kernel's own (vdso, vvar) lies in [start, end): the engine needs it too. */
bool sn_space_kernel_page(uint64_t start, uint64_t end);

/** Reserve memory on the host at the best place for the request: its address, or -errno. */
long sn_space_map_somewhere(sn_place_request *request, int protection, int flags, int descriptor, uint64_t offset);

/** Whether `bytes` more fit the client's limits, for memory with this protection and these flags (MAP_*). Under the
    lock. */
bool sn_space_may_grow(uint64_t bytes, int protection, int flags);

/** Record a mapping that exists on the host already. For the loader and sn_space_init. */
bool sn_space_record(const sn_region *region);

static inline uint64_t sn_page_down(uint64_t address) {
    return address & ~UINT64_C(4095);
}
static inline uint64_t sn_page_up(uint64_t address) {
    return (address + 4095) & ~UINT64_C(4095);
}

#endif
