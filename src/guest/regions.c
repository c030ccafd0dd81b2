/**
 * @fileoverview The sorted list of mappings: see regions.h.
 */
#include "guest/regions.h"

#include <string.h>
#include <sys/mman.h>

#include "guest/host_memory.h"
#include "jit/layout.h"

enum { FIRST_CAPACITY = 512 };

static size_t whole_pages(size_t items) {
    return (items * sizeof(sn_region) + SN_PAGE_SIZE - 1) & ~(size_t)(SN_PAGE_SIZE - 1);
}

bool sn_regions_reserve(sn_regions *regions, size_t more) {
    size_t before = (size_t)(regions->items - regions->memory);
    if (before >= more && regions->capacity - regions->count - before >= more) {
        return true;
    }
    size_t capacity = regions->capacity ? regions->capacity : FIRST_CAPACITY;
    while (capacity < 2 * regions->count + 2 * more) {
        capacity *= 2;
    }
    /* A new block, or only the middle of the old one when it is large enough: room at both ends again. */
    sn_region *memory = capacity > regions->capacity ? sn_host_allocate(whole_pages(capacity)) : regions->memory;
    if (!memory) {
        return false;
    }
    sn_region *items = memory + (capacity - regions->count) / 2;
    if (regions->count) {
        memmove(items, regions->items, regions->count * sizeof *items);
    }
    if (memory != regions->memory) {
        sn_host_free(regions->memory, whole_pages(regions->capacity));
    }
    regions->memory = memory;
    regions->items = items;
    regions->capacity = capacity;
    return true;
}

/** Make room for a region at `index`, moving the shorter side: new mappings go to the low end of the data window, and so
    before nearly all others. */
static void open_gap(sn_regions *regions, size_t index) {
    if (index < regions->count / 2) {
        memmove(regions->items - 1, regions->items, index * sizeof(sn_region));
        regions->items--;
    } else {
        memmove(&regions->items[index + 1], &regions->items[index], (regions->count - index) * sizeof(sn_region));
    }
    regions->count++;
}

/** Take out the regions [first, last). */
static void close_gap(sn_regions *regions, size_t first, size_t last) {
    if (first < regions->count - last) {
        memmove(regions->items + (last - first), regions->items, first * sizeof(sn_region));
        regions->items += last - first;
    } else {
        memmove(&regions->items[first], &regions->items[last], (regions->count - last) * sizeof(sn_region));
    }
    regions->count -= last - first;
}

size_t sn_regions_lower(const sn_regions *regions, uint64_t address) {
    size_t low = 0, high = regions->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (regions->items[middle].end > address) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

sn_region *sn_regions_find(const sn_regions *regions, uint64_t address) {
    size_t index = sn_regions_lower(regions, address);
    if (index == regions->count || regions->items[index].start > address) {
        return NULL;
    }
    return &regions->items[index];
}

bool sn_regions_free(const sn_regions *regions, uint64_t start, uint64_t end) {
    size_t index = sn_regions_lower(regions, start);
    return index == regions->count || regions->items[index].start >= end;
}

bool sn_regions_executable(const sn_regions *regions, uint64_t *start, uint64_t *end) {
    uint64_t first = 0, last = 0;
    for (size_t index = sn_regions_lower(regions, *start); index < regions->count; index++) {
        const sn_region *region = &regions->items[index];
        if (region->start >= *end) {
            break;
        }
        if (!(region->protection & PROT_EXEC)) {
            continue;
        }
        if (!last) {
            first = region->start > *start ? region->start : *start;
        }
        last = region->end < *end ? region->end : *end;
    }
    if (!last) {
        return false;
    }
    *start = first;
    *end = last;
    return true;
}

/** Make `address` a border between two regions if it lies inside one. */
static void split(sn_regions *regions, uint64_t address) {
    sn_region *region = sn_regions_find(regions, address);
    if (!region || region->start == address) {
        return;
    }
    size_t index = (size_t)(region - regions->items);
    open_gap(regions, index);
    region = &regions->items[index];
    region[0] = region[1];
    region[1].offset += region[1].device || region[1].path ? address - region[1].start : 0;
    region[1].start = address;
    region[0].end = address;
}

/** Whether the kernel would make one mapping of `left` and its successor `right`. */
static bool mergeable(const sn_region *left, const sn_region *right) {
    if (left->end != right->start || left->protection != right->protection || left->flags != right->flags ||
        left->kind != right->kind || left->device != right->device || left->inode != right->inode ||
        left->path != right->path) {
        return false;
    }
    if (left->device || left->path) {
        return left->offset + (left->end - left->start) == right->offset;
    }
    /* Each shared anonymous mapping is an object of its own. */
    return !(left->flags & MAP_SHARED);
}

/** Merge the region at `index` with its successor if they belong together. */
static bool merge(sn_regions *regions, size_t index) {
    if (index + 1 >= regions->count || !mergeable(&regions->items[index], &regions->items[index + 1])) {
        return false;
    }
    regions->items[index].end = regions->items[index + 1].end;
    close_gap(regions, index + 1, index + 2);
    return true;
}

static void merge_around(sn_regions *regions, size_t index) {
    merge(regions, index);
    if (index > 0) {
        merge(regions, index - 1);
    }
}

void sn_regions_remove(sn_regions *regions, uint64_t start, uint64_t end) {
    split(regions, start);
    split(regions, end);
    size_t first = sn_regions_lower(regions, start);
    size_t last = sn_regions_lower(regions, end);
    /* `last` is the first region above `end`; it starts at or above `end` because of the split. */
    if (last > first) {
        __atomic_store_n(&regions->losses, regions->losses + 1, __ATOMIC_RELEASE);
        close_gap(regions, first, last);
        uint64_t above = first < regions->count ? regions->items[first].start : UINT64_MAX;
        regions->full_from = above > regions->full_from ? above : regions->full_from;
    }
}

void sn_regions_insert(sn_regions *regions, const sn_region *region) {
    sn_regions_remove(regions, region->start, region->end);
    size_t index = sn_regions_lower(regions, region->start);
    open_gap(regions, index);
    regions->items[index] = *region;
    merge_around(regions, index);
}

void sn_regions_protect(sn_regions *regions, uint64_t start, uint64_t end, int protection) {
    split(regions, start);
    split(regions, end);
    size_t index = sn_regions_lower(regions, start);
    regions->items[index].protection = protection;
    if (!(protection & PROT_READ)) __atomic_store_n(&regions->losses, regions->losses + 1, __ATOMIC_RELEASE);
    merge_around(regions, index);
}
