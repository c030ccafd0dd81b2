/**
 * @fileoverview mremap of the client: see space.h.
 */
#include <errno.h>

#include "guest/host_memory.h"
#include "guest/kernel_pages.h"
#include "guest/space_internal.h"
#include "jit/layout.h"

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

/** One call: what moves where. */
typedef struct move {
    uint64_t old_start, old_length; /**< length 0: a second view of shared memory */
    uint64_t new_start, new_length;
    int flags;
    sn_region source; /**< the region that holds old_start */
} move;

static uint64_t old_end(const move *m) {
    return m->old_start + m->old_length;
}

/** The kernel's checks. 0 or -errno. */
static long check(const move *m) {
    const int known = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
    bool must_move = m->flags & (MREMAP_FIXED | MREMAP_DONTUNMAP);
    if ((m->flags & ~known) || m->old_start % SN_PAGE_SIZE || m->new_length == 0 ||
        (must_move && !(m->flags & MREMAP_MAYMOVE)) ||
        ((m->flags & MREMAP_DONTUNMAP) && m->old_length != m->new_length) || old_end(m) < m->old_start) {
        return -EINVAL;
    }
    if (m->flags & MREMAP_FIXED) {
        uint64_t new_end = m->new_start + m->new_length;
        if (m->new_start % SN_PAGE_SIZE || new_end < m->new_start ||
            (m->old_start < new_end && m->new_start < old_end(m))) {
            return -EINVAL;
        }
    }
    return 0;
}

/** The old range must be one mapping of the client's. */
static long find_source(move *m) {
    const sn_region *region = sn_regions_find(&sn_space_current.regions, m->old_start);
    if (!region || sn_kernel_page_region(region)) {
        return -EFAULT;
    }
    if (m->old_length == 0 && !((region->flags & MAP_SHARED) && (m->flags & MREMAP_MAYMOVE))) {
        return -EINVAL;
    }
    m->source = *region;
    uint64_t needed = m->old_length < m->new_length || (m->flags & (MREMAP_FIXED | MREMAP_DONTUNMAP))
                          ? m->old_length
                          : m->new_length; /* a tail that is cut off may hold anything */
    return m->old_start + needed > region->end ? -EFAULT : 0;
}

/** The record of the new place. */
static sn_region moved_region(const move *m) {
    sn_region region = m->source;
    region.start = m->new_start;
    region.end = m->new_start + m->new_length;
    region.offset += region.device || region.path ? m->old_start - m->source.start : 0;
    if (m->new_start != m->old_start) {
        region.kind = SN_REGION_PLAIN;
    }
    return region;
}

static long shrink(sn_space_change *change, move *m) {
    uint64_t keep_end = m->old_start + m->new_length;
    sn_space_restore_writes(keep_end, old_end(m));
    long result = sn_host_munmap(keep_end, old_end(m) - keep_end);
    if (result < 0) {
        return result;
    }
    sn_space_forget_code(change, keep_end, old_end(m));
    sn_regions_remove(&sn_space_current.regions, keep_end, old_end(m));
    m->old_length = m->new_length;
    return (long)m->old_start;
}

/** Make it longer where it is; -ENOMEM if something is in the way. */
static long grow_in_place(move *m) {
    uint64_t end = m->old_start + m->new_length;
    if (old_end(m) != m->source.end || end < m->old_start || !sn_placement_in_window(m->old_start, end) ||
        !sn_regions_free(&sn_space_current.regions, old_end(m), end)) {
        return -ENOMEM;
    }
    sn_space_restore_writes(m->old_start, old_end(m)); /* a watched page is a mapping of its own on the host */
    long result = sn_host_mremap(m->old_start, m->old_length, m->new_length, 0, 0);
    if (!sn_syscall_failed(result)) {
        m->new_start = m->old_start;
        sn_region region = moved_region(m);
        sn_regions_insert(&sn_space_current.regions, &region);
    }
    return result;
}

