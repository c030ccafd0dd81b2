/**
 * @fileoverview The data flow of instructions on general registers, flags and the stack: a table by mnemonic, and what turns
 * its rows into flows.
 *
 * Effects are those of the Intel SDM, volume 2, at each instruction; where it leaves a flag undefined, so does the list.
 */
#include "flowing.h"

enum { NUMBER_RSP = 4, NUMBER_RBP = 5, NUMBER_RSI = 6, NUMBER_RDI = 7 };

/** What makes flows of a row. The instruction's own operands in the order of the assembly text are first, second, ... */
enum {
    SHAPE_NONE,
    SHAPE_NOTHING,     /**< writes nothing that has a shadow */
    SHAPE_ANY,         /**< left to the rule for all */
    SHAPE_TELL,        /**< registers that are not named <- class(registers that are not named) */
    SHAPE_MOVE,        /**< first <- second, as it is */
    SHAPE_EXTEND,      /**< first <- class(second), which is shorter */
    SHAPE_WIDEN,       /**< the accumulator into itself or the data register */
    SHAPE_SIGN_FILL,
    SHAPE_SWAP_BYTES,
    SHAPE_EXCHANGE,
    SHAPE_ADD_EXCHANGE,
    SHAPE_COMPARE_EXCHANGE,
    SHAPE_BINARY,      /**< first <- class(first, second), and flags */
    SHAPE_CARRY,       /**< the same with a flag */
    SHAPE_COMPARE,     /**< flags only */
    SHAPE_NOT,
    SHAPE_NEGATE,
    SHAPE_BY_ONE,      /**< inc, dec */
    SHAPE_AND_NOT,     /**< first <- class(second, third), and flags */
    SHAPE_EXTRACT,     /**< the same of a field of bits */
    SHAPE_LOWEST_BIT,  /**< first <- class(second), and flags */
    SHAPE_ADDRESS,     /**< lea */
    SHAPE_MULTIPLY,
    SHAPE_MULTIPLY_WIDE, /**< to two registers, without flags */
    SHAPE_SHIFT,       /**< first by second, and flags */
    SHAPE_ROTATE,
    SHAPE_ROTATE_CARRY,
    SHAPE_SHIFT_PLAIN, /**< first <- second by third, without flags */
    SHAPE_DOUBLE_SHIFT,
    SHAPE_BIT_TEST,
    SHAPE_BIT_CHANGE,
    SHAPE_COUNT_ZEROS,
    SHAPE_SCAN,
    SHAPE_SET,         /**< setcc */
    SHAPE_CONDITIONAL_MOVE,
    SHAPE_PUSH,
    SHAPE_POP,
    SHAPE_CALL,
    SHAPE_RETURN,
    SHAPE_ENTER,
    SHAPE_LEAVE,
    SHAPE_PUSH_FLAGS,
    SHAPE_POP_FLAGS,
    SHAPE_LOAD_FLAGS,  /**< lahf */
    SHAPE_STORE_FLAGS, /**< sahf */
    SHAPE_INVERT_CARRY,
    SHAPE_STRING_MOVE,
    SHAPE_STRING_COMPARE,
    SHAPE_LOOP,
    SHAPES,
};

/* ------------------------------------------------------------------------ operands */

static const sn_operand *argument(const sn_flowing *f, unsigned number) {
    return number < f->argument_count ? sn_flow_operand(f, number) : NULL;
}

static sn_flow_piece piece(const sn_flowing *f, unsigned number) { return sn_flow_whole(f, f->arguments[number]); }

/** An operand as a source of an operation on `size` bytes. */
static sn_flow_piece source(const sn_flowing *f, unsigned number, unsigned size) {
    sn_flow_piece whole = piece(f, number);
    if (argument(f, number)->place == SN_PLACE_IMMEDIATE) whole.size = (uint16_t)size;
    return whole;
}

/** First operand of a place and role, without those of the assembly text if so wanted. */
static uint8_t find(const sn_flowing *f, uint8_t place, uint8_t role, bool hidden) {
    for (uint8_t i = 0; i < f->operand_count; i++) {
        const sn_operand *operand = &f->operands[i];
        if (operand->place == place && (operand->role & role) == role && !(hidden && operand->is_explicit)) return i;
    }
    return SN_NO_ARGUMENT;
}

static uint8_t find_hidden_register(const sn_flowing *f, uint8_t number, uint8_t role) {
    for (uint8_t i = 0; i < f->operand_count; i++) {
        const sn_operand *operand = &f->operands[i];
        if (operand->place == SN_PLACE_GENERAL && operand->reg == number && operand->role & role && !operand->is_explicit)
            return i;
    }
    return SN_NO_ARGUMENT;
}

static uint8_t find_memory(const sn_flowing *f, uint8_t base) {
    for (uint8_t i = 0; i < f->operand_count; i++)
        if (f->operands[i].place == SN_PLACE_MEMORY && f->operands[i].base == base) return i;
    return SN_NO_ARGUMENT;
}

static bool is_ordinary(const sn_operand *operand) {
    return operand && operand->place != SN_PLACE_CONTROL && operand->role != SN_ROLE_ADDRESS && operand->size;
}

static bool are_same_register(const sn_operand *a, const sn_operand *b) {
    return a->place == SN_PLACE_GENERAL && b->place == SN_PLACE_GENERAL && a->reg == b->reg && a->size == b->size &&
           a->displacement == b->displacement;
}

/* --------------------------------------------------------------------------- flags */

/** The flags that the instruction makes of its result, by the same class and sources; and what else becomes of flags. */
static void add_flags(sn_flowing *f, const sn_flow *model) {
    sn_flow_flag_use use = sn_flow_flags_of(f);
    if (use.result) {
        sn_flow kept = *model;
        sn_flow *flow = sn_flow_to(f, kept.kind, sn_flow_flags_piece(f, use.result));
        kept.destination = flow->destination;
        *flow = kept;
    }
    sn_flow_flags_constant(f, use.constant);
    sn_flow_flags_undefined(f, use.undefined);
}

static sn_flow *to_first(sn_flowing *f, unsigned class) { return sn_flow_to(f, class, piece(f, 0)); }

/** The rest of the first operand's register, and the flags, after the flow to it. */
static bool finish_first(sn_flowing *f, const sn_flow *flow) {
    sn_flow model = *flow;
    sn_flow_clear_rest(f, f->arguments[0]);
    add_flags(f, &model);
    return true;
}

/* --------------------------------------------------------------------------- moves */

static bool add_move(sn_flowing *f, const sn_flow_rule *rule) {
    const sn_operand *to = argument(f, 0), *from = argument(f, 1);
    (void)rule;
    if (!is_ordinary(to) || !from) return false;
    if (from->place == SN_PLACE_CONTROL) {
        sn_flow_to(f, SN_FLOW_ANY, piece(f, 0));
    } else {
        if (from->place != SN_PLACE_IMMEDIATE && from->size != to->size) return false;
        sn_flow_of(f, SN_FLOW_COPY, piece(f, 0), source(f, 1, to->size));
    }
    sn_flow_clear_rest(f, f->arguments[0]);
    return true;
}

