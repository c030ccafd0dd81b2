/**
 * @fileoverview remap_file_pages of the client: see space.h. The kernel has emulated it by mappings for years; what is
 * left to do here is to keep the list of regions right.
 */
#include <errno.h>

#include "guest/host_memory.h"
#include "guest/kernel_pages.h"
#include "guest/space_internal.h"
#include "jit/layout.h"

/** That all of [start, end) is the client's own, shared memory. */
static bool is_shared(uint64_t start, uint64_t end) {
    while (start < end) {
        const sn_region *region = sn_regions_find(&sn_space_current.regions, start);
        if (!region || !(region->flags & MAP_SHARED) || sn_kernel_page_region(region)) {
            return false;
        }
        start = region->end;
    }
    return true;
}

long sn_space_remap_pages(uint64_t address, uint64_t length, int protection, uint64_t page, int flags) {
    uint64_t start = sn_page_down(address), end = start + sn_page_down(length);
    sn_space_change change;
    if (end <= start) {
        return -EINVAL;
    }
    if (!sn_space_begin(&change)) {
        return -ENOMEM;
    }
    if (!is_shared(start, end)) {
        return sn_space_finish(&change, -EINVAL);
    }
    long result = sn_syscall(SYS_remap_file_pages, start, end - start, protection, page, flags);
    if (result == 0) {
        sn_space_forget_code(&change, start, end);
        sn_region region = *sn_regions_find(&sn_space_current.regions, start);
        region.start = start;
        region.end = end;
        region.offset = page * SN_PAGE_SIZE;
        sn_regions_insert(&sn_space_current.regions, &region);
    }
    return sn_space_finish(&change, result);
}
