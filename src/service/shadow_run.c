/**
 * @fileoverview Working off plans (shadow_plan.h): the shadows of what instructions write, from those of what they read.
 *
 * All of an instruction's results are computed before any is written. Called where something is not clean, from inserted code:
 * compiled for general registers only.
 */
#include "isa/isa.h"
#include "jit/layout.h"
#include "jit/runtime.h"
#include "service/contexts.h"
#include "service/shadow_plan.h"

enum { WIDEST = 64 };

/** What an instruction's flows have computed and not written yet. */
typedef struct pending {
    unsigned count;
    const sn_plan_piece *to[SN_FLOW_MOST];
    uint8_t bytes[SN_FLOW_MOST][WIDEST];
    uint32_t origins[SN_FLOW_MOST];
} pending;

static const uint8_t clean_bytes[WIDEST];

/** A shadow that is no register's or memory's as it is. */
typedef union room {
    uint64_t word;
    uint8_t bytes[WIDEST];
} room;

/** Volatile: no call of memcpy() is made of it. */
static void copy(volatile uint8_t *to, const uint8_t *from, unsigned size) {
    for (; size >= 8; size -= 8, to += 8, from += 8) *(volatile uint64_t *)to = *(const uint64_t *)from;
    for (; size; size--) *to++ = *from++;
}

/* ------------------------------------------------------------------------------------------------- dirty bits */

typedef struct extent {
    uint32_t offset, size;
} extent;

static extent extent_of(unsigned dirty) {
    if (dirty >= SN_DIRTY_VECTOR) return (extent){SN_SHADOW_VECTOR + 64 * (dirty - SN_DIRTY_VECTOR), 64};
    if (dirty == SN_DIRTY_X87) return (extent){SN_SHADOW_X87, 128};
    if (dirty == SN_DIRTY_FLAGS) return (extent){SN_SHADOW_FLAGS, 8};
    if (dirty >= SN_DIRTY_MASK) return (extent){SN_SHADOW_MASK + 8 * (dirty - SN_DIRTY_MASK), 8};
    return (extent){SN_SHADOW_GENERAL + 8 * dirty, 8};
}

static uint64_t *dirty_of(sn_thread *thread) { return (uint64_t *)(thread->shadow + SN_SHADOW_DIRTY); }

void sn_shadow_note(sn_thread *thread, unsigned dirty) {
    extent e = extent_of(dirty);
    uint64_t any = 0;
    for (uint32_t i = 0; i < e.size; i += 8) any |= *(const uint64_t *)(thread->shadow + e.offset + i);
    if (any) *dirty_of(thread) |= UINT64_C(1) << dirty;
    else *dirty_of(thread) &= ~(UINT64_C(1) << dirty);
    thread->shadow[SN_SHADOW_MARKS + dirty] = any != 0;
}

void sn_shadow_clean(sn_thread *thread, uint64_t dirty) {
    *dirty_of(thread) &= ~(dirty & UINT64_C(1) << SN_DIRTY_ASKED);
    for (uint64_t left = *dirty_of(thread) & dirty; left; left &= left - 1) {
        extent e = extent_of((unsigned)__builtin_ctzll(left));
        thread->shadow[SN_SHADOW_MARKS + __builtin_ctzll(left)] = 0;
        for (uint32_t i = 0; i < e.size; i += 8) *(volatile uint64_t *)(thread->shadow + e.offset + i) = 0;
    }
    *dirty_of(thread) &= ~dirty;
}

void sn_shadow_clean_low(sn_thread *thread, uint64_t registers) {
    for (uint64_t left = *dirty_of(thread) & registers; left; left &= left - 1) {
        unsigned which = (unsigned)__builtin_ctzll(left);
        extent e = extent_of(which);
        uint32_t size = e.size < SN_SHADOW_LOW_VECTOR ? e.size : SN_SHADOW_LOW_VECTOR;
        for (uint32_t i = 0; i < size; i += 8) *(volatile uint64_t *)(thread->shadow + e.offset + i) = 0;
        sn_shadow_note(thread, which);
    }
}

