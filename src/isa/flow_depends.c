/**
 * @fileoverview sn_flow_depends(): what the classes of <sonde/flow.h> mean, bit by bit.
 *
 * The meaning that tools' recipes must respect, and what the test of the tables against the processor asks. Knows nothing of
 * any instruction.
 */
#include "isa/isa.h"
#include "sonde/flow.h"

enum { NO_LANE = -1 };

static const char *const class_names[SN_FLOW_CLASSES] = {
    [SN_FLOW_ANY] = "any",
    [SN_FLOW_CONSTANT] = "constant",
    [SN_FLOW_UNDEFINED] = "undefined",
    [SN_FLOW_COPY] = "copy",
    [SN_FLOW_ZERO_EXTEND] = "zero-extend",
    [SN_FLOW_SIGN_EXTEND] = "sign-extend",
    [SN_FLOW_TRUNCATE] = "truncate",
    [SN_FLOW_AND] = "and",
    [SN_FLOW_OR] = "or",
    [SN_FLOW_XOR] = "xor",
    [SN_FLOW_NOT] = "not",
    [SN_FLOW_AND_NOT] = "and-not",
    [SN_FLOW_BITWISE] = "bitwise",
    [SN_FLOW_ADD] = "add",
    [SN_FLOW_SUBTRACT] = "subtract",
    [SN_FLOW_MULTIPLY] = "multiply",
    [SN_FLOW_UPWARD] = "upward",
    [SN_FLOW_SHIFT_LEFT] = "shift-left",
    [SN_FLOW_SHIFT_RIGHT] = "shift-right",
    [SN_FLOW_SHIFT_ARITHMETIC] = "shift-arithmetic",
    [SN_FLOW_ROTATE_LEFT] = "rotate-left",
    [SN_FLOW_ROTATE_RIGHT] = "rotate-right",
    [SN_FLOW_FUNNEL_LEFT] = "funnel-left",
    [SN_FLOW_FUNNEL_RIGHT] = "funnel-right",
    [SN_FLOW_BIT] = "bit",
    [SN_FLOW_KEEP_LOW] = "keep-low",
    [SN_FLOW_EXTRACT_BITS] = "extract-bits",
    [SN_FLOW_TRAILING_ZEROS] = "trailing-zeros",
    [SN_FLOW_LEADING_ZEROS] = "leading-zeros",
    [SN_FLOW_EQUAL] = "equal",
    [SN_FLOW_GREATER] = "greater",
    [SN_FLOW_MINIMUM] = "minimum",
    [SN_FLOW_MAXIMUM] = "maximum",
    [SN_FLOW_SHUFFLE] = "shuffle",
    [SN_FLOW_PERMUTE] = "permute",
    [SN_FLOW_NARROW] = "narrow",
    [SN_FLOW_SIGN_MASK] = "sign-mask",
    [SN_FLOW_LANE_BITS] = "lane-bits",
    [SN_FLOW_BIT_LANES] = "bit-lanes",
    [SN_FLOW_TOLD] = "told",
};

const char *sn_flow_class_name(unsigned class) { return class < SN_FLOW_CLASSES ? class_names[class] : "?"; }

/** One question: source bit and destination bit, within the lanes that they are in. */
typedef struct question {
    const sn_flow *flow;
    const sn_operand *operands;
    unsigned source;
    unsigned from, to;         /**< bits of the whole pieces */
    unsigned lane_from, lane_to;     /**< bits within their lanes */
    unsigned from_bits, to_bits;     /**< bits of a lane */
} question;

static bool is_immediate(const question *q, unsigned source) {
    const sn_flow_piece *piece = &q->flow->sources[source];
    return piece->operand == SN_FLOW_NO_OPERAND || q->operands[piece->operand].place == SN_PLACE_IMMEDIATE;
}

/** A bit of an immediate source; lanes all use it. */
static bool immediate_bit(const question *q, unsigned source, unsigned bit) {
    const sn_flow_piece *piece = &q->flow->sources[source];
    uint64_t value = piece->operand == SN_FLOW_NO_OPERAND ? q->flow->constant
                                                          : (uint64_t)q->operands[piece->operand].immediate;
    return value >> (bit < 63 ? bit : 63) & 1;
}

