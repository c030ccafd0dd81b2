/**
 * @fileoverview The client's address space: its state, what is asked about it, and the watching of code.
 *
 * See space.h for the interface and space_internal.h for what the other files of the space use. The changes themselves are
 * in space_map.c (mmap, munmap, mprotect), space_move.c (mremap), space_remap.c (remap_file_pages), space_break.c (brk) and
 * space_shared.c (shmat, shmdt).
 */
#include "guest/space.h"

#include <errno.h>
#include <string.h>

#include "base/settings.h"
#include "guest/host_memory.h"
#include "guest/kernel_pages.h"
#include "guest/space_internal.h"
#include "jit/layout.h"

/** End of what a user process can map. */
#define TASK_END UINT64_C(0x7ffffffff000)

sn_space sn_space_current = {
    .break_current = SN_BREAK_START, .address_limit = UINT64_MAX, .data_limit = UINT64_MAX};

const uint64_t *const sn_space_losses = &sn_space_current.regions.losses;

void sn_space_init(void) {
    sn_kernel_pages_visit(sn_space_record);
}

void sn_space_lock(void) {
    sn_lock_acquire(&sn_space_current.lock);
}

void sn_space_unlock(void) {
    sn_lock_release(&sn_space_current.lock);
}

void sn_space_after_fork(void) {
    sn_lock_reset(&sn_space_current.lock);
}

/* ------------------------------------------------------------------ changes */

bool sn_space_begin(sn_space_change *change) {
    change->count = 0;
    sn_space_lock();
    if (sn_regions_reserve(&sn_space_current.regions, 2 * SN_REGIONS_SPARE)) {
        return true;
    }
    sn_space_unlock();
    return false;
}

long sn_space_finish(sn_space_change *change, long result) {
    /* Without the space's lock: the translator takes its own lock first and asks the space under it. */
    sn_space_unlock();
    for (unsigned i = 0; i < change->count; i++) {
        sn_code_discard(change->stale[i].start, change->stale[i].end);
    }
    return result;
}

void sn_space_forget_code(sn_space_change *change, uint64_t start, uint64_t end) {
    sn_watched_remove(&sn_space_current.watched, start, end);
    if (sn_regions_executable(&sn_space_current.regions, &start, &end)) {
        change->stale[change->count].start = start;
        change->stale[change->count].end = end;
        change->count++;
    }
}

bool sn_space_record(const sn_region *region) {
    sn_space_change change;
    if (!sn_space_begin(&change)) {
        return false;
    }
    sn_regions_insert(&sn_space_current.regions, region);
    sn_space_finish(&change, 0);
    return true;
}

int sn_space_host_protection(int protection) {
    if (protection & PROT_EXEC) {
        protection |= PROT_READ;
    }
    if (sn_settings_current.verify_blocks) {
        return protection; /* original code is single-stepped */
    }
    return protection & ~PROT_EXEC;
}

/* ------------------------------------------------------------------- limits */

void sn_space_set_limits(uint64_t address_space, uint64_t data) {
    sn_space_lock();
    sn_space_current.address_limit = address_space;
    sn_space_current.data_limit = data;
    sn_space_unlock();
}

/** How much of a stack is in use: what the kernel would have made it grow to. */
static uint64_t stack_in_use(const sn_region *stack) {
    enum { PAGES = 4096 };
    unsigned char resident[PAGES];
    for (uint64_t at = stack->start; at < stack->end;) {
        uint64_t pages = (stack->end - at) / SN_PAGE_SIZE;
        if (pages > PAGES) {
            pages = PAGES;
        }
        if (sn_syscall(SYS_mincore, at, pages * SN_PAGE_SIZE, resident) < 0) {
            break;
        }
        for (uint64_t i = 0; i < pages; i++, at += SN_PAGE_SIZE) {
            if (resident[i] & 1) {
                return stack->end - at;
            }
        }
    }
    return 0;
}

/** What RLIMIT_DATA counts: private, writable, no stack (the kernel's is_data_mapping). */
static bool is_data(int protection, int flags) {
    return (protection & PROT_WRITE) && !(flags & (MAP_SHARED | MAP_GROWSDOWN));
}

