/**
 * @fileoverview The rules of the two kinds of shadow, a class at a time: see <sonde/shadow.h> and <sonde/flow.h>.
 *
 * Lanes of at most 8 bytes are words. What has a wider lane and no rule by bytes depends on all of the lane. Where the values of
 * sources are known, bits that cannot depend on a shadowed one are clean (the rules for and, or and sums: Seward and Nethercote,
 * "Using Valgrind to detect undefined value errors with bit-precision", 2005, 2.3).
 * Compiled for general registers only; runs in the code cache.
 */
#include "isa/isa.h"
#include "service/shadow_plan.h"

#define ONES UINT64_MAX
#define EVERY_BYTE UINT64_C(0x0101010101010101)

static uint64_t mask_of(unsigned bytes) { return bytes >= 8 ? ONES : (UINT64_C(1) << 8 * bytes) - 1; }

static uint64_t load(const uint8_t *from, unsigned bytes) {
    uint64_t word = 0;
    if (bytes == 8) return *(const uint64_t *)from;
    if (bytes == 4) return *(const uint32_t *)from;
    for (unsigned i = 0; i < bytes; i++) word |= (uint64_t)from[i] << 8 * i;
    return word;
}

static void store(uint8_t *to, uint64_t word, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) *(volatile uint8_t *)&to[i] = (uint8_t)(word >> 8 * i);
}

/** All labels, or whether there is any shadowed bit, in the lowest byte (as 0xff). */
static uint64_t folded(sn_shadow_kind kind, uint64_t word) {
    if (kind == SN_SHADOW_BITS) return word ? 0xff : 0;
    word |= word >> 32;
    word |= word >> 16;
    return (word | word >> 8) & 0xff;
}

/** What depends on all of the word. */
static uint64_t spread(sn_shadow_kind kind, uint64_t word, unsigned bytes) { return folded(kind, word) * EVERY_BYTE & mask_of(bytes); }

static uint64_t any_of(sn_shadow_kind kind, const uint8_t *from, unsigned bytes) {
    uint64_t word = 0;
    for (; bytes >= 8; bytes -= 8, from += 8) word |= *(const uint64_t *)from;
    return folded(kind, word | load(from, bytes));
}

/** What depends on all in the same place or below. */
static uint64_t upwards(sn_shadow_kind kind, uint64_t word) {
    if (kind == SN_SHADOW_BITS) return word | -word;
    word |= word << 8;
    word |= word << 16;
    return word | word << 32;
}

/* ------------------------------------------------------------------------------------- bits that cannot matter */

/** 0xff for each byte of labels where the clean byte of the value decides the result; for bits, those bits. */
static uint64_t decided(sn_shadow_kind kind, uint64_t shadow, uint64_t deciding) {
    if (kind == SN_SHADOW_BITS) return deciding & ~shadow;
    uint64_t bytes = 0;
    for (unsigned i = 0; i < 64; i += 8)
        if ((deciding >> i & 0xff) == 0xff && !(shadow >> i & 0xff)) bytes |= UINT64_C(0xff) << i;
    return bytes;
}

/** The shadow of a and b: where one of them is 0 for certain the other does not matter. `flips`: which of the two are negated. */
static uint64_t and_shadow(sn_shadow_kind kind, const uint64_t s[2], const sn_shadow_values_known *values, const uint64_t flips[2]) {
    uint64_t result = s[0] | s[1];
    for (unsigned i = 0; i < 2; i++)
        if (values->known >> i & 1) result &= ~decided(kind, s[i], ~(values->values[i] ^ flips[i]));
    return result;
}

/* --------------------------------------------------------------------------------------------------- shifts */

typedef struct shift {
    unsigned kind, bits, amount;
} shift;

