/**
 * @fileoverview The filter in front of the trace. See filter.h.
 *
 * A reference that spans two lines must never pass for one of the first: so the entry looked at is that of the set where
 * its last byte is, which cannot hold its first line unless both are in one line. (With a single set it can: there the
 * last line is compared too.)
 */
#include "filter.h"

#include <stdlib.h>
#include <string.h>

enum { ENTRY_SHIFT = 3 }; /**< an entry is 8 bytes */

static unsigned line_shift(const cache_geometry *geometry) {
    return (unsigned)__builtin_ctzll(geometry->line);
}

uint64_t *cache_filter_new(const cache_geometry *geometry) {
    size_t size = cache_geometry_sets(geometry) << ENTRY_SHIFT;
    uint64_t *filter = malloc(size);
    if (filter == NULL) {
        sn_fail(125, "cache: out of memory");
    }
    memset(filter, 0xff, size);
    return filter;
}

int32_t cache_filter_place(const cache_geometry *geometry, uint64_t line) {
    return (int32_t)((line & (cache_geometry_sets(geometry) - 1)) << ENTRY_SHIFT);
}

void cache_filter_use(uint64_t *filter, const cache_geometry *geometry, uint64_t address, uint32_t size) {
    unsigned shift = line_shift(geometry);
    for (uint64_t line = address >> shift; line <= (address + size - 1) >> shift; line++) {
        filter[line & (cache_geometry_sets(geometry) - 1)] = line;
    }
}

/* ---------------------------------------------------------------------- inserted code */

static sn_value shifted(sn_block *block, sn_value value, unsigned shift) {
    return sn_compute(block, SN_SHIFT_RIGHT, value, sn_constant(block, shift));
}

static sn_value sum_of(sn_block *block, sn_value value, uint64_t addend) {
    return addend == 0 ? value : sn_compute(block, SN_ADD, value, sn_constant(block, addend));
}

/** Address of the entry of the set where the byte at `address` is. */
static sn_value entry_of(sn_block *block, sn_value base, const cache_geometry *geometry, sn_value address) {
    uint64_t mask = (cache_geometry_sets(geometry) - 1) << ENTRY_SHIFT;
    sn_value place = shifted(block, address, line_shift(geometry) - ENTRY_SHIFT);
    return sn_compute(block, SN_ADD, sn_compute(block, SN_AND, place, sn_constant(block, mask)), base);
}

/** Note the line of the byte at `address`. */
static void insert_use(sn_block *block, sn_slot filter, const cache_geometry *geometry, sn_value address) {
    sn_value entry = entry_of(block, sn_slot_load(block, filter), geometry, address);
    sn_store(block, entry, 0, shifted(block, address, line_shift(geometry)), 8);
}

/** All but the address is computed anew where it is not known: what is kept in registers must be saved each time. */
sn_label cache_filter_insert(sn_block *block, sn_slot filter, const cache_geometry *geometry, sn_value address,
                             uint32_t size) {
    sn_label is_known = sn_label_new(block), is_new = sn_label_new(block);
    if (size <= geometry->line) {
        sn_value entry =
            entry_of(block, sn_slot_load(block, filter), geometry, sum_of(block, address, size - 1));
        sn_value seen = sn_load(block, entry, 0, 8);
        sn_value first = shifted(block, address, line_shift(geometry));
        if (cache_geometry_sets(geometry) == 1) {
            sn_value last = shifted(block, sum_of(block, address, size - 1), line_shift(geometry));
            sn_branch_if(block, SN_NOT_EQUAL, first, last, is_new);
        }
        sn_branch_if(block, SN_EQUAL, seen, first, is_known);
    }
    sn_label_here(block, is_new);
    /* A larger one never is within one line. All lines that it covers are noted. */
    for (uint64_t offset = 0; offset + 1 < size; offset += geometry->line) {
        insert_use(block, filter, geometry, sum_of(block, address, offset));
    }
    insert_use(block, filter, geometry, sum_of(block, address, size - 1));
    return is_known;
}

sn_label cache_filter_insert_lines(sn_block *block, sn_slot filter, const cache_geometry *geometry, uint64_t first,
                                   uint64_t last, bool is_first_known) {
    sn_label is_known = sn_label_new(block), is_new = sn_label_new(block);
    int32_t first_place = cache_filter_place(geometry, first), last_place = cache_filter_place(geometry, last);
    sn_value base = sn_slot_load(block, filter);
    sn_value first_line = sn_constant(block, first), last_line = sn_constant(block, last);
    if (first != last && !is_first_known) {
        sn_branch_if(block, SN_NOT_EQUAL, sn_load(block, base, first_place, 8), first_line, is_new);
    }
    sn_branch_if(block, SN_EQUAL, sn_load(block, base, last_place, 8), last_line, is_known);
    sn_label_here(block, is_new);
    sn_store(block, base, first_place, first_line, 8);
    sn_store(block, base, last_place, last_line, 8);
    return is_known;
}
