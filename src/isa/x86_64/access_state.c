/**
 * @fileoverview The accesses of instructions that save and load processor state (Intel SDM volume 1, chapter 13), and of
 * tile loads and stores. Owns the layout of saved images, which the processor is asked for once.
 */
#include <cpuid.h>
#include <string.h>

#include "accessing.h"
#include "tables.h"

/* ----------------------------------------------------------------------------- layout */

enum {
    STATE_LEAF = 13,
    COMPONENTS = 63,
    FIRST_EXTENDED = 2,
    HEADER = 512,
    HEADER_SIZE = 64,
    EXTENDED = HEADER + HEADER_SIZE,
    PIECE = 8,
};

static sn_state_component components[COMPONENTS];
static bool components_known;

/** Threads that ask at the same time write the same. Asking is slow in virtual machines: only for what there is. */
static void find_components(void) {
    unsigned size, offset, flags, unused, low, high;
    __cpuid_count(STATE_LEAF, 0, low, size, unused, high);
    uint64_t known = (uint64_t)high << 32 | low;
    for (unsigned i = FIRST_EXTENDED; i < COMPONENTS; i++) {
        if (!(known >> i & 1)) continue;
        __cpuid_count(STATE_LEAF, i, size, offset, flags, unused);
        components[i] = (sn_state_component){.size = size, .offset = offset, .aligned = flags & 2};
    }
    __atomic_store_n(&components_known, true, __ATOMIC_RELEASE);
}

const sn_state_component *sn_state_component_of(unsigned number) {
    if (!__atomic_load_n(&components_known, __ATOMIC_ACQUIRE)) find_components();
    return &components[number];
}

uint32_t sn_state_compacted_offset(uint64_t present, unsigned number) {
    uint32_t offset = EXTENDED;
    for (unsigned i = FIRST_EXTENDED; i <= number; i++) {
        if (!(present >> i & 1)) continue;
        const sn_state_component *component = sn_state_component_of(i);
        if (component->aligned) offset = (offset + 63) & ~UINT32_C(63);
        if (i < number) offset += component->size;
    }
    return offset;
}

/* ---------------------------------------------------------------------- saved images */

void sn_access_state_save(sn_accessing *a) { (void)a; }
void sn_access_state_save_compacted(sn_accessing *a) { (void)a; }
void sn_access_state_save_changed(sn_accessing *a) { (void)a; }
void sn_access_state_load(sn_accessing *a) { (void)a; }
void sn_access_tile_load(sn_accessing *a) { (void)a; }
void sn_access_tile_store(sn_accessing *a) { (void)a; }