static uint64_t shifted_bits(uint64_t word, const shift *by) {
    uint64_t mask = mask_of(by->bits / 8), sign = word >> (by->bits - 1) & 1, amount = by->amount;
    switch (by->kind) {
    case SN_FLOW_SHIFT_LEFT: return amount >= by->bits ? 0 : word << amount & mask;
    case SN_FLOW_SHIFT_RIGHT: return amount >= by->bits ? 0 : word >> amount;
    case SN_FLOW_SHIFT_ARITHMETIC:
        if (amount >= by->bits) return sign ? mask : 0;
        return (word >> amount | (sign && amount ? mask & ~(mask >> amount) : 0)) & mask;
    default: break;
    }
    amount %= by->bits;
    if (!amount) return word;
    if (by->kind == SN_FLOW_ROTATE_RIGHT) amount = by->bits - amount;
    return (word << amount | word >> (by->bits - amount)) & mask;
}

/** Labels move by whole bytes; by a part of one, they are in two. */
static uint64_t shifted_labels(uint64_t word, const shift *by) {
    shift whole = {by->kind, by->bits, by->amount & ~7u}, more = {by->kind, by->bits, (by->amount & ~7u) + 8};
    if (by->kind != SN_FLOW_SHIFT_ARITHMETIC) return shifted_bits(word, &whole) | (by->amount % 8 ? shifted_bits(word, &more) : 0);
    uint64_t top = word >> (by->bits - 8), bytes = by->bits / 8, moved = by->amount / 8, result = 0;
    for (uint64_t i = 0; i < bytes; i++) {
        uint64_t low = i + moved < bytes ? word >> 8 * (i + moved) & 0xff : top;
        uint64_t high = i + moved + 1 < bytes ? word >> 8 * (i + moved + 1) & 0xff : top;
        result |= (low | (by->amount % 8 ? high : 0)) << 8 * i;
    }
    return result;
}

static uint64_t shifted(sn_shadow_kind kind, const sn_plan_flow *flow, const uint64_t *s, const sn_shadow_values_known *values,
                        unsigned bytes) {
    bool is_known = flow->amount != SN_FLOW_VARIABLE || (values->known & 2);
    bool is_clean = flow->source_count < 2 || !s[1];
    if (!is_known || !is_clean) return spread(kind, flow->source_count < 2 ? s[0] : s[0] | s[1], bytes);
    /* Counts are taken modulo 32, or 64 (Intel SDM volume 2, SAL/SAR/SHL/SHR); of lanes they are known from immediates only. */
    uint64_t amount = flow->amount != SN_FLOW_VARIABLE ? flow->amount : values->values[1] & (bytes == 8 ? 63 : 31);
    shift by = {flow->kind, 8 * bytes, (unsigned)amount};
    return kind == SN_SHADOW_BITS ? shifted_bits(s[0], &by) : shifted_labels(s[0], &by);
}

/* -------------------------------------------------------------------------------------- one lane, as words */

/**
 * Bit numbers of the first set bit: it does not matter what is behind a bit that is set for certain. Nor, so it is taken here, where
 * some bits in front are certain: code that searches vectors beyond the end of its data compares the number with the length that
 * is left, and by that alone drops what it found behind (the C library's memchr and strnlen do). Bits of shadow cannot say of a number
 * that it is at least so large. Where a bit farther behind is certain this is taken only of a number that is compared soon
 * (SN_SPECIAL_NUMBER_COMPARED): without that it is the length of a text of which a part has no value.
 */
static uint64_t searched(sn_shadow_kind kind, const sn_plan_flow *flow, uint64_t shadow, const sn_shadow_values_known *values, unsigned bytes) {
    uint64_t certain = values->known & 1 ? values->values[0] & ~shadow : 0;
    unsigned class = flow->kind;
    bool is_first_certain = class == SN_FLOW_TRAILING_ZEROS ? !(shadow & 1) : !(shadow >> (8 * bytes - 1) & 1);
    if (kind == SN_SHADOW_BITS && values->known & 1 && is_first_certain && (!certain || flow->special == SN_SPECIAL_NUMBER_COMPARED)) return 0;
    if (kind == SN_SHADOW_BITS && certain) {
        uint64_t before = class == SN_FLOW_TRAILING_ZEROS ? (certain & -certain) - 1 : ~(ONES >> __builtin_clzll(certain));
        if (!(shadow & before)) return 0;
    }
    return spread(kind, shadow, bytes);
}

