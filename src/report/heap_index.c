/**
 * @fileoverview Blocks by address. See heap_index.h.
 */
#include "report/heap_index.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum {
    PAGES = 1 << (SN_HEAP_REGION_BITS - SN_HEAP_PAGE_BITS),
    LARGE_PAGES = 64, /* a block of more has only its first and last page in the tables */
    DIGIT_BITS = 11,
    DIGITS = 1 << DIGIT_BITS,
};

typedef struct entry {
    uint64_t address;
    uint32_t number;
} entry;

/* --------------------------------------------------------------------------- sorting */

static bool are_sorted(const entry *entries, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (entries[i - 1].address > entries[i].address)
            return false;
    return true;
}

/** By one digit, stable. Returns false, and does nothing, if all have the same. */
static bool sort_by_digit(const entry *from, entry *to, size_t count, unsigned shift) {
    size_t first[DIGITS + 1] = {0};
    for (size_t i = 0; i < count; i++)
        first[(from[i].address >> shift & (DIGITS - 1)) + 1]++;
    if (first[(from[0].address >> shift & (DIGITS - 1)) + 1] == count)
        return false;
    for (unsigned i = 1; i <= DIGITS; i++)
        first[i] += first[i - 1];
    for (size_t i = 0; i < count; i++)
        to[first[from[i].address >> shift & (DIGITS - 1)]++] = from[i];
    return true;
}

/** Digit by digit from the lowest: seven times faster than qsort() on two million. Returns the array that has the result. */
static entry *sort(entry *entries, entry *spare, size_t count) {
    if (are_sorted(entries, count))
        return entries;
    for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
        if (sort_by_digit(entries, spare, count, shift)) {
            entry *sorted = spare;
            spare = entries;
            entries = sorted;
        }
    }
    return entries;
}

/* ---------------------------------------------------------------------------- tables */

static uint32_t *table_of(sn_heap_index *index, uint64_t address) {
    uint64_t *table = sn_hash_insert(&index->regions, address >> SN_HEAP_REGION_BITS, NULL);
    if (*table == 0)
        *table = (uint64_t)(uintptr_t)sn_pages_allocate(PAGES * sizeof(uint32_t));
    return (uint32_t *)(uintptr_t)*table;
}

static void set_page(sn_heap_index *index, uint64_t address, size_t place) {
    uint32_t *entry = &table_of(index, address)[address >> SN_HEAP_PAGE_BITS & (PAGES - 1)];
    if (*entry == 0)
        *entry = (uint32_t)place + 1;
}

static void fill_tables(sn_heap_index *index) {
    if (index->count > 0) {
        index->first = index->starts[0];
        index->span = index->starts[index->count - 1] + index->sizes[index->count - 1] - index->first;
    }
    for (size_t i = 0; i < index->count; i++) {
        uint64_t first = index->starts[i] >> SN_HEAP_PAGE_BITS, last = (index->starts[i] + index->sizes[i] - 1) >> SN_HEAP_PAGE_BITS;
        bool is_large = last - first >= LARGE_PAGES;
        if (is_large)
            *sn_vector_add(&index->large) = (uint32_t)i;
        for (uint64_t page = first; page <= last; page = is_large && page < last ? last : page + 1)
            set_page(index, page << SN_HEAP_PAGE_BITS, i);
        if (sn_hash_count(&index->regions) > SN_HEAP_MOST_REGIONS)
            return; /* no heap is so scattered: such a file is searched by halves */
    }
    index->has_tables = true;
}

/* --------------------------------------------------------------------------- making */

static bool fill_arrays(sn_heap_index *index, const sn_heap_file *file, const entry *entries, char *explanation) {
    for (size_t i = 0; i < index->count; i++) {
        uint64_t size = file->blocks.items[entries[i].number].requested;
        index->starts[i] = entries[i].address;
        index->sizes[i] = size > 0 ? size : 1;
        index->numbers[i] = entries[i].number;
        if (i > 0 && index->starts[i] - index->starts[i - 1] < index->sizes[i - 1]) {
            snprintf(explanation, SN_HEAP_EXPLANATION_SIZE, "the blocks at 0x%" PRIx64 " and 0x%" PRIx64 " overlap",
                     index->starts[i - 1], index->starts[i]);
            return false;
        }
    }
    return true;
}