/* ------------------------------------------------------------------------------------------------------ sources */

static uint64_t piece_address(const sn_plan_view *view, const sn_plan_piece *piece) { return view->addresses[piece->operand] + piece->offset; }

/** A condition made of flags is one bit, or one byte of labels. */
static uint64_t flags_shadow(const sn_thread *thread, unsigned flags) {
    uint8_t all = 0;
    for (unsigned i = 0; i < 8; i++)
        if (flags >> i & 1) all |= thread->shadow[SN_SHADOW_FLAGS + i];
    return sn_shadow_ruling->kind == SN_SHADOW_BITS ? all != 0 : all;
}

/** Where the shadow of memory is, after the tool has looked at it. */
static const uint8_t *loaded_shadow(const sn_plan_view *view, const sn_plan_piece *piece, room *own) {
    uint64_t address = piece_address(view, piece);
    if (!sn_shadow_covers(address, piece->size)) return clean_bytes;
    const uint8_t *shadow = sn_shadow_at(sn_shadow_ruling->memory, address);
    uint8_t any = 0;
    for (unsigned i = 0; i < piece->size; i++) any |= shadow[i];
    if (!any || !sn_shadow_ruling->loaded) return shadow;
    copy(own->bytes, shadow, piece->size);
    sn_shadow_ruling->loaded(view->thread, address, own->bytes, piece->size, sn_shadow_general(view, sn_shadow_stack_register()));
    return own->bytes;
}

/** Where the shadow of a source is; `own` is for one that has to be put together. */
static const uint8_t *shadow_of(const sn_plan_view *view, const sn_plan_piece *piece, room *own) {
    switch (piece->place) {
    case SN_PLAN_REGISTER: return view->thread->shadow + piece->offset;
    case SN_PLAN_FLAGS:
        own->word = flags_shadow(view->thread, piece->flags);
        return own->bytes;
    case SN_PLAN_MEMORY: return loaded_shadow(view, piece, own);
    default: return clean_bytes;
    }
}

static bool value_of(const sn_plan_view *view, const sn_plan_piece *piece, uint64_t *value) {
    uint64_t mask = piece->size >= 8 ? UINT64_MAX : (UINT64_C(1) << 8 * piece->size) - 1;
    switch (piece->value) {
    case SN_VALUE_CONSTANT: *value = piece->constant; break;
    case SN_VALUE_GENERAL: *value = sn_shadow_general(view, piece->reg) >> 8 * piece->shift; break;
    case SN_VALUE_MASK: *value = sn_shadow_mask_value(piece->reg); break;
    case SN_VALUE_MEMORY:
        *value = 0;
        if (!sn_copy_safely(value, (const void *)piece_address(view, piece), piece->size)) return false;
        break;
    default: return false;
    }
    *value &= mask;
    return true;
}

/* ------------------------------------------------------------------------------------------------------- guards */

/** Where the guard does not let the flow take place there is another shadow; and what it hangs on is in either, but for the lanes of
    `zeros`: those are zero for certain, whether by the flow or by the guard. */