static bool add_extend(sn_flowing *f, const sn_flow_rule *rule) {
    const sn_operand *to = argument(f, 0), *from = argument(f, 1);
    sn_flow_of(f, from->size == to->size ? SN_FLOW_COPY : rule->kind, piece(f, 0), piece(f, 1));
    sn_flow_clear_rest(f, f->arguments[0]);
    return true;
}

static bool add_widen(sn_flowing *f, const sn_flow_rule *rule) {
    uint8_t to = find(f, SN_PLACE_GENERAL, SN_ROLE_WRITTEN, false), from = find(f, SN_PLACE_GENERAL, SN_ROLE_READ, false);
    if (to == SN_NO_ARGUMENT || from == SN_NO_ARGUMENT || to == from) return false;
    sn_flow_of(f, rule->kind, sn_flow_whole(f, to), sn_flow_whole(f, from));
    sn_flow_clear_rest(f, to);
    return true;
}

static bool add_sign_fill(sn_flowing *f, const sn_flow_rule *rule) {
    if (!add_widen(f, rule)) return false;
    f->flows[0].amount = (uint16_t)(8u * f->flows[0].sources[0].size - 1);
    return true;
}

static bool add_swap_bytes(sn_flowing *f, const sn_flow_rule *rule) {
    unsigned from = f->argument_count - 1u, size = argument(f, 0)->size;
    (void)rule;
    if (f->z.mnemonic == ZYDIS_MNEMONIC_BSWAP && size == 2) return false; /* undefined */
    sn_flow *flow = sn_flow_of(f, SN_FLOW_SHUFFLE, piece(f, 0), piece(f, from));
    for (unsigned i = 0; i < size; i++) flow->table[i] = (uint8_t)(size - 1 - i);
    sn_flow_clear_rest(f, f->arguments[0]);
    return true;
}

static bool add_exchange(sn_flowing *f, const sn_flow_rule *rule) {
    (void)rule;
    for (unsigned i = 0; i < 2; i++) {
        sn_flow_of(f, SN_FLOW_COPY, piece(f, i), piece(f, 1 - i));
        sn_flow_clear_rest(f, f->arguments[i]);
    }
    return true;
}

static bool add_add_exchange(sn_flowing *f, const sn_flow_rule *rule) {
    (void)rule;
    sn_flow_of(f, SN_FLOW_COPY, piece(f, 1), piece(f, 0));
    sn_flow_clear_rest(f, f->arguments[1]);
    sn_flow *flow = sn_flow_of(f, SN_FLOW_ADD, piece(f, 0), piece(f, 0));
    sn_flow_from(flow, piece(f, 1));
    return finish_first(f, flow);
}

/** The upper half of a 4-byte register is cleared only if the register is the one that is written. */
static void upper_half_if_written(sn_flowing *f, uint8_t operand, const sn_flow_piece compared[2]) {
    if (f->operands[operand].place != SN_PLACE_GENERAL || f->operands[operand].size != 4) return;
    sn_flow *flow = sn_flow_to(f, SN_FLOW_ANY, sn_flow_part_of(operand, 4, 4));
    for (unsigned i = 0; i < 2; i++) sn_flow_from(flow, compared[i]);
    sn_flow_from(flow, flow->destination);
}

/** The accumulator is compared with the first operand; which of the two is then written depends on it. */
static bool add_compare_exchange(sn_flowing *f, const sn_flow_rule *rule) {
    (void)rule;
    uint8_t accumulator = find(f, SN_PLACE_GENERAL, SN_ROLE_READ, true);
    if (accumulator == SN_NO_ARGUMENT) return false;
    sn_flow_piece pieces[] = {piece(f, 0), sn_flow_whole(f, accumulator), piece(f, 1)};
    sn_flow *flow = sn_flow_to(f, SN_FLOW_ANY, pieces[1]);
    for (unsigned i = 0; i < 2; i++) sn_flow_from(flow, pieces[i]);
    upper_half_if_written(f, accumulator, pieces);
    flow = to_first(f, SN_FLOW_ANY);
    for (unsigned i = 0; i < 3; i++) sn_flow_from(flow, pieces[i]);
    upper_half_if_written(f, f->arguments[0], pieces);
    sn_flow compare = {.kind = SN_FLOW_SUBTRACT, .source_count = 2, .amount = SN_FLOW_VARIABLE};
    compare.sources[0] = pieces[1];
    compare.sources[1] = pieces[0];
    add_flags(f, &compare);
    return true;
}

/* ---------------------------------------------------------------------- arithmetic */

static bool is_difference(const sn_flow_rule *rule) {
    return rule->kind == SN_FLOW_SUBTRACT || rule->kind == SN_FLOW_XOR;
}

/** A register less itself. */
static bool add_zero(sn_flowing *f, bool has_result) {
    sn_flow_flag_use use = sn_flow_flags_of(f);
    if (has_result) {
        to_first(f, SN_FLOW_CONSTANT);
        sn_flow_clear_rest(f, f->arguments[0]);
    }
    sn_flow_flags_constant(f, use.result | use.constant);
    sn_flow_flags_undefined(f, use.undefined);
    return true;
}

static void two_sources(sn_flowing *f, sn_flow *flow, unsigned first, unsigned second) {
    unsigned size = argument(f, 0)->size;
    sn_flow_from(flow, source(f, first, size));
    sn_flow_from(flow, source(f, second, size));
}

static bool add_binary(sn_flowing *f, const sn_flow_rule *rule) {
    if (is_difference(rule) && are_same_register(argument(f, 0), argument(f, 1))) return add_zero(f, true);
    sn_flow *flow = to_first(f, rule->kind);
    two_sources(f, flow, 0, 1);
    return finish_first(f, flow);
}

static bool add_carry(sn_flowing *f, const sn_flow_rule *rule) {
    bool same = is_difference(rule) && are_same_register(argument(f, 0), argument(f, 1));
    sn_flow *flow = to_first(f, same ? SN_FLOW_ANY : rule->kind);
    if (!same) two_sources(f, flow, 0, 1);
    sn_flow_from(flow, sn_flow_flags_piece(f, sn_flow_flags_of(f).read));
    return finish_first(f, flow);
}

static bool add_compare(sn_flowing *f, const sn_flow_rule *rule) {
    if (is_difference(rule) && are_same_register(argument(f, 0), argument(f, 1))) return add_zero(f, false);
    sn_flow model = {.kind = rule->kind, .amount = SN_FLOW_VARIABLE};
    two_sources(f, &model, 0, 1);
    add_flags(f, &model);
    return true;
}

static bool add_not(sn_flowing *f, const sn_flow_rule *rule) {
    sn_flow_of(f, rule->kind, piece(f, 0), piece(f, 0));
    sn_flow_clear_rest(f, f->arguments[0]);
    return true;
}