bool sn_heap_index_make(sn_heap_index *index, const sn_heap_file *file, char *explanation) {
    size_t count = file->blocks.count, bytes = (count + 1) * sizeof(entry);
    memset(index, 0, sizeof *index);
    index->count = count;
    index->starts = sn_pages_allocate((count + 1) * sizeof *index->starts);
    index->sizes = sn_pages_allocate((count + 1) * sizeof *index->sizes);
    index->numbers = sn_pages_allocate((count + 1) * sizeof *index->numbers);
    entry *entries = sn_pages_allocate(bytes), *spare = sn_pages_allocate(bytes);
    bool is_good = true;
    for (size_t i = 0; i < count; i++) {
        entries[i] = (entry){file->blocks.items[i].address, (uint32_t)i};
        if (entries[i].address == 0 && is_good) {
            snprintf(explanation, SN_HEAP_EXPLANATION_SIZE, "a block has no address: only dumps of --mode=scan have them all");
            is_good = false;
        }
    }
    is_good = is_good && fill_arrays(index, file, sort(entries, spare, count), explanation);
    sn_pages_release(entries, bytes);
    sn_pages_release(spare, bytes);
    if (is_good)
        fill_tables(index);
    else
        sn_heap_index_release(index);
    return is_good;
}

void sn_heap_index_release(sn_heap_index *index) {
    sn_hash_entry entry;
    for (size_t position = 0; sn_hash_next(&index->regions, &position, &entry);)
        if (entry.value != 0)
            sn_pages_release((void *)(uintptr_t)entry.value, PAGES * sizeof(uint32_t));
    sn_hash_release(&index->regions);
    sn_vector_release(&index->large);
    sn_pages_release(index->starts, (index->count + 1) * sizeof *index->starts);
    sn_pages_release(index->sizes, (index->count + 1) * sizeof *index->sizes);
    sn_pages_release(index->numbers, (index->count + 1) * sizeof *index->numbers);
    memset(index, 0, sizeof *index);
}

/* -------------------------------------------------------------------------- look-up */

/** The place of the last block from `low` on that does not start behind the address; `low` if there is none. */
static size_t search(const uint64_t *starts, size_t low, size_t high, uint64_t address) {
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (starts[middle] <= address)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/** Forward from a block that is near. */
static size_t search_near(const sn_heap_index *index, size_t place, uint64_t address) {
    size_t step = 1;
    while (place + step < index->count && index->starts[place + step] <= address) {
        place += step;
        step *= 2;
    }
    return search(index->starts, place, place + step < index->count ? place + step : index->count, address);
}

/** Among the large blocks. */
static size_t search_large(const sn_heap_index *index, uint64_t address) {
    size_t low = 0, high = index->large.count;
    if (high == 0)
        return 0;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (index->starts[index->large.items[middle]] <= address)
            low = middle;
        else
            high = middle;
    }
    return index->large.items[low];
}

/** What the tables say of an address's page: 1 + a place, or 0. */
static uint32_t table_entry(sn_heap_index *index, uint64_t address) {
    uint64_t region = address >> SN_HEAP_REGION_BITS;
    if (region != index->last_region || index->last_table == NULL) {
        index->last_region = region;
        index->last_table = (const uint32_t *)(uintptr_t)sn_hash_get(&index->regions, region, 0);
    }
    return index->last_table == NULL ? 0 : index->last_table[address >> SN_HEAP_PAGE_BITS & (PAGES - 1)];
}

uint32_t sn_heap_index_find(sn_heap_index *index, uint64_t address, uint64_t *start) {
    size_t place;
    if (address - index->first >= index->span) /* most words are no addresses of the heap */
        return SN_HEAP_NONE;
    if (index->has_tables) {
        uint32_t entry = table_entry(index, address);
        place = entry == 0 ? search_large(index, address) : search_near(index, entry - 1, address);
    } else {
        place = search(index->starts, 0, index->count, address);
    }
    if (address - index->starts[place] >= index->sizes[place])
        return SN_HEAP_NONE;
    if (start != NULL)
        *start = index->starts[place];
    return index->numbers[place];
}