/** Bits below a number. */
static uint64_t below(uint64_t number) { return (number & 0xff) >= 64 ? ONES : (UINT64_C(1) << (number & 0xff)) - 1; }

static uint64_t kept_low(sn_shadow_kind kind, const sn_plan_flow *flow, const uint64_t *s, const sn_shadow_values_known *values,
                         unsigned bytes) {
    bool is_known = flow->source_count > 1 && values->known & 2 && !(s[1] & 0xff);
    if (!is_known) return (s[0] | spread(kind, flow->source_count > 1 ? s[1] : 0, bytes)) & mask_of(bytes);
    uint64_t number = values->values[1] & 0xff;
    return s[0] & mask_of(bytes) & (kind == SN_SHADOW_BITS ? below(number) : below((number + 7) & ~UINT64_C(7)));
}

static uint64_t extended(sn_shadow_kind kind, uint64_t word, unsigned from, unsigned to) {
    if (from >= to || !from) return word & mask_of(to);
    uint64_t top = kind == SN_SHADOW_BITS ? (word >> (8 * from - 1) & 1 ? 0xff : 0) : word >> 8 * (from - 1) & 0xff;
    return (word | (top * EVERY_BYTE & ~mask_of(from))) & mask_of(to);
}

static bool is_zero(const sn_plan_piece *piece) {
    return piece->place == SN_PLAN_NOWHERE && piece->value == SN_VALUE_CONSTANT && !piece->constant;
}

/** A sum that moves the bits of one source and adds nothing: x + x, x << n + 0. By how many; -1 if it is none. */
static int moved_by_sum(const sn_plan_flow *flow) {
    const sn_plan_piece *sources = flow->sources;
    for (unsigned i = 2; i < flow->source_count; i++)
        if (!is_zero(&sources[i])) return -1;
    if (flow->source_count < 2) return -1;
    if (is_zero(&sources[0])) return flow->scale_shift;
    bool is_same = sources[0].place == SN_PLAN_REGISTER && sources[1].place == SN_PLAN_REGISTER && sources[0].offset == sources[1].offset;
    return is_same && sources[0].size == sources[1].size && !flow->scale_shift ? 1 : -1;
}

/** Bits that are the same in the least and the greatest sum that may be, and certain in both numbers (Seward and Nethercote, 2.5). */
uint64_t sn_shadow_of_sum(bool is_difference, const uint64_t values[2], const uint64_t shadows[2]) {
    uint64_t least[2], most[2], differing;
    for (unsigned i = 0; i < 2; i++) {
        least[i] = values[i] & ~shadows[i];
        most[i] = values[i] | shadows[i];
    }
    differing = is_difference ? (least[0] - most[1]) ^ (most[0] - least[1]) : (least[0] + least[1]) ^ (most[0] + most[1]);
    return shadows[0] | shadows[1] | differing;
}

/** The only source that is no constant, -1 if there are more; and how many of the lowest bits all constants have as zeros. */
static int only_variable(const sn_plan_flow *flow, unsigned *zeros) {
    int only = -1;
    *zeros = 64;
    for (unsigned i = 0; i < flow->source_count; i++) {
        const sn_plan_piece *piece = &flow->sources[i];
        bool is_constant = piece->place == SN_PLAN_NOWHERE && piece->value == SN_VALUE_CONSTANT;
        unsigned low = !is_constant || !piece->constant ? 64 : (unsigned)__builtin_ctzll(piece->constant) + (i == 1 ? flow->scale_shift : 0);
        if (low < *zeros) *zeros = low;
        if (is_constant) continue;
        if (only >= 0 || piece->place == SN_PLAN_FLAGS) return -1;
        only = (int)i;
    }
    return only;
}