static void merge_lanes(const sn_plan_view *view, const sn_plan_flow *flow, uint8_t *result, const uint8_t *otherwise, const uint8_t *condition,
                        uint64_t zeros) {
    bool bits = sn_shadow_ruling->kind == SN_SHADOW_BITS;
    unsigned size = flow->destination.size, lane = flow->guard_lane ? flow->guard_lane : 1;
    uint64_t mask = 0;
    bool is_known = flow->guard == SN_GUARD_MASK && value_of(view, &flow->condition, &mask);
    if (!flow->guard_lane) { /* a bit is a lane */
        for (unsigned i = 0; i < size && i < 8; i++) {
            uint8_t chosen = is_known ? (uint8_t)(mask >> 8 * i) : 0xff, other = is_known ? (uint8_t)~chosen : 0xff;
            result[i] = bits ? (uint8_t)((result[i] & chosen) | (otherwise[i] & other) | condition[i])
                             : (uint8_t)(result[i] | otherwise[i] | condition[i]);
        }
        return;
    }
    for (unsigned at = 0, number = 0; at < size; at += lane, number++) {
        uint8_t about;
        if (flow->otherwise.place == SN_PLAN_NOWHERE && number < 64 && zeros >> number & 1) continue;
        if (flow->guard == SN_GUARD_MASK) about = bits ? (condition[number / 8] >> number % 8 & 1 ? 0xff : 0) : condition[number / 8];
        else about = bits ? (condition[at + lane - 1] & 0x80 ? 0xff : 0) : condition[at + lane - 1];
        for (unsigned i = at; i < at + lane && i < size; i++) {
            uint8_t chosen = is_known ? (mask >> number & 1 ? result[i] : otherwise[i]) : result[i] | otherwise[i];
            *(volatile uint8_t *)&result[i] = chosen | about;
        }
    }
}

/** Of what takes place unless all of the condition is zero: one bit that is set for certain is enough. */
static bool is_surely_set(const sn_plan_view *view, const sn_plan_flow *flow, const uint8_t *condition) {
    uint64_t value, shadow = 0;
    if (sn_shadow_ruling->kind != SN_SHADOW_BITS || flow->guard != SN_GUARD_NOT_ZERO || flow->condition.size > 8) return false;
    if (!value_of(view, &flow->condition, &value)) return false;
    for (unsigned i = 0; i < flow->condition.size; i++) shadow |= (uint64_t)condition[i] << 8 * i;
    return value & ~shadow;
}

static void merge_whole(const sn_plan_view *view, const sn_plan_flow *flow, uint8_t *result, const uint8_t *otherwise, const uint8_t *condition) {
    uint64_t value;
    unsigned size = flow->destination.place == SN_PLAN_FLAGS ? 8 : flow->destination.size;
    uint8_t about = 0;
    for (unsigned i = 0; i < flow->condition.size || i == 0; i++) about |= condition[i];
    if (sn_shadow_ruling->kind == SN_SHADOW_BITS && about) about = 0xff;
    if (is_surely_set(view, flow, condition)) return;
    if (flow->guard == SN_GUARD_CONDITION && flow->condition.place == SN_PLAN_FLAGS && !about && !view->in_engine) {
        /* It is known which one it will be. */
        if (!(flow->truth >> sn_shadow_flags_value(view) & 1)) copy(result, otherwise, size);
        return;
    }
    bool is_known = flow->guard == SN_GUARD_COUNT && !about && value_of(view, &flow->condition, &value);
    bool keeps = is_known && !(value & flow->count_mask);
    for (unsigned i = 0; i < size; i++)
        *(volatile uint8_t *)&result[i] = is_known ? (keeps ? otherwise[i] : result[i]) : (uint8_t)(result[i] | otherwise[i] | about);
}

/** `zeros`: lanes that the flow makes zero for certain. */
static void guard(const sn_plan_view *view, const sn_plan_flow *flow, uint8_t *result, uint64_t zeros) {
    room rooms[2];
    const uint8_t *condition = shadow_of(view, &flow->condition, &rooms[0]);
    const uint8_t *otherwise = flow->destination.place == SN_PLAN_FLAGS ? view->thread->shadow + SN_SHADOW_FLAGS
                                                                        : shadow_of(view, &flow->otherwise, &rooms[1]);
    if (flow->guard == SN_GUARD_MASK || flow->guard == SN_GUARD_HIGH_BITS) merge_lanes(view, flow, result, otherwise, condition, zeros);
    else merge_whole(view, flow, result, otherwise, condition);
}

/* -------------------------------------------------------------------------------------------------------- flows */