/* ----------------------------------------------------------------- classes by place */

/** And with an immediate zero, or with an immediate one: nothing comes through. */
static bool logical(const question *q) {
    if (q->lane_from != q->lane_to) return false;
    for (unsigned i = 0; i < q->flow->source_count; i++) {
        if (i == q->source || !is_immediate(q, i)) continue;
        bool bit = immediate_bit(q, i, q->lane_to);
        if (q->flow->kind == SN_FLOW_AND && !bit) return false;
        if (q->flow->kind == SN_FLOW_OR && bit) return false;
    }
    return true;
}

static bool sum(const question *q) {
    unsigned shift = q->source == 1 && q->flow->kind == SN_FLOW_ADD ? q->flow->scale_shift : 0;
    return q->lane_from + shift <= q->lane_to;
}

static bool shifted(const question *q) {
    if (q->source != 0) return true;
    unsigned from = q->lane_from, to = q->lane_to, amount = q->flow->amount;
    if (amount == SN_FLOW_VARIABLE) {
        switch (q->flow->kind) {
        case SN_FLOW_SHIFT_LEFT: return from <= to;
        case SN_FLOW_SHIFT_RIGHT:
        case SN_FLOW_SHIFT_ARITHMETIC: return from >= to;
        default: return true;
        }
    }
    switch (q->flow->kind) {
    case SN_FLOW_SHIFT_LEFT: return from + amount == to;
    case SN_FLOW_SHIFT_RIGHT: return to + amount == from;
    case SN_FLOW_SHIFT_ARITHMETIC: return to + amount == from || (to + amount >= q->to_bits && from == q->to_bits - 1);
    case SN_FLOW_ROTATE_LEFT: return (from + amount) % q->to_bits == to;
    default: return (to + amount) % q->to_bits == from;
    }
}

static bool funnelled(const question *q) {
    unsigned from = q->lane_from, to = q->lane_to, amount = q->flow->amount, bits = q->to_bits;
    if (amount == SN_FLOW_VARIABLE || q->source > 1) return true;
    if (q->flow->kind == SN_FLOW_FUNNEL_LEFT) return from + amount == (q->source == 0 ? to : to + bits);
    return from + (q->source == 0 ? 0 : bits) == to + amount;
}

static bool extended(const question *q) {
    return q->lane_from == q->lane_to ||
           (q->flow->kind == SN_FLOW_SIGN_EXTEND && q->lane_from == q->from_bits - 1 && q->lane_to >= q->from_bits);
}

static bool permuted(const question *q) {
    unsigned element = 8u * q->flow->element_size;
    bool is_control = q->source == q->flow->source_count - 1u;
    if (is_control) return q->flow->sources[q->source].every_lane || q->from / element == q->to / element;
    return q->from % element == q->to % element;
}

unsigned sn_flow_choice(const sn_flow *flow, uint64_t control) {
    unsigned lane = flow->lane_size ? flow->lane_size : flow->destination.size;
    unsigned count = lane / flow->element_size * (flow->source_count - 1u); /* a power of two */
    if (flow->zeroes && control >> (8 * flow->element_size - 1) & 1) return SN_FLOW_ZERO_BYTE;
    return (unsigned)(control >> flow->scale_shift) & (count - 1);
}

/** The number of a bit of a source in the sources laid end to end. */
static unsigned laid_out(const question *q) {
    unsigned bit = q->from;
    for (unsigned i = 0; i < q->source; i++) bit += 8u * q->flow->sources[i].size;
    return bit;
}

static bool shuffled(const question *q) {
    uint8_t byte = q->flow->table[q->to / 8];
    return byte != SN_FLOW_ZERO_BYTE && laid_out(q) == 8u * byte + q->to % 8;
}

static bool narrowed(const question *q) {
    unsigned start = 8u * q->flow->table[q->to / (8u * q->flow->lane_size)], bit = laid_out(q);
    return bit >= start && bit < start + 8u * q->flow->source_lane_size;
}

/* --------------------------------------------------------------------------- lanes */

