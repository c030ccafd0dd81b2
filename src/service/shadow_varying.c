/**
 * @fileoverview See shadow_varying.h. Runs in the engine, once an instruction (with what it accesses).
 */
#include "service/shadow_varying.h"

#include <string.h>

#include "sonde/arena.h"
#include "jit/insert.h"
#include "service/shadow_plan.h"

/** A register, or a part of it, that is loaded or stored. */
typedef struct part {
    uint16_t offset, size; /**< in sn_thread.shadow; size 0: there is none */
    uint8_t dirty;
    bool by_bytes;         /**< byte N of it is byte N of the operand */
    uint8_t lane;          /**< lane N of it, of so many bytes, depends on lane N of the operand; 0: all on all */
    uint8_t bit_lane;      /**< bit N of it depends on lane N of the operand, of so many bytes */
} part;

static bool has_place(const part *p) { return p->by_bytes || p->lane || p->bit_lane; }

typedef struct varying {
    bool is_repeated, is_state;
    bool sets_flags;
    part loaded, stored;
    sn_operand memory;     /**< where `by_bytes` */
} varying;

static sn_arena all;

/* ------------------------------------------------------------------------------------------------- what it is about */

bool sn_shadow_saves_state(sn_block *block, unsigned index) {
    unsigned count;
    const sn_operand *operands = sn_block_operands(block, index, &count);
    for (unsigned i = 0; i < count; i++)
        if (operands[i].place == SN_PLACE_MEMORY && (!operands[i].size || operands[i].size > 64)) return true;
    return false;
}

static part part_of(const sn_operand *operand, const sn_flow_piece *piece) {
    unsigned size = piece->size ? piece->size : operand->size;
    switch (operand->place) {
    case SN_PLACE_GENERAL:
        return (part){.offset = (uint16_t)(SN_SHADOW_GENERAL + 8 * operand->reg + piece->offset), .size = (uint16_t)(size < 8 ? size : 8), .dirty = operand->reg};
    case SN_PLACE_VECTOR:
        return (part){.offset = (uint16_t)(SN_SHADOW_VECTOR + 64 * operand->reg + piece->offset), .size = (uint16_t)(size < 64 ? size : 64), .dirty = (uint8_t)(SN_DIRTY_VECTOR + operand->reg)};
    case SN_PLACE_MASK: return (part){.offset = (uint16_t)(SN_SHADOW_MASK + 8 * operand->reg), .size = 8, .dirty = (uint8_t)(SN_DIRTY_MASK + operand->reg)};
    default: return (part){0};
    }
}

static bool is_memory(const sn_operand *operands, const sn_flow_piece *piece) {
    return piece->operand != SN_FLOW_NO_OPERAND && operands[piece->operand].place == SN_PLACE_MEMORY;
}

static bool is_copy(const sn_flow *flow) {
    return (flow->kind == SN_FLOW_COPY || flow->kind == SN_FLOW_ZERO_EXTEND) && !flow->destination.offset && !flow->sources[0].offset;
}

static bool is_gathered(const sn_operand *memory) { return memory->index == SN_NO_REGISTER ? false : memory->scale == 0; }

static void note_flow(varying *made, const sn_operand *operands, const sn_flow *flow) {
    const sn_operand *to = &operands[flow->destination.operand];
    for (unsigned i = 0; i < flow->source_count; i++) {
        const sn_flow_piece *from = &flow->sources[i];
        if (is_memory(operands, from) && to->place == SN_PLACE_FLAGS) {
            made->sets_flags = true;
        } else if (is_memory(operands, from) && !made->loaded.size) {
            made->loaded = part_of(to, &flow->destination);
            bool in_order = !made->is_repeated && !is_gathered(&operands[from->operand]) && !from->every_lane && !from->offset;
            made->loaded.by_bytes = in_order && is_copy(flow);
            if (in_order && flow->kind == SN_FLOW_LANE_BITS) made->loaded.bit_lane = flow->source_lane_size;
            else if (in_order && flow->lane_size == flow->source_lane_size && flow->kind != SN_FLOW_PERMUTE) made->loaded.lane = flow->lane_size;
            if (has_place(&made->loaded)) made->memory = operands[from->operand];
        }
    }
    if (!is_memory(operands, &flow->destination) || !flow->source_count || is_memory(operands, &flow->sources[0])) return;
    if (flow->sources[0].operand == SN_FLOW_NO_OPERAND || made->stored.size) return;
    made->stored = part_of(&operands[flow->sources[0].operand], &flow->sources[0]);
    made->stored.by_bytes = is_copy(flow) && !is_gathered(to);
    if (made->stored.by_bytes) made->memory = *to;
}

/* ----------------------------------------------------------------------------------------------------- when it runs */

static uint64_t operand_address(sn_thread *thread, const sn_operand *memory) {
    sn_plan_view view = {.thread = thread, .in_engine = true};
    uint64_t address = (uint64_t)memory->displacement;
    if (memory->base != SN_NO_REGISTER) address += sn_shadow_general(&view, memory->base);
    if (memory->index != SN_NO_REGISTER) address += sn_shadow_general(&view, memory->index) * memory->scale;
    if (memory->segment) address += sn_shadow_segment_base(&view, memory->segment);
    return address;
}

/** All that a range of shadow says, in one byte. */
static uint8_t joined(const uint8_t *from, unsigned size) {
    uint8_t all_of = 0;
    for (unsigned i = 0; i < size; i++) all_of |= from[i];
    return sn_shadow_ruling->kind == SN_SHADOW_BITS && all_of ? 0xff : all_of;
}

enum { WIDEST = 64 };