static bool add_negate(sn_flowing *f, const sn_flow_rule *rule) {
    sn_flow *flow = to_first(f, rule->kind);
    sn_flow_from(flow, sn_flow_constant_piece(argument(f, 0)->size));
    sn_flow_from(flow, piece(f, 0));
    return finish_first(f, flow);
}

static bool add_by_one(sn_flowing *f, const sn_flow_rule *rule) {
    sn_flow *flow = sn_flow_of(f, rule->kind, piece(f, 0), piece(f, 0));
    sn_flow_from(flow, sn_flow_constant_piece(argument(f, 0)->size));
    flow->constant = 1;
    return finish_first(f, flow);
}

static bool add_and_not(sn_flowing *f, const sn_flow_rule *rule) {
    sn_flow *flow = to_first(f, rule->kind);
    two_sources(f, flow, 1, 2);
    return finish_first(f, flow);
}

/** One maker's encoding has the numbers as a constant: left to the rule for all. */
static bool add_extract(sn_flowing *f, const sn_flow_rule *rule) {
    return argument(f, 2)->place == SN_PLACE_GENERAL && add_and_not(f, rule);
}

/** Operations on the lowest bit: zero and sign of the result, carry of whether the source is zero. */
static bool add_lowest_bit(sn_flowing *f, const sn_flow_rule *rule) {
    sn_flow_of(f, rule->kind, piece(f, 0), piece(f, 1));
    sn_flow_clear_rest(f, f->arguments[0]);
    sn_flow_of(f, rule->kind, sn_flow_flags_piece(f, SN_FLOW_FLAG_ZERO | SN_FLOW_FLAG_SIGN), piece(f, 1));
    sn_flow_of(f, SN_FLOW_ANY, sn_flow_flags_piece(f, SN_FLOW_FLAG_CARRY), piece(f, 1));
    sn_flow_flags_constant(f, SN_FLOW_FLAG_OVERFLOW);
    sn_flow_flags_undefined(f, SN_FLOW_FLAG_ADJUST | SN_FLOW_FLAG_PARITY);
    return true;
}

/** Of a sum, constants come last, but for a base that is not there: sources[1] is what is scaled. */
static void address_sources(const sn_operand *address, uint8_t number, unsigned size, sn_flow *flow) {
    sn_flow_piece base = {.operand = number, .part = SN_PART_BASE, .size = (uint16_t)size};
    sn_flow_piece index = {.operand = number, .part = SN_PART_INDEX, .size = (uint16_t)size};
    bool has_base = address->base != SN_NO_REGISTER, has_index = address->index != SN_NO_REGISTER;
    flow->constant = (uint64_t)address->displacement;
    if (!has_base && !has_index) {
        flow->kind = SN_FLOW_CONSTANT;
        return;
    }
    sn_flow_from(flow, has_base ? base : sn_flow_constant_piece(size));
    if (has_index) sn_flow_from(flow, index);
    if (has_index)
        for (unsigned scale = address->scale; scale > 1; scale /= 2) flow->scale_shift++;
    if (has_base && address->displacement) sn_flow_from(flow, sn_flow_constant_piece(size));
    if (flow->source_count == 1) flow->kind = SN_FLOW_COPY;
}

static bool add_address(sn_flowing *f, const sn_flow_rule *rule) {
    unsigned size = argument(f, 0)->size, address_size = f->z.address_width / 8u;
    unsigned written = size < address_size ? size : address_size;
    uint8_t to = f->arguments[0];
    sn_flow *flow = sn_flow_to(f, rule->kind, sn_flow_part_of(to, 0, written));
    address_sources(argument(f, 1), f->arguments[1], written, flow);
    if (written < size) sn_flow_to(f, SN_FLOW_CONSTANT, sn_flow_part_of(to, written, size - written));
    sn_flow_clear_rest(f, to);
    return true;
}

/** The product's upper half, and flags: any. The lower: of the bits up to each. */
static void add_product(sn_flowing *f, sn_flow_piece to, unsigned class, sn_flow_piece a, sn_flow_piece b) {
    sn_flow *flow = sn_flow_of(f, class, to, a);
    sn_flow_from(flow, b);
}

static void product_flags(sn_flowing *f, sn_flow_piece a, sn_flow_piece b) {
    sn_flow model = {.kind = SN_FLOW_ANY, .source_count = 2, .amount = SN_FLOW_VARIABLE, .sources = {a, b}};
    add_flags(f, &model);
}

static bool multiply_accumulator(sn_flowing *f) {
    sn_flow_piece a = piece(f, 0);
    uint8_t low = find_hidden_register(f, 0, SN_ROLE_WRITTEN), high = find_hidden_register(f, 2, SN_ROLE_WRITTEN);
    uint8_t from = find_hidden_register(f, 0, SN_ROLE_READ);
    if (low == SN_NO_ARGUMENT || from == SN_NO_ARGUMENT) return false;
    sn_flow_piece b = sn_flow_part_of(from, 0, a.size);
    add_product(f, sn_flow_part_of(low, 0, a.size), SN_FLOW_MULTIPLY, a, b);
    if (high == SN_NO_ARGUMENT) {
        add_product(f, sn_flow_part_of(low, a.size, a.size), SN_FLOW_ANY, a, b);
    } else {
        sn_flow_clear_rest(f, low);
        add_product(f, sn_flow_whole(f, high), SN_FLOW_ANY, a, b);
        sn_flow_clear_rest(f, high);
    }
    product_flags(f, a, b);
    return true;
}

static bool add_multiply(sn_flowing *f, const sn_flow_rule *rule) {
    if (f->argument_count == 1) return multiply_accumulator(f);
    unsigned size = argument(f, 0)->size, first = f->argument_count - 2u;
    sn_flow_piece a = source(f, first, size), b = source(f, first + 1, size);
    add_product(f, piece(f, 0), rule->kind, a, b);
    sn_flow_clear_rest(f, f->arguments[0]);
    product_flags(f, a, b);
    return true;
}

/** The upper half is written last: it stays where both go to one register. */
static bool add_multiply_wide(sn_flowing *f, const sn_flow_rule *rule) {
    uint8_t other = find(f, SN_PLACE_GENERAL, SN_ROLE_READ, true);
    if (other == SN_NO_ARGUMENT) return false;
    sn_flow_piece a = piece(f, 2), b = sn_flow_whole(f, other);
    add_product(f, piece(f, 1), rule->kind, a, b);
    sn_flow_clear_rest(f, f->arguments[1]);
    add_product(f, piece(f, 0), SN_FLOW_ANY, a, b);
    sn_flow_clear_rest(f, f->arguments[0]);
    return true;
}

/* -------------------------------------------------------------------------- shifts */