/** Put the bits into their lanes; false when these do not belong together. */
static bool enter_lanes(question *q) {
    const sn_flow *flow = q->flow;
    if (flow->kind == SN_FLOW_ANY && !flow->lane_size) return true; /* also of what varies in size */
    unsigned lane = flow->lane_size, source_lane = flow->source_lane_size ? flow->source_lane_size : lane;
    q->to_bits = 8u * (lane ? lane : flow->destination.size);
    q->from_bits = 8u * (lane ? source_lane : flow->sources[q->source].size);
    q->lane_to = q->to % q->to_bits;
    q->lane_from = q->from;
    if (flow->sources[q->source].every_lane) {
        q->from_bits = 8u * flow->sources[q->source].size;
        return true;
    }
    if (flow->sources[q->source].flags) {
        q->lane_from = 0;
        return true;
    }
    q->lane_from = q->from % q->from_bits;
    return !lane || q->to / q->to_bits == q->from / q->from_bits;
}

static bool depends_in_lane(const question *q) {
    switch (q->flow->kind) {
    case SN_FLOW_COPY:
    case SN_FLOW_NOT:
    case SN_FLOW_XOR:
    case SN_FLOW_TRUNCATE:
    case SN_FLOW_BITWISE: return q->lane_from == q->lane_to;
    case SN_FLOW_ZERO_EXTEND:
    case SN_FLOW_SIGN_EXTEND: return extended(q);
    case SN_FLOW_AND:
    case SN_FLOW_OR:
    case SN_FLOW_AND_NOT: return logical(q);
    case SN_FLOW_ADD:
    case SN_FLOW_SUBTRACT:
    case SN_FLOW_UPWARD:
    case SN_FLOW_MULTIPLY: return sum(q);
    case SN_FLOW_EXTRACT_BITS: return q->source == 0 ? q->lane_from >= q->lane_to : q->from < 16;
    case SN_FLOW_KEEP_LOW: return q->source == 0 ? q->lane_from == q->lane_to : q->from < 8;
    case SN_FLOW_SHIFT_LEFT:
    case SN_FLOW_SHIFT_RIGHT:
    case SN_FLOW_SHIFT_ARITHMETIC:
    case SN_FLOW_ROTATE_LEFT:
    case SN_FLOW_ROTATE_RIGHT: return shifted(q);
    case SN_FLOW_FUNNEL_LEFT:
    case SN_FLOW_FUNNEL_RIGHT: return funnelled(q);
    case SN_FLOW_PERMUTE: return permuted(q);
    default: return true;
    }
}

static bool depends_on_value(question *q) {
    const sn_flow *flow = q->flow;
    switch (flow->kind) {
    case SN_FLOW_CONSTANT:
    case SN_FLOW_UNDEFINED: return false;
    case SN_FLOW_SHUFFLE: return shuffled(q);
    case SN_FLOW_NARROW: return narrowed(q);
    case SN_FLOW_SIGN_MASK: return q->from == q->to * 8u * flow->source_lane_size + 8u * flow->source_lane_size - 1;
    case SN_FLOW_LANE_BITS: return flow->sources[q->source].every_lane || q->from / (8u * flow->source_lane_size) == q->to;
    case SN_FLOW_BIT_LANES: return q->to / (8u * flow->lane_size) == q->from;
    default: return enter_lanes(q) && depends_in_lane(q);
    }
}

/* --------------------------------------------------------------------------- flags */

/** The width, in bits, that flags are computed in. */
static unsigned result_bits(const sn_flow *flow) {
    unsigned most = 0;
    for (unsigned i = 0; i < flow->source_count; i++)
        if (!flow->sources[i].flags && flow->sources[i].size > most) most = flow->sources[i].size;
    return 8 * most;
}

/** Whether bit `to` of the result depends on the source bit. */
static bool result_depends(const question *asked, unsigned to) {
    question q = *asked;
    q.to = q.lane_to = to;
    q.to_bits = result_bits(q.flow);
    q.from_bits = 8u * q.flow->sources[q.source].size;
    q.lane_from = q.flow->sources[q.source].flags ? 0 : q.from;
    return depends_in_lane(&q);
}