/** Nothing is carried out of bits to which zeros are added. */
static uint64_t moved_by_constant(sn_shadow_kind kind, uint64_t shadow, unsigned zeros) {
    uint64_t unchanged = zeros >= 64 ? ONES : (UINT64_C(1) << zeros) - 1;
    return (shadow & unchanged) | upwards(kind, shadow & ~unchanged);
}

static uint64_t added(sn_shadow_kind kind, const sn_plan_flow *flow, const uint64_t *s, uint64_t all) {
    unsigned zeros;
    if (kind == SN_SHADOW_LABELS) return upwards(kind, all);
    int variable = only_variable(flow, &zeros);
    if (variable >= 0) return moved_by_constant(kind, s[variable] << (variable == 1 ? flow->scale_shift : 0), zeros);
    int moved = moved_by_sum(flow);
    if (moved >= 0) return s[1] << moved;
    if (flow->scale_shift) all = s[0] | s[1] << flow->scale_shift | (flow->source_count > 2 ? s[2] : 0);
    return upwards(kind, all);
}

static uint64_t subtracted(sn_shadow_kind kind, const sn_plan_flow *flow, const uint64_t *s, uint64_t all) {
    unsigned zeros;
    bool is_constant_taken = kind == SN_SHADOW_BITS && only_variable(flow, &zeros) == 0;
    return is_constant_taken ? moved_by_constant(kind, s[0], zeros) : upwards(kind, all);
}

static bool is_low_bit(unsigned special) { return special >= SN_SPECIAL_LOW_BIT_CLEARED && special <= SN_SPECIAL_LOW_BIT_ISOLATED; }

static bool changes_bit(const sn_plan_flow *flow, const sn_shadow_values_known *values, unsigned bytes) {
    bool is_form = flow->special >= SN_SPECIAL_BIT_SET && flow->special <= SN_SPECIAL_BIT_FLIPPED;
    return is_form && flow->kind == SN_FLOW_ANY && flow->source_count == 2 && values->known & 2 && bytes > 1;
}

/** Only the bit that is named becomes another one: what it was does not matter if it is set, or cleared. */
static uint64_t changed_bit(sn_shadow_kind kind, const sn_plan_flow *flow, uint64_t shadow, const sn_shadow_values_known *values, unsigned bytes) {
    uint64_t bit = UINT64_C(1) << (values->values[1] % (8 * bytes));
    return kind == SN_SHADOW_BITS && flow->special != SN_SPECIAL_BIT_FLIPPED ? shadow & ~bit : shadow;
}

/** Whether a bit is set for certain, and those below it are certain. */
static bool lowest_is_certain(uint64_t shadow, const sn_shadow_values_known *values) {
    uint64_t certain = values->known & 1 ? values->values[0] & ~shadow : 0;
    return certain && !(shadow & ((certain & -certain) - 1));
}

