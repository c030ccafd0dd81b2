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

enum { FLOATING, VECTOR_LOW, VECTOR_MIDDLE };
#define BIT(n) (UINT64_C(1) << (n))
#define COMPACTED BIT(63)

/** Parts of the legacy area. */
enum {
    CONTROL_END = 24,            /**< control and status of the floating-point unit, from 0 on */
    VECTOR_CONTROL = 24,         /**< control and status of vector instructions, and the mask of its bits */
    VECTOR_CONTROL_END = 28,
    VECTOR_CONTROL_MASK_END = 32,
    FLOATING_REGISTERS = 32,
    VECTOR_REGISTERS = 160,
    VECTOR_REGISTERS_END = 416,
    HEADER_PRESENT_END = HEADER + 8,
    HEADER_FORMAT_END = HEADER + 16,
    HEADER_STANDARD_END = HEADER + 24, /**< what a load in the standard format checks */
};

/** The area of one instruction. An address that is no multiple of 64 faults. */
typedef struct sn_area {
    sn_accessing *a;
    uint64_t address;
    uint64_t wanted; /**< components that the instruction is asked for and the system has switched on */
    bool aligned;
} sn_area;

static sn_area area_of(sn_accessing *a) {
    enum { ALIGNMENT = 64 };
    sn_address address = sn_accessing_address(a, 1);
    uint64_t at = sn_address_plain(&address), asked = a->state->general[RDX] << 32 | (uint32_t)a->state->general[RAX];
    return (sn_area){.a = a, .address = at, .wanted = asked & a->state->enabled_state, .aligned = at % ALIGNMENT == 0};
}

static void access_range(const sn_area *area, uint32_t from, uint32_t to, uint8_t role) {
    for (uint32_t at = from; at < to && !sn_accessing_is_full(area->a); at += PIECE)
        sn_accessing_add(area->a, area->address + at, to - at < PIECE ? to - at : PIECE, role, 0);
}

/** The legacy area up to its end, of which `moved` components are copied. */
static void access_legacy(const sn_area *area, uint64_t moved, bool vector_control, uint8_t role) {
    if (moved & BIT(FLOATING)) access_range(area, 0, CONTROL_END, role);
    if (vector_control)
        access_range(area, VECTOR_CONTROL, role == SN_ROLE_READ ? VECTOR_CONTROL_END : VECTOR_CONTROL_MASK_END, role);
    if (moved & BIT(FLOATING)) access_range(area, FLOATING_REGISTERS, VECTOR_REGISTERS, role);
    if (moved & BIT(VECTOR_LOW)) access_range(area, VECTOR_REGISTERS, VECTOR_REGISTERS_END, role);
}

/** `format`: the components that a compacted image has room for; 0 in the standard format. */
static void access_extended(const sn_area *area, uint64_t moved, uint64_t format, uint8_t role) {
    for (unsigned i = FIRST_EXTENDED; i < COMPONENTS; i++) {
        if (!(moved >> i & 1)) continue;
        const sn_state_component *component = sn_state_component_of(i);
        uint32_t offset = format ? sn_state_compacted_offset(format, i) : component->offset;
        access_range(area, offset, offset + component->size, role);
    }
}

/** In the standard format: the header tells of components that are not asked for too, so it is read and written. */
static void save_standard(sn_accessing *a, uint64_t left_out) {
    sn_area area = area_of(a);
    if (!area.aligned) return;
    access_range(&area, HEADER, HEADER_PRESENT_END, SN_ROLE_READ);
    access_legacy(&area, area.wanted & ~left_out, area.wanted & (BIT(VECTOR_LOW) | BIT(VECTOR_MIDDLE)), SN_ROLE_WRITTEN);
    access_range(&area, HEADER, HEADER_PRESENT_END, SN_ROLE_WRITTEN);
    access_extended(&area, area.wanted & ~left_out, 0, SN_ROLE_WRITTEN);
}

void sn_access_state_save(sn_accessing *a) { save_standard(a, 0); }

/** What has not changed since the same image was loaded may be left out too; but between the two the engine has loaded
    an image of its own, so that the processor does not know. */
void sn_access_state_save_changed(sn_accessing *a) { save_standard(a, ~a->state->in_use); }

void sn_access_state_save_compacted(sn_accessing *a) {
    sn_area area = area_of(a);
    if (!area.aligned) return;
    uint64_t moved = area.wanted & a->state->in_use;
    access_legacy(&area, moved, moved & BIT(VECTOR_LOW), SN_ROLE_WRITTEN);
    access_range(&area, HEADER, HEADER_FORMAT_END, SN_ROLE_WRITTEN);
    access_extended(&area, moved, area.wanted | COMPACTED, SN_ROLE_WRITTEN);
}

void sn_access_state_load(sn_accessing *a) {
    sn_area area = area_of(a);
    uint64_t header[2]; /* components present, format */
    uint8_t bytes[sizeof header];
    if (!area.aligned || !a->state->copy(bytes, (const void *)(area.address + HEADER), sizeof bytes)) return;
    memcpy(header, bytes, sizeof header);
    uint64_t moved = area.wanted & header[0], format = header[1];
    access_range(&area, HEADER, format ? EXTENDED : HEADER_STANDARD_END, SN_ROLE_READ);
    bool vector_control = format ? moved & BIT(VECTOR_LOW) : area.wanted & (BIT(VECTOR_LOW) | BIT(VECTOR_MIDDLE));
    access_legacy(&area, moved, vector_control, SN_ROLE_READ);
    access_extended(&area, moved, format, SN_ROLE_READ);
}

/* ----------------------------------------------------------------------------- tiles */

/** In a tile configuration. */
enum { START_ROW = 1, ROW_SIZES = 16, ROW_COUNTS = 48 };

/** A row of a tile is an element here. Rows before the start row were moved before a fault. */
static void access_rows(sn_accessing *a, uint8_t role, uint8_t operand) {
    const uint8_t *tiles = a->state->tiles;
    unsigned tile = a->encoded.reg;
    uint16_t size;
    if (!tiles) return;
    memcpy(&size, tiles + ROW_SIZES + tile * sizeof size, sizeof size);
    sn_address address = sn_accessing_address(a, 1);
    for (unsigned i = tiles[START_ROW]; i < tiles[ROW_COUNTS + tile]; i++)
        sn_accessing_add(a, sn_address_with(&address, address.index * i), size, role, operand);
}

void sn_access_tile_load(sn_accessing *a) { access_rows(a, SN_ROLE_READ, 1); }
void sn_access_tile_store(sn_accessing *a) { access_rows(a, SN_ROLE_WRITTEN, 0); }