/** The bytes of a vector source's value, into `room`; NULL if it is not known. */
static const uint8_t *vector_value(const sn_plan_view *view, const sn_plan_piece *piece, uint8_t room[WIDEST]) {
    if (piece->value == SN_VALUE_VECTOR)
        return sn_shadow_vector_value(piece->reg, room) >= piece->shift + (unsigned)piece->size ? room + piece->shift : NULL;
    bool is_known = piece->value == SN_VALUE_MEMORY && piece->size <= WIDEST && sn_copy_safely(room, (const void *)piece_address(view, piece), piece->size);
    return is_known ? room : NULL;
}

/** Where a lane of a source is zero, and clean, so is the minimum: these lanes, as bits. */
static uint64_t clean_least(const sn_plan_view *view, const sn_plan_flow *flow, const sn_shadow_step *step, uint8_t *result) {
    uint8_t room[WIDEST];
    uint64_t zeros = 0;
    for (unsigned i = 0; i < flow->source_count; i++) {
        const sn_plan_piece *piece = &flow->sources[i];
        const uint8_t *value = piece->size < step->size ? NULL : vector_value(view, piece, room);
        if (!value) continue;
        for (unsigned at = 0; at + flow->lane_size <= step->size; at += flow->lane_size) {
            uint8_t any = 0;
            for (unsigned n = at; n < at + flow->lane_size; n++) any |= value[n] | step->sources[i][n];
            for (unsigned n = at; n < at + flow->lane_size && !any; n++) *(volatile uint8_t *)&result[n] = 0;
            if (!any) zeros |= UINT64_C(1) << at / flow->lane_size;
        }
    }
    return zeros;
}

/** What a function of single bits makes of them, as sn_flow.truth has it; 0: of no such function. */
static unsigned truth_of(const sn_plan_flow *flow) {
    if (flow->kind == SN_FLOW_BITWISE) return flow->source_count <= 3 ? flow->bitwise : 0;
    if (flow->source_count != 2) return 0;
    return flow->kind == SN_FLOW_AND ? 8 : flow->kind == SN_FLOW_OR ? 14 : flow->kind == SN_FLOW_AND_NOT ? 2 : 0;
}

/** A source of wide operands: its value, and its shadow. One element may stand for all. */
typedef struct wide_source {
    uint8_t room[WIDEST];
    const uint8_t *value, *shadow;
    unsigned size;
} wide_source;

static bool find_wide(const sn_plan_view *view, const sn_plan_piece *piece, const sn_shadow_step *step, unsigned number, wide_source *to) {
    to->size = piece->every_lane ? piece->size : step->size;
    to->shadow = step->sources[number];
    to->value = to->size && piece->size >= to->size ? vector_value(view, piece, to->room) : NULL;
    return to->value;
}

/** The bits of byte `at` for which the truth table has both results, for what their sources may be. */
static uint8_t undecided(unsigned truth, const wide_source *sources, unsigned count, unsigned at) {
    uint8_t results[2] = {0, 0};
    for (unsigned row = 0; row < 1u << count; row++) {
        uint8_t possible = 0xff;
        for (unsigned i = 0; i < count; i++) {
            unsigned byte = at % sources[i].size;
            uint8_t flip = row >> (count - 1 - i) & 1 ? 0 : 0xff;
            possible &= (uint8_t)((sources[i].value[byte] ^ flip) | sources[i].shadow[byte]);
        }
        results[truth >> row & 1] |= possible;
    }
    return results[0] & results[1];
}

/** Bits of wide operands for which the certain ones among their sources decide: zeros of an and, ones of an or. */
static void clean_decided(const sn_plan_view *view, const sn_plan_flow *flow, const sn_shadow_step *step, uint8_t *result) {
    wide_source sources[3];
    unsigned truth = truth_of(flow);
    if (!truth || step->size <= 8) return;
    for (unsigned i = 0; i < flow->source_count; i++)
        if (!find_wide(view, &flow->sources[i], step, i, &sources[i])) return;
    for (unsigned n = 0; n < step->size; n++)
        if (result[n]) *(volatile uint8_t *)&result[n] = undecided(truth, sources, flow->source_count, n);
}