bool sn_space_may_grow(uint64_t bytes, int protection, int flags) {
    const sn_space *space = &sn_space_current;
    bool data = is_data(protection, flags) && space->data_limit != UINT64_MAX;
    if (space->address_limit == UINT64_MAX && !data) {
        return true;
    }
    uint64_t all_size = 0, data_size = 0;
    for (size_t i = 0; i < space->regions.count; i++) {
        const sn_region *region = &space->regions.items[i];
        uint64_t size = region->end - region->start;
        if (region->kind == SN_REGION_STACK) {
            all_size += stack_in_use(region);
        } else {
            all_size += size;
            data_size += is_data(region->protection, region->flags) ? size : 0;
        }
    }
    /* The kernel counts whole pages and rounds its limits down to them. */
    return all_size + bytes <= sn_page_down(space->address_limit) && all_size + bytes >= bytes &&
           (!data || data_size + bytes <= sn_page_down(space->data_limit));
}

/* ------------------------------------------- what the client may replace */

/** The next part of [*at, end) that is neither in a window nor client memory: *at becomes its start, the result is its
    end; 0 if there is none. */
static uint64_t next_hole(uint64_t *at, uint64_t end) {
    static const struct {
        uint64_t start, end;
    } windows[] = {{SN_LOW_START, SN_CACHE_START}, {SN_DATA_START, SN_DATA_END}};
    const sn_regions *regions = &sn_space_current.regions;
    while (*at < end) {
        uint64_t hole_end = end, occupied = 0;
        for (unsigned i = 0; i < sizeof windows / sizeof *windows; i++) {
            if (*at >= windows[i].start && *at < windows[i].end) {
                occupied = windows[i].end;
            } else if (windows[i].start > *at && windows[i].start < hole_end) {
                hole_end = windows[i].start;
            }
        }
        size_t index = sn_regions_lower(regions, *at);
        if (!occupied && index < regions->count) {
            const sn_region *region = &regions->items[index];
            if (region->start <= *at) {
                occupied = region->end;
            } else if (region->start < hole_end) {
                hole_end = region->start;
            }
        }
        if (!occupied) {
            return hole_end;
        }
        *at = occupied;
    }
    return 0;
}

void sn_space_release(uint64_t start, uint64_t end) {
    uint64_t hole_end;
    while ((hole_end = next_hole(&start, end)) != 0) {
        sn_host_munmap(start, hole_end - start);
        start = hole_end;
    }
}