/** How far a shift goes; VARIABLE when a register says it. */
static unsigned amount_of(const sn_flowing *f, unsigned number, unsigned size) {
    const sn_operand *count = argument(f, number);
    if (!count) return 1;
    return count->place == SN_PLACE_IMMEDIATE ? (unsigned)count->immediate & (size == 8 ? 63 : 31) : SN_FLOW_VARIABLE;
}

static void add_count(sn_flowing *f, sn_flow *flow, unsigned number, unsigned amount) {
    flow->amount = (uint16_t)amount;
    if (amount != SN_FLOW_VARIABLE) return;
    sn_flow_piece count = sn_flow_part_of(f->arguments[number], 0, 1);
    count.every_lane = true;
    sn_flow_from(flow, count);
}

/** Rotations of short operands and the carry take their count modulo 9, or 17: any count may then be none. */
static bool may_turn_round(const sn_flowing *f, unsigned size) {
    return size < 4 && (f->z.mnemonic == ZYDIS_MNEMONIC_RCL || f->z.mnemonic == ZYDIS_MNEMONIC_RCR);
}

/** Flags stay where a register that says how far says 0. */
static void guard_count(const sn_flowing *f, sn_flow *flow, unsigned number, unsigned size) {
    if (flow->amount != SN_FLOW_VARIABLE) return;
    flow->guard.kind = may_turn_round(f, size) ? SN_GUARD_CONDITION : SN_GUARD_COUNT;
    flow->guard.count_mask = size == 8 ? 63 : 31;
    flow->guard.condition = sn_flow_part_of(f->arguments[number], 0, 1);
    flow->guard.otherwise = flow->destination;
}

/** A flow to flags like that to the first operand. */
static void shift_flags(sn_flowing *f, const sn_flow *model, uint8_t flags, unsigned class, unsigned number) {
    if (!flags) return;
    sn_flow kept = *model;
    sn_flow *flow = sn_flow_to(f, class, sn_flow_flags_piece(f, flags));
    kept.kind = (uint8_t)class;
    kept.destination = flow->destination;
    *flow = kept;
    if (class == SN_FLOW_UNDEFINED) flow->source_count = 0;
    guard_count(f, flow, number, argument(f, 0)->size);
}

enum {
    FLAGS_OF_RESULT = SN_FLOW_FLAG_ZERO | SN_FLOW_FLAG_SIGN | SN_FLOW_FLAG_PARITY,
    FLAGS_OF_SHIFT = FLAGS_OF_RESULT | SN_FLOW_FLAG_CARRY,
};

/** Overflow means something for shifts by one. Of what a register says nothing is known: any. */
static void overflow_of_shift(sn_flowing *f, const sn_flow *model, unsigned number) {
    bool is_known = model->amount == 1 || model->amount == SN_FLOW_VARIABLE;
    shift_flags(f, model, SN_FLOW_FLAG_OVERFLOW, is_known ? SN_FLOW_ANY : SN_FLOW_UNDEFINED, number);
}

static bool shift_by(sn_flowing *f, unsigned class, uint8_t flags, uint8_t undefined) {
    unsigned size = argument(f, 0)->size, amount = amount_of(f, 1, size), bits = 8 * size;
    sn_flow *flow = sn_flow_of(f, class, piece(f, 0), piece(f, 0));
    add_count(f, flow, 1, amount);
    sn_flow model = *flow;
    if (amount == 0) flow->kind = SN_FLOW_COPY;
    sn_flow_clear_rest(f, f->arguments[0]);
    if (amount == 0) return true;
    bool lost = amount > bits && amount != SN_FLOW_VARIABLE; /* carry is then undefined */
    uint8_t carry = lost && class != SN_FLOW_SHIFT_ARITHMETIC && flags & FLAGS_OF_RESULT ? SN_FLOW_FLAG_CARRY : 0;
    shift_flags(f, &model, (uint8_t)(flags & ~carry), class, 1);
    shift_flags(f, &model, undefined | carry, SN_FLOW_UNDEFINED, 1);
    overflow_of_shift(f, &model, 1);
    return true;
}

static bool add_shift(sn_flowing *f, const sn_flow_rule *rule) {
    return shift_by(f, rule->kind, FLAGS_OF_SHIFT, SN_FLOW_FLAG_ADJUST);
}

static bool add_rotate(sn_flowing *f, const sn_flow_rule *rule) {
    return shift_by(f, rule->kind, SN_FLOW_FLAG_CARRY, 0);
}

static bool add_rotate_carry(sn_flowing *f, const sn_flow_rule *rule) {
    unsigned size = argument(f, 0)->size, amount = amount_of(f, 1, size);
    sn_flow *flow = sn_flow_of(f, rule->kind, piece(f, 0), piece(f, 0));
    add_count(f, flow, 1, amount);
    sn_flow_from(flow, sn_flow_flags_piece(f, SN_FLOW_FLAG_CARRY));
    sn_flow model = *flow;
    sn_flow_clear_rest(f, f->arguments[0]);
    if (amount == 0) return true;
    shift_flags(f, &model, SN_FLOW_FLAG_CARRY, rule->kind, 1);
    overflow_of_shift(f, &model, 1);
    return true;
}

static bool add_shift_plain(sn_flowing *f, const sn_flow_rule *rule) {
    unsigned amount = amount_of(f, 2, argument(f, 0)->size);
    sn_flow *flow = sn_flow_of(f, rule->kind, piece(f, 0), piece(f, 1));
    add_count(f, flow, 2, amount);
    sn_flow_clear_rest(f, f->arguments[0]);
    return true;
}

/** By more than a 16-bit operand has, nothing is defined: any of both. */
static bool add_double_shift(sn_flowing *f, const sn_flow_rule *rule) {
    unsigned size = argument(f, 0)->size, amount = amount_of(f, 2, size);
    bool is_plain = amount == SN_FLOW_VARIABLE ? size > 2 : amount <= 8 * size;
    unsigned class = is_plain ? rule->kind : SN_FLOW_ANY;
    sn_flow *flow = sn_flow_of(f, class, piece(f, 0), piece(f, 0));
    sn_flow_from(flow, piece(f, 1));
    add_count(f, flow, 2, amount);
    sn_flow model = *flow;
    if (amount == 0) {
        flow->kind = SN_FLOW_COPY;
        flow->source_count = 1;
    }
    sn_flow_clear_rest(f, f->arguments[0]);
    if (amount == 0) return true;
    shift_flags(f, &model, FLAGS_OF_SHIFT, class, 2);
    shift_flags(f, &model, SN_FLOW_FLAG_ADJUST, SN_FLOW_UNDEFINED, 2);
    overflow_of_shift(f, &model, 2);
    return true;
}

/* ---------------------------------------------------------------------------- bits */

