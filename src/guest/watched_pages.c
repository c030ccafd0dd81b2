/**
 * @fileoverview The set of watched pages: see watched_pages.h.
 */
#include "guest/watched_pages.h"

#include <string.h>

#include "guest/host_memory.h"
#include "jit/layout.h"

size_t sn_watched_lower(const sn_watched_pages *set, uint64_t page) {
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (set->pages[middle] >= page) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

bool sn_watched_contains(const sn_watched_pages *set, uint64_t page) {
    size_t index = sn_watched_lower(set, page);
    return index < set->count && set->pages[index] == page;
}

static bool grow(sn_watched_pages *set) {
    size_t old_bytes = set->capacity * sizeof *set->pages;
    size_t bytes = old_bytes ? old_bytes * 2 : SN_PAGE_SIZE;
    uint64_t *pages = sn_host_reallocate(set->pages, old_bytes, bytes);
    if (!pages) {
        return false;
    }
    set->pages = pages;
    set->capacity = bytes / sizeof *pages;
    return true;
}

bool sn_watched_add(sn_watched_pages *set, uint64_t page) {
    size_t index = sn_watched_lower(set, page);
    if (index < set->count && set->pages[index] == page) {
        return true;
    }
    if (set->count == set->capacity && !grow(set)) {
        return false;
    }
    memmove(&set->pages[index + 1], &set->pages[index], (set->count - index) * sizeof *set->pages);
    set->pages[index] = page;
    set->count++;
    return true;
}

size_t sn_watched_remove(sn_watched_pages *set, uint64_t start, uint64_t end) {
    size_t first = sn_watched_lower(set, start);
    size_t last = sn_watched_lower(set, end);
    if (last > first) {
        memmove(&set->pages[first], &set->pages[last], (set->count - last) * sizeof *set->pages);
        set->count -= last - first;
    }
    return last - first;
}

void sn_watched_clear(sn_watched_pages *set) {
    sn_host_free(set->pages, set->capacity * sizeof *set->pages);
    *set = (sn_watched_pages){0};
}
