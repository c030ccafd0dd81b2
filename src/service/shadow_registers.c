/**
 * @fileoverview Shadows of registers besides what instructions do to them: switched on, kept through signal handlers in the shadow
 * of the frame that a handler returns to, and cleaned where the kernel writes. See <sonde/shadow.h>.
 */
#include "base/log.h"
#include "guest/events.h"
#include "service/shadow_plan.h"

typedef struct own_register {
    uint8_t *shadow;
    unsigned dirty;
} own_register;

static own_register own_of(sn_thread *thread, const sn_frame_register *row) {
    uint8_t *shadow = thread->shadow + row->offset;
    switch (row->place) {
    case SN_PLACE_GENERAL: return (own_register){shadow + SN_SHADOW_GENERAL + 8 * row->reg, row->reg};
    case SN_PLACE_VECTOR: return (own_register){shadow + SN_SHADOW_VECTOR + 64 * row->reg, SN_DIRTY_VECTOR + row->reg};
    case SN_PLACE_MASK: return (own_register){shadow + SN_SHADOW_MASK + 8 * row->reg, SN_DIRTY_MASK + row->reg};
    case SN_PLACE_X87: return (own_register){shadow + SN_SHADOW_X87 + 16 * row->reg, SN_DIRTY_X87};
    default: return (own_register){shadow + SN_SHADOW_FLAGS, SN_DIRTY_FLAGS};
    }
}

static void copy(uint8_t *to, const uint8_t *from, unsigned size) {
    for (unsigned i = 0; i < size; i++) to[i] = from[i];
}

/** The bytes of the frame that hold the flags say, each, what any of them does; and so do the flags when they come back. */
static void all_alike(uint8_t *to, unsigned to_size, const uint8_t *from, unsigned from_size) {
    uint8_t any = 0;
    for (unsigned i = 0; i < from_size; i++) any |= from[i];
    for (unsigned i = 0; i < to_size; i++) to[i] = any;
}

enum { FLAGS = 6, FLAG_BYTES = 2 };

static void save(sn_thread *thread, const sn_frame_register *row) {
    own_register own = own_of(thread, row);
    if (!sn_shadow_covers(row->address, row->size)) return;
    uint8_t *frame = sn_shadow_at(sn_shadow_ruling->memory, row->address);
    sn_shadow_fill_origin(row->address, row->size, sn_shadow_dirty_origin(thread, own.dirty));
    if (row->place == SN_PLACE_FLAGS) all_alike(frame, FLAG_BYTES, own.shadow, FLAGS);
    else copy(frame, own.shadow, row->size);
}

static void restore(sn_thread *thread, const sn_frame_register *row) {
    own_register own = own_of(thread, row);
    if (!sn_shadow_covers(row->address, row->size)) return;
    const uint8_t *frame = sn_shadow_at(sn_shadow_ruling->memory, row->address);
    if (row->place == SN_PLACE_FLAGS) all_alike(own.shadow, FLAGS, frame, FLAG_BYTES);
    else copy(own.shadow, frame, row->size);
    uint32_t origin = sn_shadow_memory_origin(row->address, row->size);
    if (origin) sn_shadow_set_origin(thread, own.dirty, origin);
    sn_shadow_note(thread, own.dirty);
}

/** A handler begins: of the registers it finds those that the kernel sets, which are clean, and others as they were.
    Async-signal-safe. */
static void built(sn_thread *thread, const sn_frame_layout *layout) {
    const uint64_t *dirty = (const uint64_t *)(thread->shadow + SN_SHADOW_DIRTY);
    if (sn_shadow_covers(layout->start, layout->end - layout->start))
        sn_shadow_fill(sn_shadow_ruling->memory, layout->start, layout->end - layout->start, 0);
    for (unsigned i = 0; i < layout->count && *dirty; i++) save(thread, &layout->rows[i]);
    sn_shadow_clean(thread, layout->set_general | ~(uint64_t)0 << SN_DIRTY_MASK);
}

static void returned(sn_thread *thread, const sn_frame_layout *layout) {
    for (unsigned i = 0; i < layout->count; i++) restore(thread, &layout->rows[i]);
    if (sn_shadow_ruling->left_frame && sn_shadow_covers(layout->start, layout->end - layout->start))
        sn_shadow_fill(sn_shadow_ruling->memory, layout->start, layout->end - layout->start, sn_shadow_ruling->left_frame);
}

/** An instruction has faulted: it is run again in a full variant, then it faults. */
static bool faulted(sn_thread *thread) {
    uint64_t *dirty = (uint64_t *)(thread->shadow + SN_SHADOW_DIRTY), asked = UINT64_C(1) << SN_DIRTY_ASKED;
    bool again = sn_shadow_ruling->clean && !(*dirty & asked);
    *dirty = again ? *dirty | asked : *dirty & ~asked;
    return again;
}

/* ------------------------------------------------------------------------------------------------------- kernel */

void sn_shadow_system_call(const sn_system_call *call) {
    for (size_t i = 0; i < call->range_count; i++) {
        const sn_system_range *range = &call->ranges[i];
        if (range->role == SN_ROLE_WRITTEN && range->size && sn_shadow_covers(range->start, range->size))
            sn_shadow_fill(sn_shadow_ruling->memory, range->start, range->size, 0);
    }
}

void sn_shadow_follow(const sn_shadow_rules *rules) {
    if (!rules->memory || rules->memory->bits != 8 || (rules->origins && rules->origins->bits != 8))
        sn_fail(SN_STATUS_ENGINE, "data is followed with shadows of 8 bits a byte");
    sn_shadow_ruling = rules;
    sn_frames_listening = (sn_frame_listener){built, returned, faulted};
}