static void test_bit(sn_flowing *f) {
    sn_flow_flag_use use = sn_flow_flags_of(f);
    const sn_operand *number = argument(f, 1);
    unsigned size = argument(f, 0)->size;
    bool is_plain = size != 0;
    sn_flow *flow = sn_flow_of(f, is_plain ? SN_FLOW_BIT : SN_FLOW_ANY, sn_flow_flags_piece(f, SN_FLOW_FLAG_CARRY), piece(f, 0));
    if (number->place == SN_PLACE_IMMEDIATE && is_plain)
        flow->amount = (uint16_t)((unsigned)number->immediate & (8 * size - 1));
    else
        sn_flow_from(flow, source(f, 1, 1));
    sn_flow_flags_undefined(f, use.undefined & (uint8_t)~SN_FLOW_FLAG_CARRY);
}

static bool add_bit_test(sn_flowing *f, const sn_flow_rule *rule) {
    (void)rule;
    test_bit(f);
    return true;
}

/** With the bit's number known, a logical operation with a constant. */
static bool add_bit_change(sn_flowing *f, const sn_flow_rule *rule) {
    const sn_operand *number = argument(f, 1);
    unsigned size = argument(f, 0)->size;
    sn_flow *flow = sn_flow_of(f, SN_FLOW_ANY, piece(f, 0), piece(f, 0));
    if (number->place == SN_PLACE_IMMEDIATE && size) {
        uint64_t bit = UINT64_C(1) << ((unsigned)number->immediate & (8 * size - 1));
        flow->kind = rule->kind;
        flow->constant = rule->kind == SN_FLOW_AND ? ~bit : bit;
        sn_flow_from(flow, sn_flow_constant_piece(size));
    } else {
        sn_flow_from(flow, source(f, 1, 1));
    }
    sn_flow_clear_rest(f, f->arguments[0]);
    test_bit(f);
    return true;
}

/** tzcnt, lzcnt: zero tells of the bit at the end that is counted from, carry that there is no bit. */
static bool add_count_zeros(sn_flowing *f, const sn_flow_rule *rule) {
    unsigned last = rule->kind == SN_FLOW_LEADING_ZEROS ? 8u * argument(f, 0)->size - 1 : 0;
    sn_flow_of(f, rule->kind, piece(f, 0), piece(f, 1));
    sn_flow_clear_rest(f, f->arguments[0]);
    sn_flow_of(f, rule->kind, sn_flow_flags_piece(f, SN_FLOW_FLAG_CARRY), piece(f, 1));
    sn_flow_of(f, SN_FLOW_BIT, sn_flow_flags_piece(f, SN_FLOW_FLAG_ZERO), piece(f, 1))->amount = (uint16_t)last;
    sn_flow_flags_undefined(f, sn_flow_flags_of(f).undefined);
    return true;
}

/** bsf, bsr: of zero, the destination stays (AMD APM volume 3; Intel's processors do the same). */
static bool add_scan(sn_flowing *f, const sn_flow_rule *rule) {
    sn_flow *flow = sn_flow_of(f, rule->kind, piece(f, 0), piece(f, 1));
    flow->guard.kind = SN_GUARD_NOT_ZERO;
    flow->guard.condition = piece(f, 1);
    flow->guard.otherwise = piece(f, 0);
    if (argument(f, 0)->size == 4) { /* cleared only if it is written */
        flow = sn_flow_to(f, SN_FLOW_CONSTANT, sn_flow_part_of(f->arguments[0], 4, 4));
        flow->guard.kind = SN_GUARD_NOT_ZERO;
        flow->guard.condition = piece(f, 1);
        flow->guard.otherwise = flow->destination;
    }
    sn_flow_of(f, SN_FLOW_COPY, sn_flow_flags_piece(f, SN_FLOW_FLAG_ZERO), piece(f, 1));
    sn_flow_flags_undefined(f, sn_flow_flags_of(f).undefined);
    return true;
}

/* ---------------------------------------------------------------------- conditions */

static sn_flow_piece condition_flags(const sn_flowing *f) { return sn_flow_flags_piece(f, sn_flow_flags_of(f).read); }

static bool add_set(sn_flowing *f, const sn_flow_rule *rule) {
    sn_flow_of(f, rule->kind, piece(f, 0), condition_flags(f));
    return true;
}

static bool add_conditional_move(sn_flowing *f, const sn_flow_rule *rule) {
    if (argument(f, 0)->place != SN_PLACE_GENERAL) return false;
    sn_flow *flow = sn_flow_of(f, rule->kind, piece(f, 0), piece(f, 1));
    sn_flow_guard_condition(f, flow, f->z.opcode & 15);
    sn_flow_clear_rest(f, f->arguments[0]);
    return true;
}

/* --------------------------------------------------------------------------- stack */

/** The stack pointer becomes itself, or another register, plus a constant. */
static void move_stack_pointer(sn_flowing *f, uint8_t from, int64_t amount) {
    uint8_t to = find_hidden_register(f, NUMBER_RSP, SN_ROLE_WRITTEN);
    if (to == SN_NO_ARGUMENT) return;
    if (from == SN_NO_ARGUMENT) from = to;
    unsigned class = amount < 0 ? SN_FLOW_SUBTRACT : SN_FLOW_ADD;
    sn_flow *flow = sn_flow_of(f, class, sn_flow_part_of(to, 0, SN_GENERAL_BYTES), sn_flow_part_of(from, 0, SN_GENERAL_BYTES));
    sn_flow_from(flow, sn_flow_constant_piece(SN_GENERAL_BYTES));
    flow->constant = (uint64_t)(amount < 0 ? -amount : amount);
}

static uint8_t stack_memory(const sn_flowing *f) { return find(f, SN_PLACE_MEMORY, 0, true); }

static bool add_push(sn_flowing *f, const sn_flow_rule *rule) {
    uint8_t to = stack_memory(f);
    if (to == SN_NO_ARGUMENT) return false;
    unsigned size = f->operands[to].size;
    const sn_operand *from = argument(f, 0);
    if (from->place == SN_PLACE_CONTROL)
        sn_flow_to(f, SN_FLOW_ANY, sn_flow_whole(f, to));
    else
        sn_flow_of(f, rule->kind, sn_flow_whole(f, to), source(f, 0, size));
    move_stack_pointer(f, SN_NO_ARGUMENT, -(int64_t)size);
    return true;
}

static bool add_pop(sn_flowing *f, const sn_flow_rule *rule) {
    uint8_t from = stack_memory(f);
    if (from == SN_NO_ARGUMENT) return false;
    move_stack_pointer(f, SN_NO_ARGUMENT, f->operands[from].size);
    if (argument(f, 0)->place != SN_PLACE_CONTROL) sn_flow_of(f, rule->kind, piece(f, 0), sn_flow_whole(f, from));
    return true;
}

static bool add_call(sn_flowing *f, const sn_flow_rule *rule) {
    uint8_t to = stack_memory(f);
    if (to == SN_NO_ARGUMENT || f->insn->class == SN_INSN_FAR_BRANCH) return false;
    sn_flow_to(f, rule->kind, sn_flow_whole(f, to))->constant = f->insn->pc + f->insn->length;
    move_stack_pointer(f, SN_NO_ARGUMENT, -(int64_t)f->operands[to].size);
    return true;
}