/** `bytes`: of the result's lane; `from`: of the first source's. */
static uint64_t lane_shadow(sn_shadow_kind kind, const sn_plan_flow *flow, const uint64_t *s, const sn_shadow_values_known *values,
                            unsigned bytes, unsigned from) {
    static const uint64_t none[2] = {0, 0}, both[2] = {ONES, ONES}, first[2] = {ONES, 0};
    uint64_t all = 0;
    for (unsigned i = 0; i < flow->source_count; i++) all |= s[i];
    switch ((sn_flow_class)flow->kind) {
    case SN_FLOW_CONSTANT:
    case SN_FLOW_UNDEFINED: return 0;
    case SN_FLOW_COPY:
    case SN_FLOW_ZERO_EXTEND:
    case SN_FLOW_TRUNCATE:
    case SN_FLOW_NOT:
    case SN_FLOW_XOR:
    case SN_FLOW_BITWISE: return all & mask_of(bytes);
    case SN_FLOW_SIGN_EXTEND: return extended(kind, s[0], from, bytes);
    case SN_FLOW_AND: return (flow->source_count == 2 ? and_shadow(kind, s, values, none) : all) & mask_of(bytes);
    case SN_FLOW_OR: return (flow->source_count == 2 ? and_shadow(kind, s, values, both) : all) & mask_of(bytes);
    case SN_FLOW_AND_NOT: return (flow->source_count == 2 ? and_shadow(kind, s, values, first) : all) & mask_of(bytes);
    case SN_FLOW_ADD: return added(kind, flow, s, all) & mask_of(bytes);
    case SN_FLOW_UPWARD:
        if (is_low_bit(flow->special) && kind == SN_SHADOW_BITS && lowest_is_certain(s[0], values))
            return flow->special == SN_SPECIAL_LOW_BIT_CLEARED ? s[0] : 0;
        return upwards(kind, all) & mask_of(bytes);
    case SN_FLOW_SUBTRACT: return subtracted(kind, flow, s, all) & mask_of(bytes);
    case SN_FLOW_MULTIPLY: return upwards(kind, all) & mask_of(bytes);
    case SN_FLOW_SHIFT_LEFT:
    case SN_FLOW_SHIFT_RIGHT:
    case SN_FLOW_SHIFT_ARITHMETIC:
    case SN_FLOW_ROTATE_LEFT:
    case SN_FLOW_ROTATE_RIGHT: return shifted(kind, flow, s, values, bytes);
    case SN_FLOW_KEEP_LOW: return kept_low(kind, flow, s, values, bytes);
    case SN_FLOW_TRAILING_ZEROS:
    case SN_FLOW_LEADING_ZEROS: return searched(kind, flow, s[0], values, bytes);
    default: break;
    }
    return changes_bit(flow, values, bytes) && !s[1] ? changed_bit(kind, flow, s[0], values, bytes) : spread(kind, all, bytes);
}

/* ------------------------------------------------------------------------------------------- whole operands */

static bool goes_by_bytes(unsigned class) {
    return class == SN_FLOW_COPY || class == SN_FLOW_NOT || class == SN_FLOW_XOR || class == SN_FLOW_BITWISE || class == SN_FLOW_AND ||
           class == SN_FLOW_OR || class == SN_FLOW_AND_NOT || class == SN_FLOW_ZERO_EXTEND;
}

static void by_bytes(const sn_shadow_step *step) {
    for (unsigned at = 0; at < step->size; at++) {
        uint8_t byte = 0;
        for (unsigned i = 0; i < step->source_count; i++)
            if (at < step->source_sizes[i]) byte |= step->sources[i][at];
        *(volatile uint8_t *)&step->destination[at] = byte;
    }
}

static void by_shuffle(const sn_plan_flow *flow, const sn_shadow_step *step) {
    const uint8_t *table = sn_plan_table(flow);
    for (unsigned at = 0; at < step->size; at++) {
        unsigned from = at < flow->table_size ? table[at] : SN_FLOW_ZERO_BYTE, source = 0;
        uint8_t byte = 0;
        if (from != SN_FLOW_ZERO_BYTE) {
            while (source < step->source_count && from >= step->source_sizes[source]) from -= step->source_sizes[source++];
            if (source < step->source_count) byte = step->sources[source][from];
        }
        *(volatile uint8_t *)&step->destination[at] = byte;
    }
}

/** Byte `at` of the sources laid end to end. */
static uint8_t byte_at(const sn_shadow_step *step, unsigned at) {
    unsigned source = 0;
    while (source < step->source_count && at >= step->source_sizes[source]) at -= step->source_sizes[source++];
    return source < step->source_count ? step->sources[source][at] : 0;
}

