/**
 * @fileoverview Which bytes the program may access, one bit each: shadow memory in which 1 is addressable. See addressability.h.
 */
#include "addressability.h"

#include <sys/mman.h>

#include <sonde/shadow.h>

#include "blocks.h"
#include "definedness.h"
#include "memcheck.h"

const sn_shadow_memory *mc_shadow;

void mc_addressability_init(void) {
    mc_shadow = sn_shadow_memory_new(1);
    sn_shadow_share(mc_shadow, 1);
}

static bool is_covered(uint64_t start, uint64_t size) { return size != 0 && sn_shadow_covers(start, size); }

void mc_make_addressable(uint64_t start, uint64_t size) {
    if (is_covered(start, size)) {
        sn_shadow_fill(mc_shadow, start, size, 1);
    }
}

void mc_forbid_access(uint64_t start, uint64_t size) {
    if (is_covered(start, size)) {
        sn_shadow_fill(mc_shadow, start, size, 0);
    }
}

void mc_make_unaddressable(uint64_t start, uint64_t size) {
    mc_forbid_access(start, size);
    mc_make_forbidden(start, size);
}

bool mc_find_unaddressable(uint64_t start, uint64_t size, uint64_t *where) {
    if (!is_covered(start, size)) {
        *where = start;
        return size != 0;
    }
    *where = sn_shadow_find_other(mc_shadow, start, start + size, 1);
    return *where != start + size;
}

/* ---------------------------------------------------------------------------------------------------- mappings */

void mc_memory_mapped(const sn_memory_range *range) {
    if (range->protection != PROT_NONE) {
        mc_make_addressable(range->start, range->end - range->start);
    }
}

void mc_memory_protected(uint64_t start, uint64_t end, int protection) {
    while (start < end) { /* of the heap's own memory, blocks say what is addressable */
        uint64_t next = mc_heap_stretch(start, end);
        if (!mc_is_heap(start) && protection != PROT_NONE) {
            mc_make_addressable(start, next - start);
        } else if (!mc_is_heap(start)) {
            mc_forbid_access(start, next - start);
        }
        start = next;
    }
}