static bool add_return(sn_flowing *f, const sn_flow_rule *rule) {
    (void)rule;
    if (f->insn->class != SN_INSN_RETURN) return false;
    move_stack_pointer(f, SN_NO_ARGUMENT, SN_GENERAL_BYTES + f->insn->return_pop);
    return true;
}

static bool add_enter(sn_flowing *f, const sn_flow_rule *rule) {
    (void)f;
    (void)rule;
    return false;
}

static bool add_leave(sn_flowing *f, const sn_flow_rule *rule) {
    uint8_t memory = stack_memory(f), frame = find_hidden_register(f, NUMBER_RBP, SN_ROLE_WRITTEN);
    if (memory == SN_NO_ARGUMENT || frame == SN_NO_ARGUMENT || f->operands[frame].size != SN_GENERAL_BYTES) return false;
    move_stack_pointer(f, frame, SN_GENERAL_BYTES);
    sn_flow_of(f, rule->kind, sn_flow_whole(f, frame), sn_flow_whole(f, memory));
    return true;
}

/* --------------------------------------------------------- flags as a word and alone */

/** Where flags are in the flags register (Intel SDM volume 1, 3.4.3). */
static const struct {
    uint8_t flag, bit;
} flag_bits[] = {
    {SN_FLOW_FLAG_CARRY, 0}, {SN_FLOW_FLAG_PARITY, 2},     {SN_FLOW_FLAG_ADJUST, 4},    {SN_FLOW_FLAG_ZERO, 6},
    {SN_FLOW_FLAG_SIGN, 7},  {SN_FLOW_FLAG_DIRECTION, 10}, {SN_FLOW_FLAG_OVERFLOW, 11},
};
enum { FLAG_BITS = sizeof flag_bits / sizeof flag_bits[0], LOW_FLAGS = FLAGS_OF_SHIFT | SN_FLOW_FLAG_ADJUST };

static void flags_from_word(sn_flowing *f, sn_flow_piece word) {
    for (unsigned i = 0; i < FLAG_BITS; i++)
        if (flag_bits[i].bit < 8u * word.size)
            sn_flow_of(f, SN_FLOW_BIT, sn_flow_flags_piece(f, flag_bits[i].flag), word)->amount = flag_bits[i].bit;
}

static bool add_push_flags(sn_flowing *f, const sn_flow_rule *rule) {
    uint8_t to = stack_memory(f);
    if (to == SN_NO_ARGUMENT || f->flags == SN_NO_ARGUMENT) return false;
    unsigned size = f->operands[to].size;
    sn_flow_of(f, rule->kind, sn_flow_part_of(to, 0, 1), sn_flow_flags_piece(f, LOW_FLAGS));
    sn_flow_of(f, rule->kind, sn_flow_part_of(to, 1, 1),
               sn_flow_flags_piece(f, SN_FLOW_FLAG_OVERFLOW | SN_FLOW_FLAG_DIRECTION));
    if (size > 2) sn_flow_to(f, rule->kind, sn_flow_part_of(to, 2, size - 2)); /* what is there has no shadow */
    move_stack_pointer(f, SN_NO_ARGUMENT, -(int64_t)size);
    return true;
}

static bool add_pop_flags(sn_flowing *f, const sn_flow_rule *rule) {
    uint8_t from = stack_memory(f);
    (void)rule;
    if (from == SN_NO_ARGUMENT || f->flags == SN_NO_ARGUMENT) return false;
    flags_from_word(f, sn_flow_part_of(from, 0, 2));
    move_stack_pointer(f, SN_NO_ARGUMENT, f->operands[from].size);
    return true;
}

static bool add_load_flags(sn_flowing *f, const sn_flow_rule *rule) {
    uint8_t to = find(f, SN_PLACE_GENERAL, SN_ROLE_WRITTEN, false);
    sn_flow_of(f, rule->kind, sn_flow_whole(f, to), sn_flow_flags_piece(f, LOW_FLAGS));
    return true;
}

static bool add_store_flags(sn_flowing *f, const sn_flow_rule *rule) {
    (void)rule;
    flags_from_word(f, sn_flow_whole(f, find(f, SN_PLACE_GENERAL, SN_ROLE_READ, false)));
    return true;
}

static bool add_invert_carry(sn_flowing *f, const sn_flow_rule *rule) {
    sn_flow_piece carry = sn_flow_flags_piece(f, SN_FLOW_FLAG_CARRY);
    sn_flow_of(f, rule->kind, carry, carry);
    return true;
}

/* ------------------------------------------------------------------------- strings */

/** Pointers go up or down by an element, counters down by one. */
static void move_pointers(sn_flowing *f) {
    for (uint8_t i = 0; i < f->operand_count; i++) {
        const sn_operand *operand = &f->operands[i];
        if (operand->place != SN_PLACE_GENERAL || operand->role != SN_ROLE_BOTH || operand->is_explicit) continue;
        bool is_pointer = operand->reg == NUMBER_RSI || operand->reg == NUMBER_RDI;
        sn_flow_piece whole = sn_flow_part_of(i, 0, SN_GENERAL_BYTES);
        sn_flow *flow = sn_flow_of(f, is_pointer ? SN_FLOW_ADD : SN_FLOW_SUBTRACT, whole, whole);
        if (is_pointer) {
            sn_flow_from(flow, sn_flow_flags_piece(f, SN_FLOW_FLAG_DIRECTION));
        } else {
            sn_flow_from(flow, sn_flow_constant_piece(SN_GENERAL_BYTES));
            flow->constant = 1;
        }
    }
}

/** An operand that is no pointer: the accumulator. */
static uint8_t accumulator(const sn_flowing *f) {
    for (uint8_t i = 0; i < f->operand_count; i++)
        if (f->operands[i].place == SN_PLACE_GENERAL && f->operands[i].reg == 0) return i;
    return SN_NO_ARGUMENT;
}

static bool add_string_move(sn_flowing *f, const sn_flow_rule *rule) {
    uint8_t from = find_memory(f, NUMBER_RSI), to = find_memory(f, NUMBER_RDI), value = accumulator(f);
    if (f->flags == SN_NO_ARGUMENT) return false;
    if (from == SN_NO_ARGUMENT) from = value;
    if (to == SN_NO_ARGUMENT) to = value;
    if (from == SN_NO_ARGUMENT || to == SN_NO_ARGUMENT) return false;
    sn_flow_of(f, rule->kind, sn_flow_whole(f, to), sn_flow_whole(f, from));
    if (f->operands[to].place == SN_PLACE_GENERAL) sn_flow_clear_rest(f, to);
    move_pointers(f);
    return true;
}