static void by_narrowing(sn_shadow_kind kind, const sn_plan_flow *flow, const sn_shadow_step *step) {
    const uint8_t *table = sn_plan_table(flow);
    for (unsigned lane = 0; (lane + 1) * step->lane_size <= step->size; lane++) {
        uint64_t word = 0;
        for (unsigned i = 0; i < step->source_lane_size && i < 8; i++)
            if (lane < flow->table_size) word |= (uint64_t)byte_at(step, table[lane] + i) << 8 * i;
        store(step->destination + lane * step->lane_size, spread(kind, word, step->lane_size), step->lane_size);
    }
}

/** Bit N of the result is about lane N of the sources: all of it, or its highest bit. */
static void into_bits(sn_shadow_kind kind, const sn_shadow_step *step, bool only_highest) {
    unsigned size = step->source_lane_size ? step->source_lane_size : 1, lanes = step->source_count ? step->source_sizes[0] / size : 0;
    uint64_t result = 0;
    for (unsigned lane = 0; lane < lanes && lane < 64; lane++) {
        uint64_t about = 0;
        for (unsigned i = 0; i < step->source_count; i++) {
            const uint8_t *from = step->sources[i] + lane * size;
            if ((lane + 1) * size > step->source_sizes[i]) continue;
            if (!only_highest) about |= any_of(kind, from, size);
            else about |= kind == SN_SHADOW_BITS ? (from[size - 1] & 0x80 ? 0xff : 0) : from[size - 1];
        }
        if (kind == SN_SHADOW_BITS) result |= (uint64_t)(about != 0) << lane;
        else result |= about << (lane & ~7u);
    }
    store(step->destination, result, step->size < 8 ? step->size : 8);
    for (unsigned i = 8; i < step->size; i++) *(volatile uint8_t *)&step->destination[i] = 0;
}

static void from_bits(sn_shadow_kind kind, const sn_shadow_step *step) {
    uint64_t word = load(step->sources[0], step->source_sizes[0] < 8 ? step->source_sizes[0] : 8);
    unsigned size = step->lane_size ? step->lane_size : 1;
    for (unsigned lane = 0; (lane + 1) * size <= step->size && lane < 64; lane++) {
        uint8_t about = kind == SN_SHADOW_BITS ? (word >> lane & 1 ? 0xff : 0) : (uint8_t)(word >> (lane & ~7u));
        for (unsigned i = 0; i < size; i++) *(volatile uint8_t *)&step->destination[lane * size + i] = about;
    }
}

/** Each byte of the lane depends on all of it in the sources; `from` 0: on all of these. */
static void by_wide_lanes(sn_shadow_kind kind, const sn_plan_flow *flow, const sn_shadow_step *step, unsigned lane, unsigned from) {
    for (unsigned at = 0, number = 0; at < step->size; at += lane, number++) {
        uint8_t about = 0;
        for (unsigned i = 0; i < step->source_count; i++) {
            bool whole = !from || flow->sources[i].every_lane || (number + 1) * from > step->source_sizes[i];
            about |= (uint8_t)(whole ? any_of(kind, step->sources[i], step->source_sizes[i]) : any_of(kind, step->sources[i] + number * from, from));
        }
        if (flow->kind == SN_FLOW_CONSTANT) about = 0;
        for (unsigned i = 0; i < lane && at + i < step->size; i++) *(volatile uint8_t *)&step->destination[at + i] = about;
    }
}

static void by_lanes(sn_shadow_kind kind, const sn_plan_flow *flow, const sn_shadow_step *step, const sn_shadow_values_known *values) {
    static const sn_shadow_values_known nothing;
    unsigned lane = step->lane_size ? step->lane_size : step->size;
    for (unsigned at = 0, number = 0; at < step->size; at += lane, number++) {
        uint64_t words[SN_FLOW_MOST_SOURCES];
        unsigned first = 0;
        for (unsigned i = 0; i < step->source_count; i++) {
            bool whole = !step->lane_size || !step->source_lane_size || flow->sources[i].every_lane;
            unsigned from = whole ? step->source_sizes[i] : step->source_lane_size, start = whole ? 0 : number * from;
            words[i] = start + from <= step->source_sizes[i] ? load(step->sources[i] + start, from < 8 ? from : 8) : 0;
            if (i == 0) first = from;
        }
        store(step->destination + at, lane_shadow(kind, flow, words, step->lane_size ? &nothing : values, lane, first), lane);
    }
}