long sn_space_claim(uint64_t start, uint64_t end) {
    if (end > TASK_END || end < start) {
        return -ENOMEM;
    }
    uint64_t at = start, hole_end;
    while ((hole_end = next_hole(&at, end)) != 0) {
        long held = sn_host_mmap(at, hole_end - at, PROT_NONE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (held != (long)at) {
            if (!sn_syscall_failed(held)) { /* a kernel without MAP_FIXED_NOREPLACE took it as a hint */
                sn_host_munmap((uint64_t)held, hole_end - at);
            }
            sn_space_release(start, at);
            return -ENOMEM;
        }
        at = hole_end;
    }
    return 0;
}

bool sn_space_kernel_page(uint64_t start, uint64_t end) {
    const sn_regions *regions = &sn_space_current.regions;
    for (size_t i = sn_regions_lower(regions, start); i < regions->count && regions->items[i].start < end; i++) {
        if (sn_kernel_page_region(&regions->items[i])) {
            return true;
        }
    }
    return false;
}

long sn_space_map_somewhere(sn_place_request *request, int protection, int flags, int descriptor, uint64_t offset) {
    flags = (flags & ~(MAP_FIXED | MAP_32BIT)) | MAP_FIXED_NOREPLACE;
    uint64_t place;
    while ((place = sn_placement_next(&sn_space_current.regions, request)) != 0) {
        long result = sn_host_mmap(place, request->length, protection, flags, descriptor, offset);
        if (result == (long)place) {
            return result;
        }
        if (!sn_syscall_failed(result)) {
            sn_host_munmap((uint64_t)result, request->length);
        } else if (result != -EEXIST) {
            return result;
        }
    }
    return -ENOMEM;
}

/* ---------------------------------------------------------------- questions */

bool sn_space_find(uint64_t address, sn_region *region) {
    sn_space_lock();
    const sn_region *found = sn_regions_find(&sn_space_current.regions, address);
    if (found) {
        *region = *found;
    }
    sn_space_unlock();
    return found != NULL;
}

void sn_space_visit_within(uint64_t start, uint64_t end, void (*visit)(const sn_region *region, void *data), void *data) {
    const sn_regions *regions = &sn_space_current.regions;
    sn_space_lock();
    for (size_t i = sn_regions_lower(regions, start); i < regions->count && regions->items[i].start < end; i++) {
        visit(&regions->items[i], data);
    }
    sn_space_unlock();
}

void sn_space_visit(void (*visit)(const sn_region *region, void *data), void *data) {
    sn_space_visit_within(0, UINT64_MAX, visit, data);
}

size_t sn_space_executable(uint64_t address) {
    const sn_regions *regions = &sn_space_current.regions;
    uint64_t at = address, limit = address + SN_PAGE_SIZE;
    sn_space_lock();
    for (size_t i = sn_regions_lower(regions, address); i < regions->count && at < limit; i++) {
        const sn_region *region = &regions->items[i];
        if (region->start > at || !(region->protection & PROT_EXEC)) {
            break;
        }
        at = region->end;
    }
    sn_space_unlock();
    return (at < limit ? at : limit) - address;
}

/* ------------------------------------------------------------ watching code */

void sn_space_restore_writes(uint64_t start, uint64_t end) {
    sn_watched_pages *watched = &sn_space_current.watched;
    size_t last = sn_watched_lower(watched, end);
    for (size_t i = sn_watched_lower(watched, start); i < last; i++) {
        const sn_region *region = sn_regions_find(&sn_space_current.regions, watched->pages[i]);
        if (region) {
            sn_host_mprotect(watched->pages[i], SN_PAGE_SIZE, sn_space_host_protection(region->protection));
        }
    }
    sn_watched_remove(watched, start, end);
}

/** Watch one page; false if that can't be done. */
static bool watch_page(uint64_t page) {
    const sn_region *region = sn_regions_find(&sn_space_current.regions, page);
    if (!region) {
        return true;
    }
    if (region->flags & MAP_SHARED) {
        return false; /* written through another address or by another process without our seeing it */
    }
    if (!(region->protection & PROT_WRITE) || sn_watched_contains(&sn_space_current.watched, page)) {
        return true;
    }
    if (!sn_watched_add(&sn_space_current.watched, page)) {
        return false;
    }
    int protection = sn_space_host_protection(region->protection) & ~PROT_WRITE;
    if (sn_host_mprotect(page, SN_PAGE_SIZE, protection) < 0) {
        sn_watched_remove(&sn_space_current.watched, page, page + SN_PAGE_SIZE);
        return false;
    }
    return true;
}

bool sn_space_watch_code(uint64_t start, uint64_t end) {
    bool watched = true;
    sn_space_lock();
    for (uint64_t page = sn_page_down(start); page < end && watched; page += SN_PAGE_SIZE) {
        watched = watch_page(page);
    }
    sn_space_unlock();
    return watched;
}

bool sn_space_unwatch(uint64_t address) {
    uint64_t page = sn_page_down(address);
    sn_space_lock();
    const sn_region *region = sn_regions_find(&sn_space_current.regions, page);
    bool writable = region && (region->protection & PROT_WRITE);
    if (writable) {
        /* Also when the page is not watched any more: another thread may have faulted on it at the same time. */
        sn_watched_remove(&sn_space_current.watched, page, page + SN_PAGE_SIZE);
        sn_host_mprotect(page, SN_PAGE_SIZE, sn_space_host_protection(region->protection));
    }
    sn_space_unlock();
    return writable;
}

bool sn_space_unwatch_all(void) {
    sn_space_lock();
    sn_watched_pages taken = sn_space_current.watched;
    for (size_t i = 0; i < taken.count; i++) {
        const sn_region *region = sn_regions_find(&sn_space_current.regions, taken.pages[i]);
        if (region) {
            sn_host_mprotect(taken.pages[i], SN_PAGE_SIZE, sn_space_host_protection(region->protection));
        }
    }
    sn_space_current.watched = (sn_watched_pages){0};
    sn_space_unlock();
    for (size_t i = 0; i < taken.count; i++) {
        sn_code_discard(taken.pages[i], taken.pages[i] + SN_PAGE_SIZE);
    }
    bool any = taken.count > 0;
    sn_watched_clear(&taken);
    return any;
}