static bool add_string_compare(sn_flowing *f, const sn_flow_rule *rule) {
    uint8_t first = find_memory(f, NUMBER_RSI), second = find_memory(f, NUMBER_RDI);
    if (first == SN_NO_ARGUMENT) first = accumulator(f);
    if (first == SN_NO_ARGUMENT || second == SN_NO_ARGUMENT || f->flags == SN_NO_ARGUMENT) return false;
    sn_flow model = {.kind = rule->kind, .source_count = 2, .amount = SN_FLOW_VARIABLE,
                     .sources = {sn_flow_whole(f, first), sn_flow_whole(f, second)}};
    add_flags(f, &model);
    move_pointers(f);
    return true;
}

static bool add_loop(sn_flowing *f, const sn_flow_rule *rule) {
    uint8_t counter = find(f, SN_PLACE_GENERAL, SN_ROLE_BOTH, false);
    if (counter == SN_NO_ARGUMENT) return false;
    sn_flow_piece whole = sn_flow_whole(f, counter);
    sn_flow *flow = sn_flow_of(f, rule->kind, whole, whole);
    sn_flow_from(flow, sn_flow_constant_piece(whole.size));
    flow->constant = 1;
    sn_flow_clear_rest(f, counter);
    return true;
}

static bool add_nothing(sn_flowing *f, const sn_flow_rule *rule) {
    (void)f;
    (void)rule;
    return true;
}

static bool add_any(sn_flowing *f, const sn_flow_rule *rule) {
    (void)f;
    (void)rule;
    return false;
}

static bool is_general(const sn_operand *operand, uint8_t role) { return operand->place == SN_PLACE_GENERAL && (operand->role & role); }

static bool add_tell(sn_flowing *f, const sn_flow_rule *rule) {
    for (unsigned to = 0; to < f->operand_count; to++) {
        if (!is_general(&f->operands[to], SN_ROLE_WRITTEN)) continue;
        sn_flow *flow = sn_flow_to(f, rule->kind, sn_flow_whole(f, (uint8_t)to));
        for (unsigned from = 0; from < f->operand_count; from++)
            if (is_general(&f->operands[from], SN_ROLE_READ)) sn_flow_from(flow, sn_flow_whole(f, (uint8_t)from));
        sn_flow_clear_rest(f, (uint8_t)to);
    }
    return true;
}

/* --------------------------------------------------------------------------- table */

typedef bool shape_function(sn_flowing *f, const sn_flow_rule *rule);

static shape_function *const shapes[SHAPES] = {
    [SHAPE_NOTHING] = add_nothing,
    [SHAPE_ANY] = add_any,
    [SHAPE_TELL] = add_tell,
    [SHAPE_MOVE] = add_move,
    [SHAPE_EXTEND] = add_extend,
    [SHAPE_WIDEN] = add_widen,
    [SHAPE_SIGN_FILL] = add_sign_fill,
    [SHAPE_SWAP_BYTES] = add_swap_bytes,
    [SHAPE_EXCHANGE] = add_exchange,
    [SHAPE_ADD_EXCHANGE] = add_add_exchange,
    [SHAPE_COMPARE_EXCHANGE] = add_compare_exchange,
    [SHAPE_BINARY] = add_binary,
    [SHAPE_CARRY] = add_carry,
    [SHAPE_COMPARE] = add_compare,
    [SHAPE_NOT] = add_not,
    [SHAPE_NEGATE] = add_negate,
    [SHAPE_BY_ONE] = add_by_one,
    [SHAPE_AND_NOT] = add_and_not,
    [SHAPE_EXTRACT] = add_extract,
    [SHAPE_LOWEST_BIT] = add_lowest_bit,
    [SHAPE_ADDRESS] = add_address,
    [SHAPE_MULTIPLY] = add_multiply,
    [SHAPE_MULTIPLY_WIDE] = add_multiply_wide,
    [SHAPE_SHIFT] = add_shift,
    [SHAPE_ROTATE] = add_rotate,
    [SHAPE_ROTATE_CARRY] = add_rotate_carry,
    [SHAPE_SHIFT_PLAIN] = add_shift_plain,
    [SHAPE_DOUBLE_SHIFT] = add_double_shift,
    [SHAPE_BIT_TEST] = add_bit_test,
    [SHAPE_BIT_CHANGE] = add_bit_change,
    [SHAPE_COUNT_ZEROS] = add_count_zeros,
    [SHAPE_SCAN] = add_scan,
    [SHAPE_SET] = add_set,
    [SHAPE_CONDITIONAL_MOVE] = add_conditional_move,
    [SHAPE_PUSH] = add_push,
    [SHAPE_POP] = add_pop,
    [SHAPE_CALL] = add_call,
    [SHAPE_RETURN] = add_return,
    [SHAPE_ENTER] = add_enter,
    [SHAPE_LEAVE] = add_leave,
    [SHAPE_PUSH_FLAGS] = add_push_flags,
    [SHAPE_POP_FLAGS] = add_pop_flags,
    [SHAPE_LOAD_FLAGS] = add_load_flags,
    [SHAPE_STORE_FLAGS] = add_store_flags,
    [SHAPE_INVERT_CARRY] = add_invert_carry,
    [SHAPE_STRING_MOVE] = add_string_move,
    [SHAPE_STRING_COMPARE] = add_string_compare,
    [SHAPE_LOOP] = add_loop,
};