/** Whether everything that is looked at together fits into a word. */
static bool has_narrow_lanes(const sn_plan_flow *flow, const sn_shadow_step *step) {
    if ((step->lane_size ? step->lane_size : step->size) > 8) return false;
    for (unsigned i = 0; i < step->source_count; i++) {
        bool whole = !step->lane_size || flow->sources[i].every_lane || !step->source_lane_size;
        if ((whole ? step->source_sizes[i] : step->source_lane_size) > 8) return false;
    }
    return true;
}

/** Texts whose first bytes are certain: what is behind their end does not matter, and that they end before what is not certain is
    taken from that the C library reads whole vectors of texts, and no others. */
static bool are_certain_texts(sn_shadow_kind kind, const sn_plan_flow *flow, const sn_shadow_step *step) {
    if (kind != SN_SHADOW_BITS || flow->special != SN_SPECIAL_TEXT_COMPARED) return false;
    for (unsigned i = 0; i < step->source_count; i++)
        if (step->source_sizes[i] == 16 && step->sources[i][0]) return false;
    return true;
}

void sn_shadow_apply(sn_shadow_kind kind, const sn_plan_flow *flow, const sn_shadow_step *step, const sn_shadow_values_known *values) {
    unsigned lane = step->lane_size ? step->lane_size : step->size;
    switch (flow->kind) {
    case SN_FLOW_SHUFFLE: by_shuffle(flow, step); return;
    case SN_FLOW_NARROW: by_narrowing(kind, flow, step); return;
    case SN_FLOW_SIGN_MASK: into_bits(kind, step, true); return;
    case SN_FLOW_LANE_BITS: into_bits(kind, step, false); return;
    case SN_FLOW_BIT_LANES: from_bits(kind, step); return;
    default: break;
    }
    if (are_certain_texts(kind, flow, step)) {
        for (unsigned i = 0; i < step->size; i++) *(volatile uint8_t *)&step->destination[i] = 0;
        return;
    }
    if (has_narrow_lanes(flow, step) && flow->kind != SN_FLOW_PERMUTE) by_lanes(kind, flow, step, values);
    else if (goes_by_bytes(flow->kind) && !step->lane_size) by_bytes(step);
    else by_wide_lanes(kind, flow, step, lane, step->lane_size ? step->source_lane_size : 0);
}

/* ---------------------------------------------------------------------------------------------------- flags */

/** Whether a - b is surely without borrow, or surely with one, and the same of signed numbers: then so are the flags. */
typedef struct certainty {
    bool unsigned_order, signed_order, inequality;
} certainty;

static certainty compared(const sn_shadow_values_known *values, const uint64_t s[2], unsigned bytes) {
    uint64_t mask = mask_of(bytes), sign = UINT64_C(1) << (8 * bytes - 1), a = values->values[0] & mask, b = values->values[1] & mask;
    certainty c = {0};
    c.inequality = ((a ^ b) & ~(s[0] | s[1]) & mask) != 0;
    for (unsigned is_signed = 0; is_signed < 2; is_signed++) {
        uint64_t flip = is_signed ? sign : 0;
        uint64_t a_least = (a ^ flip) & ~s[0] & mask, a_most = (a ^ flip) | (s[0] & mask);
        uint64_t b_least = (b ^ flip) & ~s[1] & mask, b_most = (b ^ flip) | (s[1] & mask);
        bool is_certain = a_most < b_least || a_least >= b_most;
        if (is_signed) c.signed_order = is_certain;
        else c.unsigned_order = is_certain;
    }
    return c;
}