/** Move to new_start, which is claimed. */
static long move_to(sn_space_change *change, const move *m) {
    sn_space_restore_writes(m->old_start, old_end(m));
    long result = sn_host_mremap(m->old_start, m->old_length, m->new_length,
                                 MREMAP_MAYMOVE | MREMAP_FIXED | (m->flags & MREMAP_DONTUNMAP), m->new_start);
    if (sn_syscall_failed(result)) {
        return result;
    }
    sn_region region = moved_region(m);
    sn_space_forget_code(change, m->new_start, m->new_start + m->new_length);
    if (m->old_length && !(m->flags & MREMAP_DONTUNMAP)) {
        sn_regions_remove(&sn_space_current.regions, m->old_start, old_end(m));
    }
    sn_regions_insert(&sn_space_current.regions, &region);
    return result;
}

/** Hold a free place by the rules of placement, then move there. */
static long move_somewhere(sn_space_change *change, move *m) {
    sn_place_request request = {
        .placement = m->source.protection & PROT_EXEC ? SN_PLACE_CODE_RANGE : SN_PLACE_DATA_WINDOW,
        .length = m->new_length,
        .alignment = m->source.flags & MAP_HUGETLB ? UINT64_C(2) << 20 : SN_PAGE_SIZE,
    };
    long place = sn_space_map_somewhere(&request, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (sn_syscall_failed(place)) {
        return place;
    }
    m->new_start = (uint64_t)place;
    long result = move_to(change, m);
    if (sn_syscall_failed(result)) {
        sn_host_munmap(m->new_start, m->new_length);
    }
    return result;
}

static long move_fixed(sn_space_change *change, move *m) {
    uint64_t end = m->new_start + m->new_length;
    long result = sn_space_kernel_page(m->new_start, end) ? -ENOMEM : sn_space_claim(m->new_start, end);
    if (result < 0) {
        return result;
    }
    result = move_to(change, m);
    if (sn_syscall_failed(result)) {
        sn_space_release(m->new_start, end);
    }
    return result;
}

/** Under the lock. */
static long do_move(sn_space_change *change, move *m) {
    long result = find_source(m);
    if (result < 0) {
        return result;
    }
    if (m->flags & MREMAP_FIXED) {
        if (m->new_length < m->old_length) {
            result = shrink(change, m);
        } else if (!sn_space_may_grow(m->new_length - m->old_length, m->source.protection, m->source.flags)) {
            return -ENOMEM;
        }
        return sn_syscall_failed(result) ? result : move_fixed(change, m);
    }
    if (m->flags & MREMAP_DONTUNMAP) {
        if (!sn_space_may_grow(m->new_length, m->source.protection, m->source.flags)) {
            return -ENOMEM;
        }
        return move_somewhere(change, m);
    }
    if (m->new_length <= m->old_length) {
        return m->new_length < m->old_length ? shrink(change, m) : (long)m->old_start;
    }
    if (!sn_space_may_grow(m->new_length - m->old_length, m->source.protection, m->source.flags)) {
        return -ENOMEM;
    }
    result = m->old_length ? grow_in_place(m) : -ENOMEM;
    if (sn_syscall_failed(result) && (m->flags & MREMAP_MAYMOVE)) {
        return move_somewhere(change, m);
    }
    return result;
}

long sn_space_mremap(uint64_t old_address, uint64_t old_length, uint64_t new_length, int flags,
                     uint64_t new_address) {
    move m = {.old_start = old_address,
              .old_length = sn_page_up(old_length),
              .new_start = new_address,
              .new_length = sn_page_up(new_length),
              .flags = flags};
    long result = check(&m);
    if (result < 0) {
        return result;
    }
    sn_space_change change;
    if (!sn_space_begin(&change)) {
        return -ENOMEM;
    }
    /* Watches come off on the way, so that whatever was translated from the old place is stale even on failure. */
    uint64_t start = old_address, end = old_address + m.old_length;
    bool code = sn_regions_executable(&sn_space_current.regions, &start, &end);
    result = do_move(&change, &m);
    sn_space_finish(&change, 0);
    if (code) {
        sn_code_discard(start, end);
    }
    return result;
}