/** Whether a lane's answer is certain: two are not equal that differ in a bit that is, any bit is left that is set for certain; or there is
    nothing that is not certain. */
static bool is_answered(const wide_source sources[2], unsigned class, unsigned first, unsigned size) {
    uint8_t doubtful = 0, decided = 0;
    for (unsigned at = first; at < first + size; at++) {
        uint8_t a = sources[0].value[at % sources[0].size], b = sources[1].value[at % sources[1].size];
        uint8_t not_a = sources[0].shadow[at % sources[0].size], not_b = sources[1].shadow[at % sources[1].size];
        if (class == SN_FLOW_EQUAL) {
            decided |= (uint8_t)((a ^ b) & ~(not_a | not_b));
            doubtful |= not_a | not_b;
        } else {
            decided |= (uint8_t)((a & ~not_a) & (b & ~not_b));
            doubtful |= (uint8_t)((not_a | not_b) & (a | not_a) & (b | not_b));
        }
    }
    return decided || !doubtful;
}

/** Answers about lanes of two sources, a bit each. */
static void answer_lanes(const sn_plan_view *view, const sn_plan_flow *flow, const sn_shadow_step *step, uint8_t *result) {
    wide_source sources[2];
    unsigned lane = flow->source_lane_size, size = 0;
    bool is_asked = flow->kind == SN_FLOW_LANE_BITS && (flow->lane_class == SN_FLOW_EQUAL || flow->lane_class == SN_FLOW_AND);
    if (!is_asked || flow->source_count != 2 || !lane) return;
    for (unsigned i = 0; i < 2; i++) {
        const sn_plan_piece *piece = &flow->sources[i];
        sources[i].shadow = step->sources[i];
        sources[i].size = piece->size;
        sources[i].value = piece->size ? vector_value(view, piece, sources[i].room) : NULL;
        if (!sources[i].value) return;
        if (!piece->every_lane) size = piece->size;
    }
    for (unsigned number = 0; (number + 1) * lane <= size && number < 8 * step->size; number++)
        if (is_answered(sources, flow->lane_class, number * lane, lane)) *(volatile uint8_t *)&result[number / 8] &= (uint8_t)~(1u << number % 8);
}

/** Sums of lanes: what is certain of both numbers says which bits a carry cannot reach. */
static void sum_lanes(const sn_plan_view *view, const sn_plan_flow *flow, const sn_shadow_step *step, uint8_t *result) {
    wide_source sources[2];
    bool is_sum = flow->kind == SN_FLOW_ADD || flow->kind == SN_FLOW_SUBTRACT;
    if (!is_sum || !step->lane_size || step->lane_size > 8 || flow->source_count != 2) return;
    for (unsigned i = 0; i < 2; i++)
        if (!find_wide(view, &flow->sources[i], step, i, &sources[i])) return;
    for (unsigned at = 0; at + step->lane_size <= step->size; at += step->lane_size) {
        uint64_t values[2] = {0, 0}, shadows[2] = {0, 0};
        for (unsigned i = 0; i < 2; i++)
            for (unsigned n = 0; n < step->lane_size; n++) {
                unsigned byte = (at + n) % sources[i].size;
                values[i] |= (uint64_t)sources[i].value[byte] << 8 * n;
                shadows[i] |= (uint64_t)sources[i].shadow[byte] << 8 * n;
            }
        if (!(shadows[0] | shadows[1])) continue;
        uint64_t shadow = sn_shadow_of_sum(flow->kind == SN_FLOW_SUBTRACT, values, shadows);
        for (unsigned n = 0; n < step->lane_size; n++) *(volatile uint8_t *)&result[at + n] = (uint8_t)(shadow >> 8 * n);
    }
}

