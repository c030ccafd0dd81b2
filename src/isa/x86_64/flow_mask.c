/**
 * @fileoverview The data flow between lanes and bits: instructions on mask registers, compares into them, masks of signs.
 * A table by mnemonic, and what turns its rows into flows.
 *
 * Effects are those of the Intel SDM, volume 2, at each instruction. A mask register is 8 bytes; an instruction uses as many of
 * them as its row says and clears the rest.
 */
#include "flowing.h"

enum {
    SHAPE_NONE,
    SHAPE_MOVE,
    SHAPE_LOGIC,     /**< of two masks */
    SHAPE_NOT,
    SHAPE_SHIFT,
    SHAPE_UNPACK,
    SHAPE_TEST,
    SHAPE_OR_TEST,
    SHAPE_COMPARE,   /**< lanes into bits; `class` is what is asked of a lane */
    SHAPE_PREDICATE, /**< the same with a constant that says what is asked: equality or another relation */
    SHAPE_LOWEST,    /**< the lowest lane into a bit */
    SHAPE_SIGNS,
    SHAPE_FILL,      /**< bits into lanes */
    SHAPE_REPEAT,    /**< the mask's low bytes into each lane */
    SHAPES,
};

static const sn_operand *first(const sn_flowing *f) { return sn_flow_operand(f, 0); }

static sn_flow_piece mask_piece(const sn_flowing *f, unsigned argument, unsigned size) {
    return sn_flow_part_of(f->arguments[argument], 0, size);
}

/** Masks are shorter than their operands say. */
static void clear_mask(sn_flowing *f, unsigned size) {
    if (size < SN_MASK_BYTES)
        sn_flow_to(f, SN_FLOW_CONSTANT, sn_flow_part_of(f->arguments[0], size, SN_MASK_BYTES - size));
}

/* --------------------------------------------------------------------------- masks */

static bool add_move(sn_flowing *f, const sn_flow_rule *rule) {
    unsigned width = rule->lane, size = first(f)->size;
    sn_flow_piece from = mask_piece(f, 1, width);
    if (first(f)->place == SN_PLACE_MASK) {
        sn_flow_of(f, SN_FLOW_COPY, mask_piece(f, 0, width), from);
        clear_mask(f, width);
        return true;
    }
    sn_flow_of(f, size > width ? SN_FLOW_ZERO_EXTEND : SN_FLOW_COPY, sn_flow_first(f), from);
    sn_flow_clear_rest(f, f->arguments[0]);
    return true;
}

static bool add_same(sn_flowing *f, const sn_flow_rule *rule) {
    bool ones = rule->kind == SN_FLOW_BITWISE;
    if (rule->kind != SN_FLOW_XOR && rule->kind != SN_FLOW_AND_NOT && !ones) return false;
    sn_flow_to(f, SN_FLOW_CONSTANT, mask_piece(f, 0, rule->lane))->constant = ones ? UINT64_MAX : 0;
    clear_mask(f, rule->lane);
    return true;
}

static bool add_logic(sn_flowing *f, const sn_flow_rule *rule) {
    if (sn_flow_same_vector(f, 1, 2) && add_same(f, rule)) return true;
    sn_flow *flow = sn_flow_of(f, rule->kind, mask_piece(f, 0, rule->lane), mask_piece(f, 1, rule->lane));
    sn_flow_from(flow, mask_piece(f, 2, rule->lane));
    clear_mask(f, rule->lane);
    return true;
}

static bool add_not(sn_flowing *f, const sn_flow_rule *rule) {
    sn_flow_of(f, rule->kind, mask_piece(f, 0, rule->lane), mask_piece(f, 1, rule->lane));
    clear_mask(f, rule->lane);
    return true;
}

static bool add_shift(sn_flowing *f, const sn_flow_rule *rule) {
    sn_flow *flow = sn_flow_of(f, rule->kind, mask_piece(f, 0, rule->lane), mask_piece(f, 1, rule->lane));
    flow->amount = (uint16_t)sn_flow_immediate(f);
    clear_mask(f, rule->lane);
    return true;
}

/** The last source below, the other above it. */
static bool add_unpack(sn_flowing *f, const sn_flow_rule *rule) {
    unsigned half = rule->lane / 2;
    for (unsigned i = 0; i < 2; i++)
        sn_flow_of(f, rule->kind, sn_flow_part_of(f->arguments[0], i * half, half), mask_piece(f, 2 - i, half));
    clear_mask(f, rule->lane);
    return true;
}

static bool test(sn_flowing *f, const sn_flow_rule *rule, unsigned zero_class, unsigned carry_class) {
    const struct {
        uint8_t flag;
        unsigned kind;
    } flags[] = {{SN_FLOW_FLAG_ZERO, zero_class}, {SN_FLOW_FLAG_CARRY, carry_class}};
    for (unsigned i = 0; i < 2; i++) {
        sn_flow *flow = sn_flow_to(f, flags[i].kind, sn_flow_flags_piece(f, flags[i].flag));
        for (unsigned k = 0; k < 2; k++) sn_flow_from(flow, mask_piece(f, k, rule->lane));
    }
    sn_flow_flags_constant(f, SN_FLOW_FLAG_PARITY | SN_FLOW_FLAG_ADJUST | SN_FLOW_FLAG_SIGN | SN_FLOW_FLAG_OVERFLOW);
    return true;
}