#define ROW(name, shape_name, class_name) \
    [ZYDIS_MNEMONIC_##name] = {.shape = SHAPE_##shape_name, .kind = SN_FLOW_##class_name}
#define BY_CONDITION(row) \
    row(B), row(BE), row(L), row(LE), row(NB), row(NBE), row(NL), row(NLE), row(NO), row(NP), row(NS), row(NZ), row(O), \
        row(P), row(S), row(Z)
#define ROW_SET(condition) ROW(SET##condition, SET, ZERO_EXTEND)
#define ROW_CMOV(condition) ROW(CMOV##condition, CONDITIONAL_MOVE, COPY)
#define ROW_JUMP(condition) ROW(J##condition, NOTHING, ANY)

static const sn_flow_rule rules[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
    BY_CONDITION(ROW_SET),
    BY_CONDITION(ROW_CMOV),
    BY_CONDITION(ROW_JUMP),
    ROW(ADC, CARRY, ADD),
    ROW(ADCX, CARRY, ADD),
    ROW(ADD, BINARY, ADD),
    ROW(ADOX, CARRY, ADD),
    ROW(AND, BINARY, AND),
    ROW(ANDN, AND_NOT, AND_NOT),
    ROW(BEXTR, EXTRACT, EXTRACT_BITS),
    ROW(BLSI, LOWEST_BIT, UPWARD),
    ROW(BLSMSK, LOWEST_BIT, UPWARD),
    ROW(BLSR, LOWEST_BIT, UPWARD),
    ROW(BSF, SCAN, TRAILING_ZEROS),
    ROW(BSR, SCAN, LEADING_ZEROS),
    ROW(BSWAP, SWAP_BYTES, SHUFFLE),
    ROW(BT, BIT_TEST, BIT),
    ROW(BTC, BIT_CHANGE, XOR),
    ROW(BTR, BIT_CHANGE, AND),
    ROW(BTS, BIT_CHANGE, OR),
    ROW(BZHI, AND_NOT, KEEP_LOW),
    ROW(CALL, CALL, CONSTANT),
    ROW(CBW, WIDEN, SIGN_EXTEND),
    ROW(CDQ, SIGN_FILL, SHIFT_ARITHMETIC),
    ROW(CDQE, WIDEN, SIGN_EXTEND),
    ROW(CMC, INVERT_CARRY, NOT),
    ROW(CMP, COMPARE, SUBTRACT),
    ROW(CMPSB, STRING_COMPARE, SUBTRACT),
    ROW(CMPSQ, STRING_COMPARE, SUBTRACT),
    ROW(CMPSW, STRING_COMPARE, SUBTRACT),
    ROW(CMPXCHG, COMPARE_EXCHANGE, ANY),
    ROW(CPUID, TELL, TOLD),
    ROW(CQO, SIGN_FILL, SHIFT_ARITHMETIC),
    ROW(CWD, SIGN_FILL, SHIFT_ARITHMETIC),
    ROW(CWDE, WIDEN, SIGN_EXTEND),
    ROW(DEC, BY_ONE, SUBTRACT),
    ROW(ENTER, ENTER, ANY),
    ROW(IMUL, MULTIPLY, MULTIPLY),
    ROW(INC, BY_ONE, ADD),
    ROW(JCXZ, NOTHING, ANY),
    ROW(JECXZ, NOTHING, ANY),
    ROW(JMP, NOTHING, ANY),
    ROW(JRCXZ, NOTHING, ANY),
    ROW(LAHF, LOAD_FLAGS, ANY),
    ROW(LEA, ADDRESS, ADD),
    ROW(LEAVE, LEAVE, COPY),
    ROW(LODSB, STRING_MOVE, COPY),
    ROW(LODSD, STRING_MOVE, COPY),
    ROW(LODSQ, STRING_MOVE, COPY),
    ROW(LODSW, STRING_MOVE, COPY),
    ROW(LOOP, LOOP, SUBTRACT),
    ROW(LOOPE, LOOP, SUBTRACT),
    ROW(LOOPNE, LOOP, SUBTRACT),
    ROW(LZCNT, COUNT_ZEROS, LEADING_ZEROS),
    ROW(MOV, MOVE, COPY),
    ROW(MOVBE, SWAP_BYTES, SHUFFLE),
    ROW(MOVDIRI, MOVE, COPY),
    ROW(MOVNTI, MOVE, COPY),
    ROW(MOVSB, STRING_MOVE, COPY),
    ROW(MOVSQ, STRING_MOVE, COPY),
    ROW(MOVSW, STRING_MOVE, COPY),
    ROW(MOVSX, EXTEND, SIGN_EXTEND),
    ROW(MOVSXD, EXTEND, SIGN_EXTEND),
    ROW(MOVZX, EXTEND, ZERO_EXTEND),
    ROW(MUL, MULTIPLY, MULTIPLY),
    ROW(MULX, MULTIPLY_WIDE, MULTIPLY),
    ROW(NEG, NEGATE, SUBTRACT),
    ROW(NOP, NOTHING, ANY),
    ROW(NOT, NOT, NOT),
    ROW(OR, BINARY, OR),
    ROW(POP, POP, COPY),
    ROW(POPF, POP_FLAGS, BIT),
    ROW(POPFQ, POP_FLAGS, BIT),
    ROW(PUSH, PUSH, COPY),
    ROW(PUSHF, PUSH_FLAGS, ANY),
    ROW(PUSHFQ, PUSH_FLAGS, ANY),
    ROW(RCL, ROTATE_CARRY, ANY),
    ROW(RCR, ROTATE_CARRY, ANY),
    ROW(RET, RETURN, ADD),
    ROW(ROL, ROTATE, ROTATE_LEFT),
    ROW(ROR, ROTATE, ROTATE_RIGHT),
    ROW(RORX, SHIFT_PLAIN, ROTATE_RIGHT),
    ROW(SAHF, STORE_FLAGS, BIT),
    ROW(SAR, SHIFT, SHIFT_ARITHMETIC),
    ROW(SARX, SHIFT_PLAIN, SHIFT_ARITHMETIC),
    ROW(SBB, CARRY, SUBTRACT),
    ROW(SCASB, STRING_COMPARE, SUBTRACT),
    ROW(SCASD, STRING_COMPARE, SUBTRACT),
    ROW(SCASQ, STRING_COMPARE, SUBTRACT),
    ROW(SCASW, STRING_COMPARE, SUBTRACT),
    ROW(SHL, SHIFT, SHIFT_LEFT),
    ROW(SHLD, DOUBLE_SHIFT, FUNNEL_LEFT),
    ROW(SHLX, SHIFT_PLAIN, SHIFT_LEFT),
    ROW(SHR, SHIFT, SHIFT_RIGHT),
    ROW(SHRD, DOUBLE_SHIFT, FUNNEL_RIGHT),
    ROW(SHRX, SHIFT_PLAIN, SHIFT_RIGHT),
    ROW(STOSB, STRING_MOVE, COPY),
    ROW(STOSD, STRING_MOVE, COPY),
    ROW(STOSQ, STRING_MOVE, COPY),
    ROW(STOSW, STRING_MOVE, COPY),
    ROW(SUB, BINARY, SUBTRACT),
    ROW(TEST, COMPARE, AND),
    ROW(TZCNT, COUNT_ZEROS, TRAILING_ZEROS),
    ROW(XADD, ADD_EXCHANGE, ADD),
    ROW(XCHG, EXCHANGE, COPY),
    ROW(XGETBV, TELL, TOLD),
    ROW(XOR, BINARY, XOR),
};

/** Two mnemonics are names of a string instruction and of a vector instruction. */
static const sn_flow_rule *rule_of(const sn_flowing *f) {
    static const sn_flow_rule move = {.shape = SHAPE_STRING_MOVE, .kind = SN_FLOW_COPY};
    static const sn_flow_rule compare = {.shape = SHAPE_STRING_COMPARE, .kind = SN_FLOW_SUBTRACT};
    if (f->z.meta.category == ZYDIS_CATEGORY_STRINGOP) {
        if (f->z.mnemonic == ZYDIS_MNEMONIC_MOVSD) return &move;
        if (f->z.mnemonic == ZYDIS_MNEMONIC_CMPSD) return &compare;
    }
    return &rules[f->z.mnemonic];
}

bool sn_flow_general(sn_flowing *f) {
    const sn_flow_rule *rule = rule_of(f);
    if (rule->shape == SHAPE_NONE || f->operand_count == 0) return false;
    f->count = 0;
    if (shapes[rule->shape](f, rule)) return true;
    f->count = 0;
    return false;
}