/** Elements that are chosen by elements whose values are known, and clean: see sn_flow_choice(). */
static void choose_elements(const sn_plan_view *view, const sn_plan_flow *flow, const sn_shadow_step *step, uint8_t *result) {
    uint8_t room[WIDEST];
    unsigned last = flow->source_count - 1u, element = flow->element_size, lane = step->lane_size ? step->lane_size : step->size;
    if (flow->kind != SN_FLOW_PERMUTE || !last || !element || step->size > WIDEST) return;
    for (unsigned i = 0; i <= last; i++)
        if (step->source_sizes[i] < step->size || flow->sources[i].every_lane) return;
    const uint8_t *controls = vector_value(view, &flow->sources[last], room);
    unsigned in_lane = lane / element;
    for (unsigned at = 0; at + element <= step->size && controls; at += element) {
        uint64_t control = 0, about = 0;
        for (unsigned i = 0; i < element; i++) {
            control |= (uint64_t)controls[at + i] << 8 * i;
            about |= step->sources[last][at + i];
        }
        if (about) continue;
        bool is_zero = flow->zeroes && control >> (8 * element - 1) & 1;
        unsigned choice = (unsigned)(control >> flow->scale_shift) & (in_lane * last - 1);
        const uint8_t *from = step->sources[choice / in_lane] + (at - at % lane) + choice % in_lane * element;
        for (unsigned i = 0; i < element; i++) *(volatile uint8_t *)&result[at + i] = is_zero ? 0 : from[i];
    }
}

static void compute(const sn_plan_view *view, const sn_plan_flow *flow, uint8_t *result) {
    room rooms[SN_FLOW_MOST_SOURCES];
    uint64_t zeros = 0;
    sn_shadow_step step;
    sn_shadow_values_known values;
    bool to_flags = flow->destination.place == SN_PLAN_FLAGS;
    values.known = 0;
    step.kind = flow->kind;
    step.source_count = flow->source_count;
    step.lane_size = flow->lane_size;
    step.source_lane_size = flow->source_lane_size;
    step.amount = flow->amount;
    step.destination = result;
    step.size = flow->destination.size;
    for (unsigned i = 0; i < flow->source_count; i++) {
        step.sources[i] = shadow_of(view, &flow->sources[i], &rooms[i]);
        step.source_sizes[i] = flow->sources[i].size;
        if (flow->sources[i].size <= 8 && value_of(view, &flow->sources[i], &values.values[i])) values.known |= 1u << i;
    }
    if (to_flags) step.size = flow->source_count && flow->sources[0].size ? flow->sources[0].size : 8;
    sn_shadow_function *own = sn_shadow_ruling->functions[flow->kind];
    if (own) own(view->thread, &step);
    else sn_shadow_apply(sn_shadow_ruling->kind, flow, &step, &values);
    if (flow->kind == SN_FLOW_PERMUTE && !own && !view->in_engine) choose_elements(view, flow, &step, result);
    if (flow->is_least && !own && !view->in_engine && step.size <= WIDEST) zeros = clean_least(view, flow, &step, result);
    bool is_sharp = sn_shadow_ruling->kind == SN_SHADOW_BITS && !own && !view->in_engine && !to_flags;
    if (is_sharp && step.size <= WIDEST) {
        clean_decided(view, flow, &step, result);
        sum_lanes(view, flow, &step, result);
        answer_lanes(view, flow, &step, result);
    }
    if (to_flags) *(volatile uint64_t *)result = sn_shadow_flags_of(sn_shadow_ruling->kind, flow, &step, &values);
    if (flow->guard) guard(view, flow, result, zeros);
}

static void put(const sn_plan_view *view, const sn_plan_piece *piece, const uint8_t *bytes) {
    sn_thread *thread = view->thread;
    switch (piece->place) {
    case SN_PLAN_REGISTER: copy(thread->shadow + piece->offset, bytes, piece->size); break;
    case SN_PLAN_FLAGS:
        for (unsigned i = 0; i < 8; i++)
            if (piece->flags >> i & 1) thread->shadow[SN_SHADOW_FLAGS + i] = bytes[i];
        break;
    case SN_PLAN_MEMORY: {
        uint64_t address = piece_address(view, piece);
        if (sn_shadow_covers(address, piece->size)) copy(sn_shadow_at(sn_shadow_ruling->memory, address), bytes, piece->size);
        return;
    }
    default: return;
    }
    sn_shadow_note(thread, piece->dirty);
}