static bool add_test(sn_flowing *f, const sn_flow_rule *rule) { return test(f, rule, SN_FLOW_AND, SN_FLOW_AND_NOT); }
static bool add_or_test(sn_flowing *f, const sn_flow_rule *rule) { return test(f, rule, SN_FLOW_OR, SN_FLOW_OR); }

/* -------------------------------------------------------------------- lanes and bits */

/** A register and itself: equal everywhere, or greater nowhere. */
static bool compare_same(sn_flowing *f, unsigned count, bool is_equal) {
    uint64_t all = count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
    sn_flow *flow = sn_flow_to(f, SN_FLOW_CONSTANT, mask_piece(f, 0, SN_MASK_BYTES));
    flow->constant = is_equal ? all : 0;
    sn_flow_apply_mask(f, flow);
    return true;
}

static bool compare(sn_flowing *f, unsigned lane, unsigned lane_class, unsigned size) {
    if (first(f)->place != SN_PLACE_MASK) return false;
    sn_flow *flow = sn_flow_to(f, SN_FLOW_LANE_BITS, mask_piece(f, 0, SN_MASK_BYTES));
    flow->lane_class = (uint8_t)lane_class;
    flow->source_lane_size = (uint8_t)lane;
    for (unsigned i = 1; i < f->argument_count; i++) {
        const sn_operand *operand = sn_flow_operand(f, i);
        if (operand->place == SN_PLACE_IMMEDIATE) continue;
        sn_flow_from(flow, sn_flow_vector_source(f, i, size));
        flow->is_float |= operand->is_float;
    }
    sn_flow_apply_mask(f, flow);
    return true;
}

static bool add_compare(sn_flowing *f, const sn_flow_rule *rule) {
    bool is_equality = rule->kind == SN_FLOW_EQUAL, is_order = rule->kind == SN_FLOW_GREATER;
    if ((is_equality || is_order) && first(f)->place == SN_PLACE_MASK && sn_flow_same_vector(f, 1, 2))
        return compare_same(f, f->z.avx.vector_length / 8u / rule->lane, is_equality);
    return compare(f, rule->lane, rule->kind, f->z.avx.vector_length / 8u);
}

/** Whole numbers: constants 0 and 4 ask whether two are equal, or not. Of a number and itself 0, 2, 5 and 7 are true. */
static bool add_predicate(sn_flowing *f, const sn_flow_rule *rule) {
    enum { TRUE_OF_SAME = 1 << 0 | 1 << 2 | 1 << 5 | 1 << 7 };
    unsigned predicate = sn_flow_immediate(f) & 7;
    bool is_equality = (predicate & 3) == 0;
    if (sn_flow_same_vector(f, 1, 2))
        return compare_same(f, f->z.avx.vector_length / 8u / rule->lane, TRUE_OF_SAME >> predicate & 1);
    return compare(f, rule->lane, is_equality ? SN_FLOW_EQUAL : SN_FLOW_ANY, f->z.avx.vector_length / 8u);
}

static bool add_lowest(sn_flowing *f, const sn_flow_rule *rule) { return compare(f, rule->lane, rule->kind, rule->lane); }

static bool add_signs(sn_flowing *f, const sn_flow_rule *rule) {
    const sn_operand *from = sn_flow_operand(f, 1);
    sn_flow *flow = sn_flow_of(f, rule->kind, sn_flow_first(f), sn_flow_whole(f, f->arguments[1]));
    flow->source_lane_size = rule->lane;
    flow->sources[0].size = (uint16_t)(f->z.avx.vector_length ? f->z.avx.vector_length / 8u : from->size);
    sn_flow_clear_rest(f, f->arguments[0]);
    return true;
}

static bool add_fill(sn_flowing *f, const sn_flow_rule *rule) {
    sn_flow *flow = sn_flow_of(f, rule->kind, sn_flow_first(f), mask_piece(f, 1, SN_MASK_BYTES));
    flow->lane_size = rule->lane;
    sn_flow_clear_rest(f, f->arguments[0]);
    return true;
}

static bool add_repeat(sn_flowing *f, const sn_flow_rule *rule) {
    sn_flow_piece from = mask_piece(f, 1, rule->source_lane);
    from.every_lane = true;
    sn_flow *flow = sn_flow_of(f, rule->kind, sn_flow_first(f), from);
    flow->lane_size = rule->lane;
    flow->source_lane_size = rule->source_lane;
    sn_flow_clear_rest(f, f->arguments[0]);
    return true;
}

/* --------------------------------------------------------------------------- table */

typedef bool shape_function(sn_flowing *f, const sn_flow_rule *rule);