static void ask_tool(sn_thread *thread, uint64_t address, uint8_t *shadow, unsigned size) {
    sn_plan_view view = {.thread = thread, .in_engine = true};
    if (sn_shadow_ruling->loaded && size && joined(shadow, size))
        sn_shadow_ruling->loaded(thread, address, shadow, size, sn_shadow_general(&view, sn_shadow_stack_register()));
}

/** The shadow of what is read, after the tool has looked at it. */
static const uint8_t *loaded_shadow(sn_thread *thread, const sn_access *access, uint8_t room[WIDEST]) {
    const uint8_t *shadow = sn_shadow_at(sn_shadow_ruling->memory, access->address);
    if (access->size > WIDEST || !sn_shadow_ruling->loaded) return shadow;
    memcpy(room, shadow, access->size);
    ask_tool(thread, access->address, room, access->size);
    return room;
}

static void load(sn_thread *thread, const varying *made, uint64_t start, const sn_access *access, uint8_t *rest) {
    uint32_t origin = sn_shadow_memory_origin(access->address, access->size);
    if (origin && made->loaded.size) sn_shadow_set_origin(thread, made->loaded.dirty, origin);
    if (origin && made->sets_flags) sn_shadow_set_origin(thread, SN_DIRTY_FLAGS, origin);
    uint8_t room[WIDEST];
    const uint8_t *shadow = loaded_shadow(thread, access, room);
    uint64_t offset = access->address - start;
    uint8_t *own = thread->shadow + made->loaded.offset;
    uint8_t about = made->loaded.lane || made->loaded.bit_lane ? joined(shadow, access->size) : 0;
    if (made->loaded.bit_lane && offset / made->loaded.bit_lane < 64) {
        unsigned bit = (unsigned)(offset / made->loaded.bit_lane);
        own[bit / 8] |= sn_shadow_ruling->kind == SN_SHADOW_BITS ? (uint8_t)((about != 0) << bit % 8) : about;
        sn_shadow_note(thread, made->loaded.dirty);
        return;
    }
    if (made->loaded.lane && offset + made->loaded.lane <= made->loaded.size) {
        unsigned first = (unsigned)(offset / made->loaded.lane * made->loaded.lane);
        for (unsigned i = 0; i < made->loaded.lane; i++) own[first + i] |= about;
        sn_shadow_note(thread, made->loaded.dirty);
        return;
    }
    if (!made->loaded.by_bytes || offset + access->size > made->loaded.size) {
        *rest |= joined(shadow, access->size);
        return;
    }
    for (unsigned i = 0; i < access->size; i++) thread->shadow[made->loaded.offset + offset + i] |= shadow[i];
    sn_shadow_note(thread, made->loaded.dirty);
}

static void store(sn_thread *thread, const varying *made, uint64_t start, const sn_access *access) {
    uint8_t *shadow = sn_shadow_at(sn_shadow_ruling->memory, access->address);
    const uint8_t *from = thread->shadow + made->stored.offset;
    uint64_t offset = made->is_repeated ? 0 : access->address - start;
    bool by_bytes = made->stored.by_bytes && offset + access->size <= made->stored.size;
    uint8_t whole = joined(from, made->stored.size);
    if (whole) sn_shadow_fill_origin(access->address, access->size, sn_shadow_dirty_origin(thread, made->stored.dirty));
    for (unsigned i = 0; i < access->size; i++) shadow[i] = by_bytes ? from[offset + i] : whole;
}

static void spread(sn_thread *thread, const varying *made, uint8_t about) {
    for (unsigned i = 0; i < made->loaded.size; i++) thread->shadow[made->loaded.offset + i] |= about;
    if (made->loaded.size) sn_shadow_note(thread, made->loaded.dirty);
    for (unsigned i = 0; i < 8 && made->sets_flags; i++) thread->shadow[SN_SHADOW_FLAGS + i] |= about;
    if (made->sets_flags) sn_shadow_note(thread, SN_DIRTY_FLAGS);
}

static void follow(sn_thread *thread, const sn_access *accesses, size_t count, void *data) {
    const varying *made = data;
    const sn_access *read = NULL;
    uint64_t start = has_place(&made->loaded) || (made->stored.by_bytes && !made->is_repeated) ? operand_address(thread, &made->memory) : 0;
    uint8_t rest = 0;
    for (size_t i = 0; i < count; i++) {
        const sn_access *access = &accesses[i];
        if (!sn_shadow_covers(access->address, access->size)) continue;
        if (access->role == SN_ROLE_READ) {
            read = access;
            load(thread, made, start, access, &rest);
        } else if (made->is_state) {
            sn_shadow_fill(sn_shadow_ruling->memory, access->address, access->size, 0);
        } else if (read && read->size == access->size && !made->stored.size) {
            sn_shadow_copy(sn_shadow_ruling->memory, access->address, read->address, access->size);
            ask_tool(thread, read->address, sn_shadow_at(sn_shadow_ruling->memory, access->address), access->size);
            if (sn_shadow_ruling->origins) sn_shadow_copy_origins(access->address, read->address, access->size);
        } else {
            store(thread, made, start, access);
        }
    }
    if (rest && !made->is_state) spread(thread, made, rest);
}

void sn_shadow_varying_insert(sn_block *block, unsigned index) {
    unsigned flow_count, count;
    varying *made = sn_arena_allocate(&all, sizeof *made);
    made->is_repeated = block->insns[index].repeated;
    made->is_state = sn_shadow_saves_state(block, index);
    const sn_flow *flows = sn_block_flows(block, index, &flow_count);
    const sn_operand *operands = sn_block_operands(block, index, &count);
    for (unsigned i = 0; i < flow_count && !made->is_state; i++) note_flow(made, operands, &flows[i]);
    sn_insert_accesses(block, index, follow, made);
}
