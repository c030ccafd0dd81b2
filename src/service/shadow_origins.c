/**
 * @fileoverview Where shadowed data came from: a number that the tool gives, kept beside shadows that are not clean. See
 * <sonde/shadow.h>, sn_shadow_rules.origins.
 *
 * Four bytes of memory at a multiple of four, or a register, have one number; it means nothing where the shadow is clean, and nobody
 * writes it there: code whose data is clean costs nothing more. Compiled for general registers only; runs in the code cache.
 */
#include "service/shadow_plan.h"

enum { GRANULE = 4 };

/** The word that holds the origin of the granule in which an address lies. */
static uint32_t *word_at(uint64_t address) { return sn_shadow_at(sn_shadow_ruling->origins, address & ~(uint64_t)(GRANULE - 1)); }

SN_FAST void sn_shadow_fill_origin(uint64_t start, uint64_t size, uint32_t origin) {
    if (!sn_shadow_ruling->origins || !size) return;
    volatile uint32_t *at = word_at(start), *last = word_at(start + size - 1);
    uint64_t both = (uint64_t)origin << 32 | origin;
    for (; at < last && (uintptr_t)at % 8; at++) *at = origin;
    for (; at + 1 <= last; at += 2) *(volatile uint64_t *)at = both;
    if (at <= last) *at = origin;
}

/** Of a byte that is not clean. */
static SN_FAST uint32_t origin_at(uint64_t address) {
    uint32_t origin = *word_at(address);
    return origin || !sn_shadow_ruling->unknown_origin ? origin : sn_shadow_ruling->unknown_origin(address);
}

/** The origin of the first byte that is not clean. */
SN_FAST uint32_t sn_shadow_memory_origin(uint64_t start, uint64_t size) {
    if (!sn_shadow_ruling->origins || !sn_shadow_covers(start, size)) return 0;
    uint64_t where = sn_shadow_find_other(sn_shadow_ruling->memory, start, start + size, 0);
    return where < start + size ? origin_at(where) : 0;
}

static uint32_t *of_register(const sn_thread *thread, unsigned dirty) { return (uint32_t *)(thread->shadow + SN_SHADOW_ORIGINS) + dirty; }

uint32_t sn_shadow_dirty_origin(const sn_thread *thread, unsigned dirty) {
    bool is_dirty = *(const uint64_t *)(thread->shadow + SN_SHADOW_DIRTY) >> dirty & 1;
    return sn_shadow_ruling->origins && is_dirty ? *of_register(thread, dirty) : 0;
}

SN_FAST uint32_t sn_shadow_register_origin(const sn_thread *thread, uint8_t general) { return sn_shadow_dirty_origin(thread, general); }
SN_FAST uint32_t sn_shadow_flags_origin(const sn_thread *thread) { return sn_shadow_dirty_origin(thread, SN_DIRTY_FLAGS); }

void sn_shadow_set_origin(sn_thread *thread, unsigned dirty, uint32_t origin) {
    if (sn_shadow_ruling->origins) *of_register(thread, dirty) = origin;
}

void sn_shadow_copy_origins(uint64_t to, uint64_t from, uint64_t size) {
    uint64_t first = to & ~(uint64_t)(GRANULE - 1), count = (to + size - first + GRANULE - 1) / GRANULE;
    bool down = to - from < size;
    for (uint64_t i = 0; i < count && size; i++) {
        uint64_t granule = first + GRANULE * (down ? count - 1 - i : i), at = granule < to ? to : granule;
        volatile uint32_t *place = word_at(granule);
        uint64_t source = from + (at - to);
        uint32_t origin = *word_at(source);
        if (!origin && *(const uint32_t *)sn_shadow_at(sn_shadow_ruling->memory, source & ~(uint64_t)(GRANULE - 1))) origin = origin_at(source);
        if (*place != origin) *place = origin;
    }
}

/* ------------------------------------------------------------------------------------------------------- plans */

static uint64_t piece_address(const sn_plan_view *view, const sn_plan_piece *piece) { return view->addresses[piece->operand] + piece->offset; }

static bool any_byte(const uint8_t *bytes, unsigned size) {
    uint8_t any = 0;
    for (unsigned i = 0; i < size; i++) any |= bytes[i];
    return any;
}

static uint32_t origin_of(const sn_plan_view *view, const sn_plan_piece *piece) {
    switch (piece->place) {
    case SN_PLAN_REGISTER: return any_byte(view->thread->shadow + piece->offset, piece->size) ? sn_shadow_dirty_origin(view->thread, piece->dirty) : 0;
    case SN_PLAN_FLAGS: return sn_shadow_dirty_origin(view->thread, SN_DIRTY_FLAGS);
    case SN_PLAN_MEMORY: return sn_shadow_memory_origin(piece_address(view, piece), piece->size);
    default: return 0;
    }
}

uint32_t sn_shadow_plan_origin(const sn_plan_view *view, const sn_plan_flow *flow) {
    uint32_t origin = 0;
    for (unsigned i = 0; i < flow->source_count && !origin; i++) origin = origin_of(view, &flow->sources[i]);
    if (flow->guard && !origin) origin = origin_of(view, &flow->condition);
    if (flow->guard && !origin) origin = origin_of(view, &flow->otherwise);
    return origin;
}

void sn_shadow_put_origin(const sn_plan_view *view, const sn_plan_piece *piece, const uint8_t *bytes, uint32_t origin) {
    uint64_t start;
    switch (piece->place) {
    case SN_PLAN_REGISTER:
    case SN_PLAN_FLAGS:
        if (any_byte(bytes, piece->place == SN_PLAN_FLAGS ? 8 : piece->size)) sn_shadow_set_origin(view->thread, piece->dirty, origin);
        return;
    case SN_PLAN_MEMORY:
        start = piece_address(view, piece);
        if (!sn_shadow_covers(start, piece->size)) return;
        for (unsigned i = 0; i < piece->size; i++)
            if (bytes[i]) *(volatile uint32_t *)word_at(start + i) = origin;
        return;
    default: return;
    }
}
