/**
 * @fileoverview The client's program break: see space.h.
 */
#include "guest/host_memory.h"
#include "guest/space_internal.h"
#include "jit/layout.h"

/** Whether the limits let the break, which is mapped up to `mapped_end`, go to `address`. */
static bool within_limits(uint64_t address, uint64_t mapped_end) {
    uint64_t limit = sn_space_current.data_limit, end = sn_page_up(address);
    if (limit != UINT64_MAX && address - SN_BREAK_START + sn_space_current.data_size > limit) {
        return false;
    }
    return end <= mapped_end || sn_space_may_grow(end - mapped_end, PROT_READ | PROT_WRITE, MAP_PRIVATE);
}

/** Map [start, end) behind the break; false if that can't be done. */
static bool grow(uint64_t start, uint64_t end) {
    if (!sn_regions_free(&sn_space_current.regions, start, end)) {
        return false;
    }
    long result = sn_host_mmap(start, end - start, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (result != (long)start) {
        if (!sn_syscall_failed(result)) {
            sn_host_munmap((uint64_t)result, end - start);
        }
        return false;
    }
    sn_region region = {.start = start,
                        .end = end,
                        .protection = PROT_READ | PROT_WRITE,
                        .flags = MAP_PRIVATE | MAP_ANONYMOUS,
                        .kind = SN_REGION_BREAK};
    sn_regions_insert(&sn_space_current.regions, &region);
    return true;
}

static bool shrink(sn_space_change *change, uint64_t start, uint64_t end) {
    if (sn_host_munmap(start, end - start) < 0) {
        return false;
    }
    sn_space_forget_code(change, start, end);
    sn_regions_remove(&sn_space_current.regions, start, end);
    return true;
}

long sn_space_break(uint64_t address) {
    sn_space_change change;
    if (!sn_space_begin(&change)) {
        return (long)sn_space_current.break_current;
    }
    uint64_t mapped_end = sn_page_up(sn_space_current.break_current);
    if (address >= SN_BREAK_START && address <= SN_BREAK_END && within_limits(address, mapped_end)) {
        uint64_t wanted_end = sn_page_up(address);
        bool done = wanted_end == mapped_end ||
                    (wanted_end > mapped_end ? grow(mapped_end, wanted_end) : shrink(&change, wanted_end, mapped_end));
        if (done) {
            sn_space_current.break_current = address;
        }
    }
    return sn_space_finish(&change, (long)sn_space_current.break_current);
}