/** Registers are numbered from the top of the stack: number N becomes N + `by`. */
static void turn_x87(sn_thread *thread, unsigned by) {
    uint64_t old[16], *cells = (uint64_t *)(thread->shadow + SN_SHADOW_X87);
    if (!(*dirty_of(thread) >> SN_DIRTY_X87 & 1)) return;
    for (unsigned i = 0; i < 16; i++) *(volatile uint64_t *)&old[i] = cells[i];
    for (unsigned i = 0; i < 16; i++) *(volatile uint64_t *)&cells[(i + 2 * by) % 16] = old[i];
}

static void find_addresses(sn_plan_view *view, const sn_plan_group *group) {
    for (unsigned i = 0; i < group->operand_count; i++) {
        const sn_plan_operand *operand = &group->operands[i];
        uint64_t address = (uint64_t)operand->displacement;
        if (operand->base != SN_NO_REGISTER) address += sn_shadow_general(view, operand->base);
        if (operand->index != SN_NO_REGISTER) address += sn_shadow_general(view, operand->index) * operand->scale;
        if (operand->is_short) address = (uint32_t)address;
        if (operand->segment) address += sn_shadow_segment_base(view, operand->segment);
        view->addresses[i] = address;
    }
}

void sn_shadow_run_view(sn_plan_view *view, const sn_plan_group *group) {
    pending results;
    results.count = 0;
    const sn_plan_flow *flow = (const sn_plan_flow *)group->flows;
    for (unsigned i = 0; i < group->flow_count; i++, flow = sn_plan_next(flow)) {
        results.to[results.count] = &flow->destination;
        if (sn_shadow_ruling->origins) results.origins[results.count] = sn_shadow_plan_origin(view, flow);
        compute(view, flow, results.bytes[results.count++]);
        if (!flow->is_last) continue;
        /* What is pushed has its number behind the push, what is popped before the pop. */
        if (flow->stack_change > 0) turn_x87(view->thread, (unsigned)flow->stack_change);
        for (unsigned n = 0; n < results.count; n++) {
            put(view, results.to[n], results.bytes[n]);
            if (sn_shadow_ruling->origins) sn_shadow_put_origin(view, results.to[n], results.bytes[n], results.origins[n]);
        }
        if (flow->stack_change < 0) turn_x87(view->thread, 8 + (unsigned)flow->stack_change);
        results.count = 0;
    }
}

void sn_shadow_tell_finding(sn_thread *thread, uint64_t check, uint64_t shadow) {
    const sn_shadow_check *told = (const sn_shadow_check *)check;
    told->found(thread, told->data, shadow, sn_contexts_are_on() ? sn_context_resolve(thread) : SN_NO_CONTEXT);
}

void sn_shadow_tell_dirty(sn_thread *thread, uint64_t check, uint64_t found) {
    const sn_shadow_registers_check *of = (const sn_shadow_registers_check *)check;
    uint64_t shadow = 0;
    (void)found;
    for (uint64_t left = of->registers; left; left &= left - 1) shadow |= sn_shadow_register(thread, (uint8_t)__builtin_ctzll(left));
    sn_shadow_tell_finding(thread, (uint64_t)(uintptr_t)of->check, shadow);
}

void sn_shadow_clean_flags(sn_thread *thread) { sn_shadow_clean(thread, UINT64_C(1) << SN_DIRTY_FLAGS); }

void sn_shadow_run(sn_thread *thread, const sn_plan_group *group) {
    sn_plan_view view;
    view.thread = thread;
    view.in_engine = false;
    if (group->is_cleared) {
        sn_shadow_clean(thread, sn_shadow_system_call_results);
        return;
    }
    find_addresses(&view, group);
    sn_shadow_run_view(&view, group);
}