static shape_function *const shapes[SHAPES] = {
    [SHAPE_MOVE] = add_move,
    [SHAPE_LOGIC] = add_logic,
    [SHAPE_NOT] = add_not,
    [SHAPE_SHIFT] = add_shift,
    [SHAPE_UNPACK] = add_unpack,
    [SHAPE_TEST] = add_test,
    [SHAPE_OR_TEST] = add_or_test,
    [SHAPE_COMPARE] = add_compare,
    [SHAPE_PREDICATE] = add_predicate,
    [SHAPE_LOWEST] = add_lowest,
    [SHAPE_SIGNS] = add_signs,
    [SHAPE_FILL] = add_fill,
    [SHAPE_REPEAT] = add_repeat,
};

#define ROW(name, shape_name, class_name, lane_bytes, source_bytes)                                  \
    [ZYDIS_MNEMONIC_##name] = {.shape = SHAPE_##shape_name, .kind = SN_FLOW_##class_name,           \
                               .lane = (lane_bytes), .source_lane = (source_bytes)}
#define EACH_WIDTH(name, shape_name, class_name)                                                     \
    ROW(name##B, shape_name, class_name, 1, 0), ROW(name##W, shape_name, class_name, 2, 0),          \
        ROW(name##D, shape_name, class_name, 4, 0), ROW(name##Q, shape_name, class_name, 8, 0)
#define EACH_FLOAT(name, shape_name, class_name)                                                     \
    ROW(name##H, shape_name, class_name, 2, 0), ROW(name##S, shape_name, class_name, 4, 0),          \
        ROW(name##D, shape_name, class_name, 8, 0)

static const sn_flow_rule rules[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
    EACH_WIDTH(KMOV, MOVE, COPY),
    EACH_WIDTH(KAND, LOGIC, AND),
    EACH_WIDTH(KANDN, LOGIC, AND_NOT),
    EACH_WIDTH(KOR, LOGIC, OR),
    EACH_WIDTH(KXOR, LOGIC, XOR),
    EACH_WIDTH(KXNOR, LOGIC, BITWISE),
    EACH_WIDTH(KADD, LOGIC, ADD),
    EACH_WIDTH(KNOT, NOT, NOT),
    EACH_WIDTH(KSHIFTL, SHIFT, SHIFT_LEFT),
    EACH_WIDTH(KSHIFTR, SHIFT, SHIFT_RIGHT),
    EACH_WIDTH(KTEST, TEST, AND),
    EACH_WIDTH(KORTEST, OR_TEST, OR),
    ROW(KUNPCKBW, UNPACK, COPY, 2, 0),
    ROW(KUNPCKWD, UNPACK, COPY, 4, 0),
    ROW(KUNPCKDQ, UNPACK, COPY, 8, 0),
    EACH_WIDTH(VPCMPEQ, COMPARE, EQUAL),
    EACH_WIDTH(VPCMPGT, COMPARE, GREATER),
    EACH_WIDTH(VPTESTM, COMPARE, AND),
    EACH_WIDTH(VPTESTNM, COMPARE, AND),
    EACH_WIDTH(VPCMP, PREDICATE, ANY),
    EACH_WIDTH(VPCMPU, PREDICATE, ANY),
    EACH_FLOAT(VCMPP, COMPARE, ANY),
    EACH_FLOAT(VFPCLASSP, COMPARE, ANY),
    EACH_FLOAT(VCMPS, LOWEST, ANY),
    EACH_FLOAT(VFPCLASSS, LOWEST, ANY),
    ROW(PMOVMSKB, SIGNS, SIGN_MASK, 1, 0),
    ROW(VPMOVMSKB, SIGNS, SIGN_MASK, 1, 0),
    ROW(MOVMSKPS, SIGNS, SIGN_MASK, 4, 0),
    ROW(VMOVMSKPS, SIGNS, SIGN_MASK, 4, 0),
    ROW(MOVMSKPD, SIGNS, SIGN_MASK, 8, 0),
    ROW(VMOVMSKPD, SIGNS, SIGN_MASK, 8, 0),
    ROW(VPMOVB2M, SIGNS, SIGN_MASK, 1, 0),
    ROW(VPMOVW2M, SIGNS, SIGN_MASK, 2, 0),
    ROW(VPMOVD2M, SIGNS, SIGN_MASK, 4, 0),
    ROW(VPMOVQ2M, SIGNS, SIGN_MASK, 8, 0),
    ROW(VPMOVM2B, FILL, BIT_LANES, 1, 0),
    ROW(VPMOVM2W, FILL, BIT_LANES, 2, 0),
    ROW(VPMOVM2D, FILL, BIT_LANES, 4, 0),
    ROW(VPMOVM2Q, FILL, BIT_LANES, 8, 0),
    ROW(VPBROADCASTMB2Q, REPEAT, ZERO_EXTEND, 8, 1),
    ROW(VPBROADCASTMW2D, REPEAT, ZERO_EXTEND, 4, 2),
};

bool sn_flow_mask(sn_flowing *f) {
    const sn_flow_rule *rule = &rules[f->z.mnemonic];
    if (rule->shape == SHAPE_NONE || f->argument_count < 2) return false;
    f->count = 0;
    if (shapes[rule->shape](f, rule)) return true;
    f->count = 0;
    return false;
}