static bool any_result_depends(const question *q, unsigned from, unsigned to) {
    for (unsigned bit = from; bit < to; bit++)
        if (result_depends(q, bit)) return true;
    return false;
}

static bool is_shift(const sn_flow *flow) {
    return flow->kind >= SN_FLOW_SHIFT_LEFT && flow->kind <= SN_FLOW_FUNNEL_RIGHT;
}

static bool last_bit_out(const question *q) {
    unsigned amount = q->flow->amount, bits = result_bits(q->flow);
    if (amount == SN_FLOW_VARIABLE) return true;
    if (q->source != 0) return false;
    switch (q->flow->kind) {
    case SN_FLOW_FUNNEL_LEFT:
    case SN_FLOW_SHIFT_LEFT: return amount <= bits && q->from == bits - amount;
    case SN_FLOW_FUNNEL_RIGHT:
    case SN_FLOW_SHIFT_RIGHT: return q->from == amount - 1;
    case SN_FLOW_SHIFT_ARITHMETIC: return q->from == (amount <= bits ? amount : bits) - 1;
    case SN_FLOW_ROTATE_LEFT: return q->from == (bits - amount % bits) % bits;
    default: return q->from == (amount + bits - 1) % bits;
    }
}

static bool flag_depends(const question *q) {
    enum { PARITY_BITS = 8, ADJUST_BITS = 5 };
    const sn_flow *flow = q->flow;
    unsigned bits = result_bits(flow);
    if (flow->kind == SN_FLOW_CONSTANT || flow->kind == SN_FLOW_UNDEFINED) return false;
    if (flow->kind == SN_FLOW_ANY) return true;
    if (flow->kind == SN_FLOW_NOT) return q->to == q->from; /* a flag of itself */
    if (flow->kind == SN_FLOW_BIT) return q->source != 0 || flow->amount == SN_FLOW_VARIABLE || q->from == flow->amount;
    switch (1u << q->to) {
    case SN_FLOW_FLAG_ZERO: return any_result_depends(q, 0, bits);
    case SN_FLOW_FLAG_SIGN: return result_depends(q, bits - 1);
    case SN_FLOW_FLAG_PARITY: return any_result_depends(q, 0, PARITY_BITS);
    case SN_FLOW_FLAG_ADJUST: return any_result_depends(q, 0, ADJUST_BITS);
    case SN_FLOW_FLAG_CARRY: return is_shift(flow) ? last_bit_out(q) : any_result_depends(q, 0, bits);
    default: return true;
    }
}

/* --------------------------------------------------------------------------- guard */

static bool condition_matters(const sn_flow_guard *guard, unsigned from, unsigned to) {
    unsigned bits = guard->lane_size ? 8u * guard->lane_size : 1;
    switch (guard->kind) {
    case SN_GUARD_MASK: return from == to / bits;
    case SN_GUARD_HIGH_BITS: return from == to / bits * bits + bits - 1;
    case SN_GUARD_NOT_ZERO: return true;
    case SN_GUARD_CONDITION: return !guard->condition.flags || guard->condition.flags >> from & 1;
    case SN_GUARD_COUNT: return guard->count_mask >> (from < 16 ? from : 15) & 1;
    default: return false;
    }
}

bool sn_flow_depends(const sn_flow *flow, const sn_operand *operands, unsigned source, unsigned source_bit,
                     unsigned destination_bit) {
    if (flow->destination.flags && !(flow->destination.flags >> destination_bit & 1)) return false;
    if (source == SN_FLOW_FROM_CONDITION) return condition_matters(&flow->guard, source_bit, destination_bit);
    if (source == SN_FLOW_FROM_OTHERWISE) return flow->guard.kind != SN_GUARD_NONE && source_bit == destination_bit;
    if (source >= flow->source_count) return false;
    uint8_t flags = flow->sources[source].flags;
    if (flags && !(flags >> source_bit & 1)) return false;
    question q = {.flow = flow, .operands = operands, .source = source, .from = source_bit, .to = destination_bit};
    return flow->destination.flags ? flag_depends(&q) : depends_on_value(&q);
}