static uint64_t result_value(unsigned class, const uint64_t *v) {
    switch (class) {
    case SN_FLOW_AND: return v[0] & v[1];
    case SN_FLOW_OR: return v[0] | v[1];
    case SN_FLOW_XOR: return v[0] ^ v[1];
    case SN_FLOW_AND_NOT: return ~v[0] & v[1];
    case SN_FLOW_ADD: return v[0] + v[1];
    case SN_FLOW_SUBTRACT: return v[0] - v[1];
    case SN_FLOW_KEEP_LOW: return v[0] & below(v[1]);
    case SN_FLOW_COPY:
    case SN_FLOW_ZERO_EXTEND: return v[0];
    default: return 0;
    }
}

static uint64_t flags_of_bits(const sn_plan_flow *flow, const sn_shadow_step *step, const sn_shadow_values_known *values, uint64_t all) {
    unsigned bytes = step->size;
    uint64_t result = load(step->destination, bytes), low = all;
    bool both = flow->source_count == 2 && (values->known & 3) == 3;
    bool is_copy = (flow->kind == SN_FLOW_COPY || flow->kind == SN_FLOW_ZERO_EXTEND) && values->known & 1;
    bool has_one = (both || is_copy) && (result_value(flow->kind, values->values) & mask_of(bytes) & ~result);
    certainty c = {0};
    if (both && flow->kind == SN_FLOW_SUBTRACT) {
        uint64_t s[2] = {load(step->sources[0], bytes), load(step->sources[1], bytes)};
        c = compared(values, s, bytes);
    }
    if (both && flow->kind == SN_FLOW_ADD && !load(step->sources[1], step->source_sizes[1] < 8 ? step->source_sizes[1] : 8))
        c.inequality = (values->values[0] ^ -values->values[1]) & ~load(step->sources[0], bytes) & mask_of(bytes);
    uint64_t flags = 0;
    if (!c.unsigned_order) flags |= UINT64_C(1);                                     /* carry */
    if (result & 0xff) flags |= UINT64_C(1) << 8;                                    /* parity */
    if (low & 0x1f) flags |= UINT64_C(1) << 16;                                      /* adjust */
    if (result && !has_one && !c.inequality) flags |= UINT64_C(1) << 24;             /* zero */
    if (result >> (8 * bytes - 1) & 1 && !c.signed_order) flags |= UINT64_C(1) << 32; /* sign */
    if (!c.signed_order) flags |= UINT64_C(1) << 40;                                 /* overflow */
    return flags;
}

uint64_t sn_shadow_flags_of(sn_shadow_kind kind, const sn_plan_flow *flow, const sn_shadow_step *step, const sn_shadow_values_known *values) {
    uint64_t all = 0, whole = 0;
    if (flow->kind == SN_FLOW_CONSTANT || flow->kind == SN_FLOW_UNDEFINED) return 0;
    for (unsigned i = 0; i < step->source_count; i++) {
        all |= load(step->sources[i], step->source_sizes[i] < 8 ? step->source_sizes[i] : 8);
        whole |= any_of(kind, step->sources[i], step->source_sizes[i]);
    }
    if (!whole || are_certain_texts(kind, flow, step)) return 0;
    if (kind == SN_SHADOW_LABELS) return whole * EVERY_BYTE;
    bool is_sharp = !step->lane_size && step->size <= 8 && flow->kind != SN_FLOW_ANY && flow->kind != SN_FLOW_BIT;
    if (flow->kind == SN_FLOW_BIT && step->size <= 8 && (flow->amount != SN_FLOW_VARIABLE || (values->known & 2 && flow->source_count > 1))) {
        uint64_t number = flow->amount != SN_FLOW_VARIABLE ? flow->amount : values->values[1] % (8 * step->size);
        bool is_clean = flow->source_count < 2 || !load(step->sources[1], step->source_sizes[1]);
        return is_clean && !(load(step->sources[0], step->size) >> number & 1) ? 0 : EVERY_BYTE;
    }
    return is_sharp ? flags_of_bits(flow, step, values, all) : EVERY_BYTE;
}
