/**
 * @fileoverview The data flow of vector instructions that keep lanes apart: moves, arithmetic, logic, shifts, conversions,
 * selections, gathers. A table by mnemonic, and what turns its rows into flows.
 *
 * Effects are those of the Intel SDM, volume 2, at each instruction. Rows give the size of lanes: the library's own sizes of
 * elements are those of a register's usual contents only.
 */
#include "flowing.h"

enum {
    SHAPE_NONE,
    SHAPE_MOVE,
    SHAPE_MEMORY_MOVE,
    SHAPE_SCALAR_MOVE,
    SHAPE_HALF_MOVE,    /**< lane: offset of the half in the destination; source_lane: in a register source */
    SHAPE_LANES,        /**< each lane by class of the same lanes of the sources */
    SHAPE_LANES_3,      /**< the destination is the first source */
    SHAPE_TERNARY,
    SHAPE_COMPARE,      /**< lanes, or bits of a mask */
    SHAPE_SCALAR_1,     /**< the lowest lane, of the last argument */
    SHAPE_SCALAR_2,
    SHAPE_SCALAR_3,     /**< the destination is the first source; source_lane: its upper lanes are replaced all the same */
    SHAPE_TO_GENERAL,   /**< a general register of the lowest source lane */
    SHAPE_CONVERT,      /**< lanes of one size from lanes of another */
    SHAPE_LOW_PRODUCT,  /**< lanes of the lower halves of source lanes */
    SHAPE_SHIFT,
    SHAPE_SHIFT_EACH,   /**< counts by lane */
    SHAPE_SELECT,       /**< by the highest bits of the last argument, or of an implicit register */
    SHAPE_BLEND,        /**< by the write mask */
    SHAPE_MASKED_MOVE,
    SHAPE_MASKED_STORE,
    SHAPE_GATHER,
    SHAPE_SCATTER,
    SHAPE_TEST,
    SHAPE_CLEAR,        /**< of all vectors; lane: from which byte on */
    SHAPE_SAVE,         /**< the state; lane: whether a register says what of it */
    SHAPE_RESTORE,
    SHAPES,
};

/* ------------------------------------------------------------------------ operands */

bool sn_flow_is_broadcast(const sn_flowing *f, const sn_operand *operand) {
    return operand->place == SN_PLACE_MEMORY && f->z.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX && f->z.raw.evex.b;
}

sn_flow_piece sn_flow_vector_source(const sn_flowing *f, unsigned argument, unsigned size) {
    const sn_operand *operand = sn_flow_operand(f, argument);
    sn_flow_piece piece = sn_flow_part_of(f->arguments[argument], 0, size);
    piece.every_lane = sn_flow_is_broadcast(f, operand);
    if (operand->place == SN_PLACE_MEMORY && operand->size < size) piece.size = (uint16_t)operand->size;
    return piece;
}

unsigned sn_flow_vector_arguments(const sn_flowing *f, bool first, uint8_t arguments[SN_FLOWING_MOST_ARGUMENTS]) {
    unsigned count = 0;
    for (uint8_t i = 0; i < f->argument_count; i++) {
        const sn_operand *operand = sn_flow_operand(f, i);
        bool is_masked = f->z.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
        if (operand->place == SN_PLACE_IMMEDIATE || (i == 0 && !first && (is_masked || !(operand->role & SN_ROLE_READ))))
            continue;
        arguments[count++] = i;
    }
    return count;
}

unsigned sn_flow_immediate(const sn_flowing *f) {
    const sn_operand *last = sn_flow_operand(f, f->argument_count - 1u);
    return last->place == SN_PLACE_IMMEDIATE ? (uint8_t)last->immediate : 0;
}

sn_flow_piece sn_flow_first(const sn_flowing *f) { return sn_flow_whole(f, f->arguments[0]); }

bool sn_flow_same_vector(const sn_flowing *f, unsigned a, unsigned b) {
    const sn_operand *one = sn_flow_operand(f, a), *other = sn_flow_operand(f, b);
    return one->place == other->place && one->reg == other->reg && one->reg != SN_NO_REGISTER &&
           (one->place == SN_PLACE_VECTOR || one->place == SN_PLACE_X87 || one->place == SN_PLACE_MASK);
}

static const sn_operand *first(const sn_flowing *f) { return sn_flow_operand(f, 0); }

static bool is_legacy(const sn_flowing *f) { return f->z.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY; }

/** The last argument that is no immediate. */
static unsigned last_value(const sn_flowing *f) {
    unsigned last = f->argument_count - 1u;
    return sn_flow_operand(f, last)->place == SN_PLACE_IMMEDIATE ? last - 1 : last;
}

/** Bytes of the vectors that the instruction works on. */
static unsigned vector_bytes(const sn_flowing *f) {
    if (f->z.avx.vector_length) return f->z.avx.vector_length / 8u;
    return first(f)->place == SN_PLACE_X87 ? 8 : 16;
}

static void set_lane(sn_flow *flow, unsigned lane, unsigned source_lane) {
    if (lane >= flow->destination.size && source_lane == lane) return; /* a single lane is none */
    flow->lane_size = (uint8_t)lane;
    flow->source_lane_size = (uint8_t)source_lane;
}

static bool finish_first(sn_flowing *f, sn_flow *flow) {
    flow->is_float = first(f)->is_float;
    sn_flow_apply_mask(f, flow);
    sn_flow_clear_rest(f, f->arguments[0]);
    return true;
}

/* --------------------------------------------------------------------------- moves */

static bool add_move(sn_flowing *f, const sn_flow_rule *rule) {
    unsigned size = first(f)->size, from = sn_flow_operand(f, 1)->size, copied = from < size ? from : size;
    if (f->argument_count != 2) return false;
    sn_flow *flow = sn_flow_of(f, rule->kind, sn_flow_part_of(f->arguments[0], 0, copied),
                               sn_flow_part_of(f->arguments[1], 0, copied));
    sn_flow_apply_mask(f, flow);
    if (copied < size) sn_flow_to(f, SN_FLOW_CONSTANT, sn_flow_part_of(f->arguments[0], copied, size - copied));
    sn_flow_clear_rest(f, f->arguments[0]);
    return true;
}

/** From memory to memory, the second being where a register says. */
static bool add_memory_move(sn_flowing *f, const sn_flow_rule *rule) {
    uint8_t from = SN_NO_ARGUMENT, to = SN_NO_ARGUMENT;
    for (uint8_t i = 0; i < f->operand_count; i++) {
        if (f->operands[i].place != SN_PLACE_MEMORY) continue;
        if (f->operands[i].role == SN_ROLE_READ) from = i;
        if (f->operands[i].role == SN_ROLE_WRITTEN) to = i;
    }
    if (from == SN_NO_ARGUMENT || to == SN_NO_ARGUMENT) return false;
    sn_flow_of(f, rule->kind, sn_flow_whole(f, to), sn_flow_whole(f, from));
    return true;
}

/** From memory the rest of the vector is cleared; from a register it stays, or comes from another. */
static bool add_scalar_move(sn_flowing *f, const sn_flow_rule *rule) {
    enum { SIZE = 16 };
    uint8_t to = f->arguments[0], from = f->arguments[f->argument_count - 1u];
    sn_flow *flow = sn_flow_of(f, rule->kind, sn_flow_part_of(to, 0, rule->lane), sn_flow_part_of(from, 0, rule->lane));
    sn_flow_apply_mask(f, flow);
    if (first(f)->place == SN_PLACE_MEMORY) return true;
    sn_flow_piece rest = sn_flow_part_of(to, rule->lane, SIZE - rule->lane);
    if (f->argument_count == 3)
        sn_flow_of(f, SN_FLOW_COPY, rest, sn_flow_part_of(f->arguments[1], rule->lane, SIZE - rule->lane));
    else if (f->operands[from].place == SN_PLACE_MEMORY)
        sn_flow_to(f, SN_FLOW_CONSTANT, rest);
    sn_flow_clear_rest(f, to);
    return true;
}

static bool add_half_move(sn_flowing *f, const sn_flow_rule *rule) {
    enum { HALF = 8 };
    uint8_t to = f->arguments[0], from = f->arguments[f->argument_count - 1u];
    bool stores = first(f)->place == SN_PLACE_MEMORY, loads = f->operands[from].place == SN_PLACE_MEMORY;
    unsigned other = HALF - rule->lane, from_offset = stores ? rule->lane : loads ? 0 : rule->source_lane;
    sn_flow_of(f, rule->kind, sn_flow_part_of(to, stores ? 0 : rule->lane, HALF), sn_flow_part_of(from, from_offset, HALF));
    if (stores) return true;
    if (f->argument_count == 3) sn_flow_of(f, SN_FLOW_COPY, sn_flow_part_of(to, other, HALF),
                                           sn_flow_part_of(f->arguments[1], other, HALF));
    sn_flow_clear_rest(f, to);
    return true;
}

/* --------------------------------------------------------------------------- lanes */

/** What a register and itself make, whatever it holds. */
static bool is_constant(unsigned class, uint64_t *value) {
    *value = class == SN_FLOW_EQUAL ? UINT64_MAX : 0;
    return class == SN_FLOW_EQUAL || class == SN_FLOW_GREATER || class == SN_FLOW_XOR || class == SN_FLOW_SUBTRACT ||
           class == SN_FLOW_AND_NOT;
}

/** Logic has lanes only where one element of memory serves all. */
static unsigned lane_of(const sn_flowing *f, const sn_flow_rule *rule) {
    const sn_operand *last = sn_flow_operand(f, last_value(f));
    if (rule->lane) return rule->lane;
    return sn_flow_is_broadcast(f, last) ? last->size : 0;
}

static bool add_some_lanes(sn_flowing *f, const sn_flow_rule *rule, bool first_too) {
    uint8_t arguments[SN_FLOWING_MOST_ARGUMENTS];
    unsigned count = sn_flow_vector_arguments(f, first_too, arguments), size = first(f)->size;
    unsigned lane = lane_of(f, rule);
    sn_flow *flow = sn_flow_to(f, rule->kind, sn_flow_first(f));
    flow->is_signed = rule->source_lane;
    if (count == 2 && sn_flow_same_vector(f, arguments[0], arguments[1]) && is_constant(rule->kind, &flow->constant)) {
        flow->kind = SN_FLOW_CONSTANT;
        return finish_first(f, flow);
    }
    set_lane(flow, lane, lane);
    for (unsigned i = 0; i < count; i++) sn_flow_from(flow, sn_flow_vector_source(f, arguments[i], size));
    return finish_first(f, flow);
}

static bool add_lanes(sn_flowing *f, const sn_flow_rule *rule) { return add_some_lanes(f, rule, false); }
static bool add_lanes_3(sn_flowing *f, const sn_flow_rule *rule) { return add_some_lanes(f, rule, true); }

/** Whether bit N of the result depends on source number `source`, 2 being the lowest bit of the table's index. */
static bool table_depends(unsigned table, unsigned source) {
    unsigned distance = 4u >> source;
    for (unsigned i = 0; i < 8; i++)
        if ((table >> i & 1) != (table >> (i ^ distance) & 1)) return true;
    return false;
}

/** The table of the sources that matter: those of `matters`, bits in the order of the table's index. */
static unsigned without_others(unsigned table, unsigned matters) {
    unsigned result = 0, rows = 0;
    for (unsigned row = 0; row < 8; row++)
        if (!(row & ~matters)) result |= (table >> row & 1) << rows++;
    return result;
}

static bool add_ternary(sn_flowing *f, const sn_flow_rule *rule) {
    unsigned table = sn_flow_immediate(f), size = first(f)->size, matters = 0;
    sn_flow *flow = sn_flow_to(f, rule->kind, sn_flow_first(f));
    set_lane(flow, lane_of(f, rule), lane_of(f, rule));
    for (unsigned i = 0; i < 3; i++) {
        if (!table_depends(table, i)) continue;
        sn_flow_from(flow, sn_flow_vector_source(f, i, size));
        matters |= 4u >> i;
    }
    flow->truth = (uint8_t)without_others(table, matters);
    if (flow->source_count == 0) {
        flow->kind = SN_FLOW_CONSTANT;
        flow->constant = table ? UINT64_MAX : 0;
    }
    return finish_first(f, flow);
}

/** Into a mask register: flow_mask.c. */
static bool add_compare(sn_flowing *f, const sn_flow_rule *rule) {
    return first(f)->place != SN_PLACE_MASK && add_some_lanes(f, rule, false);
}

/* ------------------------------------------------------------------------- scalars */

/** Above the lowest lane, in the newer encodings, comes what the argument behind the destination has there. */
static bool finish_scalar(sn_flowing *f, sn_flow *flow, unsigned lane, bool keeps_rest) {
    enum { SIZE = 16 };
    flow->is_float = true;
    sn_flow_apply_mask(f, flow);
    if (flow->guard.kind != SN_GUARD_NONE) flow->guard.lane_size = (uint8_t)lane;
    if (is_legacy(f)) return true;
    if (!keeps_rest) sn_flow_of(f, SN_FLOW_COPY, sn_flow_part_of(f->arguments[0], lane, SIZE - lane),
                                sn_flow_part_of(f->arguments[1], lane, SIZE - lane));
    sn_flow_to(f, SN_FLOW_CONSTANT, sn_flow_part_of(f->arguments[0], SIZE, SN_VECTOR_BYTES - SIZE));
    return true;
}

static sn_flow *lowest_lane(sn_flowing *f, const sn_flow_rule *rule) {
    return sn_flow_to(f, rule->kind, sn_flow_part_of(f->arguments[0], 0, rule->lane));
}

static void scalar_source(const sn_flowing *f, sn_flow *flow, unsigned argument, unsigned lane) {
    const sn_operand *operand = sn_flow_operand(f, argument);
    sn_flow_from(flow, sn_flow_part_of(f->arguments[argument], 0, operand->place == SN_PLACE_VECTOR ? lane : operand->size));
}

static bool add_scalar_1(sn_flowing *f, const sn_flow_rule *rule) {
    sn_flow *flow = lowest_lane(f, rule);
    scalar_source(f, flow, last_value(f), rule->source_lane ? rule->source_lane : rule->lane);
    return finish_scalar(f, flow, rule->lane, false);
}

static bool add_scalar_2(sn_flowing *f, const sn_flow_rule *rule) {
    if (first(f)->place != SN_PLACE_VECTOR) return false;
    sn_flow *flow = lowest_lane(f, rule);
    scalar_source(f, flow, last_value(f) - 1, rule->lane);
    scalar_source(f, flow, last_value(f), rule->lane);
    return finish_scalar(f, flow, rule->lane, false);
}

static bool add_scalar_3(sn_flowing *f, const sn_flow_rule *rule) {
    sn_flow *flow = lowest_lane(f, rule);
    for (unsigned i = 0; i < 3; i++) scalar_source(f, flow, i, rule->lane);
    return finish_scalar(f, flow, rule->lane, !rule->source_lane);
}

static bool add_to_general(sn_flowing *f, const sn_flow_rule *rule) {
    sn_flow *flow = sn_flow_to(f, rule->kind, sn_flow_first(f));
    scalar_source(f, flow, last_value(f), rule->source_lane);
    sn_flow_clear_rest(f, f->arguments[0]);
    return true;
}

/* --------------------------------------------------------------------- conversions */

/** What is left of a vector register behind the lanes that are made is cleared, in all encodings. */
static bool add_convert(sn_flowing *f, const sn_flow_rule *rule) {
    unsigned wider = rule->lane > rule->source_lane ? rule->lane : rule->source_lane, count = vector_bytes(f) / wider;
    unsigned size = count * rule->lane;
    uint8_t to = f->arguments[0];
    sn_flow *flow = sn_flow_to(f, rule->kind, sn_flow_part_of(to, 0, size));
    flow->lane_size = rule->lane;
    flow->source_lane_size = rule->source_lane;
    flow->is_float = first(f)->is_float;
    sn_flow_from(flow, sn_flow_vector_source(f, last_value(f), count * rule->source_lane));
    sn_flow_apply_mask(f, flow);
    if (flow->guard.kind != SN_GUARD_NONE) flow->guard.lane_size = rule->lane;
    if (first(f)->place == SN_PLACE_MEMORY) return true;
    unsigned end = is_legacy(f) ? 16 : SN_VECTOR_BYTES;
    if (size < end) sn_flow_to(f, SN_FLOW_CONSTANT, sn_flow_part_of(to, size, end - size));
    return true;
}

/** A flow for each lane, for the sources are not whole. */
static bool add_low_product(sn_flowing *f, const sn_flow_rule *rule) {
    enum { LANE = 8, USED = 4 };
    uint8_t arguments[SN_FLOWING_MOST_ARGUMENTS];
    unsigned count = sn_flow_vector_arguments(f, false, arguments);
    for (unsigned offset = 0; offset < first(f)->size; offset += LANE) {
        sn_flow *flow = sn_flow_to(f, rule->kind, sn_flow_part_of(f->arguments[0], offset, LANE));
        for (unsigned i = 0; i < count; i++) {
            bool same = sn_flow_is_broadcast(f, sn_flow_operand(f, arguments[i]));
            sn_flow_from(flow, sn_flow_part_of(f->arguments[arguments[i]], same ? 0 : offset, USED));
        }
        if (f->mask == SN_NO_ARGUMENT) continue;
        sn_flow_apply_mask(f, flow); /* its bit is not the lowest: any bit of the mask's byte */
        flow->guard.kind = SN_GUARD_CONDITION;
        flow->guard.condition.size = 1;
    }
    sn_flow_clear_rest(f, f->arguments[0]);
    return true;
}

/* -------------------------------------------------------------------------- shifts */

static unsigned shifted_argument(const sn_flowing *f) { return f->argument_count == 3 ? 1 : 0; }

/** All lanes by one count: an immediate, or the lower half of a vector. */
static bool add_shift(sn_flowing *f, const sn_flow_rule *rule) {
    enum { COUNT_BYTES = 8 };
    unsigned last = f->argument_count - 1u;
    sn_flow *flow = sn_flow_of(f, rule->kind, sn_flow_first(f),
                               sn_flow_vector_source(f, shifted_argument(f), first(f)->size));
    flow->lane_size = flow->source_lane_size = rule->lane;
    if (sn_flow_operand(f, last)->place == SN_PLACE_IMMEDIATE) {
        bool turns = rule->kind == SN_FLOW_ROTATE_LEFT || rule->kind == SN_FLOW_ROTATE_RIGHT;
        flow->amount = (uint16_t)(turns ? sn_flow_immediate(f) % (8u * rule->lane) : sn_flow_immediate(f));
    } else {
        sn_flow_piece count = sn_flow_part_of(f->arguments[last], 0, COUNT_BYTES);
        count.every_lane = true;
        sn_flow_from(flow, count);
    }
    return finish_first(f, flow);
}

static bool add_shift_each(sn_flowing *f, const sn_flow_rule *rule) {
    sn_flow *flow = sn_flow_to(f, rule->kind, sn_flow_first(f));
    flow->lane_size = flow->source_lane_size = rule->lane;
    for (unsigned i = 1; i < 3; i++) sn_flow_from(flow, sn_flow_vector_source(f, i, first(f)->size));
    return finish_first(f, flow);
}

/* ---------------------------------------------------------------------- selections */

static uint8_t hidden_vector(const sn_flowing *f) {
    for (uint8_t i = 0; i < f->operand_count; i++)
        if (f->operands[i].place == SN_PLACE_VECTOR && !f->operands[i].is_explicit) return i;
    return SN_NO_ARGUMENT;
}

static bool add_select(sn_flowing *f, const sn_flow_rule *rule) {
    bool implicit = hidden_vector(f) != SN_NO_ARGUMENT || is_legacy(f);
    uint8_t mask = implicit ? hidden_vector(f) : f->arguments[3];
    if (mask == SN_NO_ARGUMENT) mask = f->arguments[2]; /* implicit, and named */
    unsigned size = first(f)->size, on = implicit ? 1 : 2, off = implicit ? 0 : 1;
    sn_flow *flow = sn_flow_of(f, rule->kind, sn_flow_first(f), sn_flow_vector_source(f, on, size));
    flow->guard = (sn_flow_guard){.kind = SN_GUARD_HIGH_BITS, .lane_size = rule->lane,
                                  .condition = sn_flow_part_of(mask, 0, size),
                                  .otherwise = sn_flow_vector_source(f, off, size)};
    flow->is_float = first(f)->is_float;
    sn_flow_clear_rest(f, f->arguments[0]);
    return true;
}

static bool add_blend(sn_flowing *f, const sn_flow_rule *rule) {
    unsigned size = first(f)->size;
    sn_flow *flow = sn_flow_of(f, rule->kind, sn_flow_first(f), sn_flow_vector_source(f, 2, size));
    set_lane(flow, rule->lane, rule->lane);
    finish_first(f, flow);
    if (flow->guard.otherwise.size) flow->guard.otherwise = sn_flow_vector_source(f, 1, size);
    return true;
}

/** Loads clear what the mask leaves out, stores leave it. */
static bool add_masked_move(sn_flowing *f, const sn_flow_rule *rule) {
    unsigned size = first(f)->size;
    bool stores = first(f)->place == SN_PLACE_MEMORY;
    sn_flow *flow = sn_flow_of(f, rule->kind, sn_flow_first(f), sn_flow_vector_source(f, 2, size));
    flow->guard.kind = SN_GUARD_HIGH_BITS;
    flow->guard.lane_size = rule->lane;
    flow->guard.condition = sn_flow_part_of(f->arguments[1], 0, size);
    if (stores) flow->guard.otherwise = flow->destination;
    sn_flow_clear_rest(f, f->arguments[0]);
    return true;
}

static uint8_t memory_of(const sn_flowing *f) {
    for (uint8_t i = 0; i < f->operand_count; i++)
        if (f->operands[i].place == SN_PLACE_MEMORY) return i;
    return SN_NO_ARGUMENT;
}

static bool add_masked_store(sn_flowing *f, const sn_flow_rule *rule) {
    uint8_t memory = memory_of(f);
    if (memory == SN_NO_ARGUMENT) return false;
    unsigned size = f->operands[memory].size;
    sn_flow *flow = sn_flow_of(f, rule->kind, sn_flow_whole(f, memory), sn_flow_part_of(f->arguments[0], 0, size));
    flow->guard.kind = SN_GUARD_HIGH_BITS;
    flow->guard.lane_size = rule->lane;
    flow->guard.condition = sn_flow_part_of(f->arguments[1], 0, size);
    flow->guard.otherwise = flow->destination;
    return true;
}

/** The mask's bits go as elements are loaded: none is left. */
static void consume_mask(sn_flowing *f) {
    sn_flow_to(f, SN_FLOW_CONSTANT, sn_flow_part_of(f->mask, 0, SN_MASK_BYTES));
}

static bool add_gather(sn_flowing *f, const sn_flow_rule *rule) {
    uint8_t to = f->arguments[0], memory = memory_of(f);
    if (memory == SN_NO_ARGUMENT || f->operands[memory].role == SN_ROLE_ADDRESS) return false;
    unsigned size = f->operands[memory].size;
    sn_flow *flow = sn_flow_of(f, rule->kind, sn_flow_part_of(to, 0, size), sn_flow_whole(f, memory));
    sn_flow_apply_mask(f, flow);
    flow->guard.lane_size = rule->lane;
    if (f->mask == SN_NO_ARGUMENT) {
        uint8_t mask = f->arguments[2];
        flow->guard.kind = SN_GUARD_HIGH_BITS;
        flow->guard.condition = sn_flow_part_of(mask, 0, size);
        flow->guard.otherwise = flow->destination;
        sn_flow_to(f, SN_FLOW_CONSTANT, sn_flow_part_of(mask, 0, SN_VECTOR_BYTES));
    } else {
        consume_mask(f);
    }
    sn_flow_to(f, SN_FLOW_CONSTANT, sn_flow_part_of(to, size, SN_VECTOR_BYTES - size));
    if (size == SN_VECTOR_BYTES) f->count--;
    return true;
}

static bool add_scatter(sn_flowing *f, const sn_flow_rule *rule) {
    uint8_t memory = memory_of(f);
    if (memory == SN_NO_ARGUMENT || f->operands[memory].role == SN_ROLE_ADDRESS || f->mask == SN_NO_ARGUMENT) return false;
    unsigned size = f->operands[memory].size;
    sn_flow *flow = sn_flow_of(f, rule->kind, sn_flow_whole(f, memory), sn_flow_part_of(f->arguments[1], 0, size));
    sn_flow_apply_mask(f, flow);
    flow->guard.lane_size = rule->lane;
    consume_mask(f);
    return true;
}

/* -------------------------------------------------------------------- flags, states */

static bool add_test(sn_flowing *f, const sn_flow_rule *rule) {
    static const struct {
        uint8_t flag, kind;
    } flags[] = {{SN_FLOW_FLAG_ZERO, SN_FLOW_AND}, {SN_FLOW_FLAG_CARRY, SN_FLOW_AND_NOT}};
    (void)rule;
    if (f->flags == SN_NO_ARGUMENT) return false;
    unsigned size = first(f)->size;
    for (unsigned i = 0; i < 2; i++) {
        sn_flow *flow = sn_flow_to(f, flags[i].kind, sn_flow_flags_piece(f, flags[i].flag));
        for (unsigned k = 0; k < 2; k++) sn_flow_from(flow, sn_flow_vector_source(f, k, size));
    }
    sn_flow_flags_constant(f, SN_FLOW_FLAG_PARITY | SN_FLOW_FLAG_ADJUST | SN_FLOW_FLAG_SIGN | SN_FLOW_FLAG_OVERFLOW);
    return true;
}

/** The upper 16 registers are left alone (Intel SDM volume 2, VZEROUPPER, VZEROALL). */
static bool add_clear(sn_flowing *f, const sn_flow_rule *rule) {
    enum { REGISTERS = 16 };
    for (uint8_t i = 0; i < REGISTERS; i++) {
        sn_flow_piece rest = sn_flow_part_of(i, rule->lane, SN_VECTOR_BYTES - rule->lane);
        rest.part = SN_PART_VECTOR;
        sn_flow_to(f, rule->kind, rest);
    }
    return true;
}

/** The low 16 bytes of the vectors have the same place in all images of the state (Intel SDM volume 1, 10.5.1 and 13.4.1). */
enum { SAVED_VECTORS = 160, SAVED_VECTOR_BYTES = 16, SAVED_VECTOR_COUNT = 16 };

static sn_flow_piece saved_register(uint8_t number) {
    sn_flow_piece piece = sn_flow_part_of(number, 0, SAVED_VECTOR_BYTES);
    piece.part = SN_PART_VECTOR;
    return piece;
}

/** What is asked for, and is not in its initial state, is saved or restored; the rest stays. */
static void guard_state(const sn_flowing *f, const sn_flow_rule *rule, sn_flow *flow) {
    if (!rule->lane) return;
    for (uint8_t i = 0; i < f->operand_count; i++)
        if (f->operands[i].place == SN_PLACE_GENERAL && f->operands[i].reg == 0)
            flow->guard.condition = sn_flow_part_of(i, 0, 1);
    flow->guard.kind = SN_GUARD_CONDITION;
    flow->guard.otherwise = flow->destination;
}

static bool add_save(sn_flowing *f, const sn_flow_rule *rule) {
    uint8_t memory = f->arguments[0];
    sn_flow *flow = sn_flow_to(f, SN_FLOW_ANY, sn_flow_part_of(memory, 0, rule->lane ? 0 : SAVED_VECTORS));
    guard_state(f, rule, flow);
    for (uint8_t i = 0; i < SAVED_VECTOR_COUNT; i++) {
        unsigned offset = SAVED_VECTORS + i * SAVED_VECTOR_BYTES;
        flow = sn_flow_of(f, rule->kind, sn_flow_part_of(memory, offset, SAVED_VECTOR_BYTES), saved_register(i));
        guard_state(f, rule, flow);
    }
    return true;
}

static bool add_restore(sn_flowing *f, const sn_flow_rule *rule) {
    for (uint8_t i = 0; i < SAVED_VECTOR_COUNT; i++) {
        unsigned offset = SAVED_VECTORS + i * SAVED_VECTOR_BYTES;
        sn_flow_piece from = sn_flow_part_of(f->arguments[0], offset, SAVED_VECTOR_BYTES);
        guard_state(f, rule, sn_flow_of(f, rule->kind, saved_register(i), from));
    }
    return true;
}

/* --------------------------------------------------------------------------- table */

typedef bool shape_function(sn_flowing *f, const sn_flow_rule *rule);

static shape_function *const shapes[SHAPES] = {
    [SHAPE_MOVE] = add_move,
    [SHAPE_MEMORY_MOVE] = add_memory_move,
    [SHAPE_SCALAR_MOVE] = add_scalar_move,
    [SHAPE_HALF_MOVE] = add_half_move,
    [SHAPE_LANES] = add_lanes,
    [SHAPE_LANES_3] = add_lanes_3,
    [SHAPE_TERNARY] = add_ternary,
    [SHAPE_COMPARE] = add_compare,
    [SHAPE_SCALAR_1] = add_scalar_1,
    [SHAPE_SCALAR_2] = add_scalar_2,
    [SHAPE_SCALAR_3] = add_scalar_3,
    [SHAPE_TO_GENERAL] = add_to_general,
    [SHAPE_CONVERT] = add_convert,
    [SHAPE_LOW_PRODUCT] = add_low_product,
    [SHAPE_SHIFT] = add_shift,
    [SHAPE_SHIFT_EACH] = add_shift_each,
    [SHAPE_SELECT] = add_select,
    [SHAPE_BLEND] = add_blend,
    [SHAPE_MASKED_MOVE] = add_masked_move,
    [SHAPE_MASKED_STORE] = add_masked_store,
    [SHAPE_GATHER] = add_gather,
    [SHAPE_SCATTER] = add_scatter,
    [SHAPE_TEST] = add_test,
    [SHAPE_CLEAR] = add_clear,
    [SHAPE_SAVE] = add_save,
    [SHAPE_RESTORE] = add_restore,
};

#define ROW(name, shape_name, class_name, lane_bytes, source_bytes)                                  \
    [ZYDIS_MNEMONIC_##name] = {.shape = SHAPE_##shape_name, .kind = SN_FLOW_##class_name,           \
                               .lane = (lane_bytes), .source_lane = (source_bytes)}
#define MOVE(name) ROW(name, MOVE, COPY, 0, 0)
#define LANES(name, class_name, lane) ROW(name, LANES, class_name, lane, 0)
/** In the old encoding and in the newer ones. */
#define BOTH(row, name, ...) row(name, __VA_ARGS__), row(V##name, __VA_ARGS__)
#define BOTH_MOVE(name) MOVE(name), MOVE(V##name)
#define BOTH_LANES(name, class_name, lane) LANES(name, class_name, lane), LANES(V##name, class_name, lane)
#define BOTH_FLOAT(name)                                                                             \
    BOTH_LANES(name##PS, ANY, 4), BOTH_LANES(name##PD, ANY, 8), BOTH(ROW, name##SS, SCALAR_2, ANY, 4, 0), \
        BOTH(ROW, name##SD, SCALAR_2, ANY, 8, 0)
#define HALF_FLOAT(name) LANES(V##name##PH, ANY, 2), ROW(V##name##SH, SCALAR_2, ANY, 2, 0)
#define FLOAT_OF_ONE(name)                                                                           \
    LANES(V##name##PS, ANY, 4), LANES(V##name##PD, ANY, 8), ROW(V##name##SS, SCALAR_1, ANY, 4, 0),   \
        ROW(V##name##SD, SCALAR_1, ANY, 8, 0)
#define FLOAT_OF_TWO(name)                                                                           \
    LANES(V##name##PS, ANY, 4), LANES(V##name##PD, ANY, 8), ROW(V##name##SS, SCALAR_2, ANY, 4, 0),   \
        ROW(V##name##SD, SCALAR_2, ANY, 8, 0)
#define HALF_OF_ONE(name) LANES(V##name##PH, ANY, 2), ROW(V##name##SH, SCALAR_1, ANY, 2, 0)
#define PACKED_FMA(name)                                                                             \
    ROW(name##PS, LANES_3, ANY, 4, 0), ROW(name##PD, LANES_3, ANY, 8, 0), ROW(name##PH, LANES_3, ANY, 2, 0)
#define SCALAR_FMA(name)                                                                             \
    ROW(name##SS, SCALAR_3, ANY, 4, 0), ROW(name##SD, SCALAR_3, ANY, 8, 0), ROW(name##SH, SCALAR_3, ANY, 2, 0)
#define EACH_ORDER(rows, name) rows(name##132), rows(name##213), rows(name##231)
#define CONVERT(name, class_name, lane, source) ROW(name, CONVERT, class_name, lane, source)
#define BOTH_CONVERT(name, class_name, lane, source)                                                 \
    CONVERT(name, class_name, lane, source), CONVERT(V##name, class_name, lane, source)
#define EXTEND(letter, class_name)                                                                   \
    BOTH_CONVERT(PMOV##letter##XBW, class_name, 2, 1), BOTH_CONVERT(PMOV##letter##XBD, class_name, 4, 1), \
        BOTH_CONVERT(PMOV##letter##XBQ, class_name, 8, 1), BOTH_CONVERT(PMOV##letter##XWD, class_name, 4, 2), \
        BOTH_CONVERT(PMOV##letter##XWQ, class_name, 8, 2), BOTH_CONVERT(PMOV##letter##XDQ, class_name, 8, 4)
#define NARROW(letters, class_name)                                                                  \
    CONVERT(VPMOV##letters##WB, class_name, 1, 2), CONVERT(VPMOV##letters##DB, class_name, 1, 4),    \
        CONVERT(VPMOV##letters##QB, class_name, 1, 8), CONVERT(VPMOV##letters##DW, class_name, 2, 4), \
        CONVERT(VPMOV##letters##QW, class_name, 2, 8), CONVERT(VPMOV##letters##QD, class_name, 4, 8)
#define SHIFT(name, class_name, lane) BOTH(ROW, name, SHIFT, class_name, lane, 0)
#define SHIFT_EACH(name, class_name, lane) ROW(name, SHIFT_EACH, class_name, lane, 0)
#define LIMIT(name, class_name)                                                                      \
    BOTH(ROW, name##SB, LANES, class_name, 1, 1), BOTH(ROW, name##SW, LANES, class_name, 2, 1),      \
        BOTH(ROW, name##SD, LANES, class_name, 4, 1), BOTH(ROW, name##UB, LANES, class_name, 1, 0),  \
        BOTH(ROW, name##UW, LANES, class_name, 2, 0), BOTH(ROW, name##UD, LANES, class_name, 4, 0),  \
        ROW(V##name##SQ, LANES, class_name, 8, 1), ROW(V##name##UQ, LANES, class_name, 8, 0)
#define CONVERT_INTEGERS(letters)                                                                    \
    CONVERT(VCVT##letters##PS2UDQ, ANY, 4, 4), CONVERT(VCVT##letters##PS2QQ, ANY, 8, 4),             \
        CONVERT(VCVT##letters##PS2UQQ, ANY, 8, 4), CONVERT(VCVT##letters##PD2UDQ, ANY, 4, 8),        \
        CONVERT(VCVT##letters##PD2QQ, ANY, 8, 8), CONVERT(VCVT##letters##PD2UQQ, ANY, 8, 8),         \
        CONVERT(VCVT##letters##PH2DQ, ANY, 4, 2), CONVERT(VCVT##letters##PH2UDQ, ANY, 4, 2),         \
        CONVERT(VCVT##letters##PH2QQ, ANY, 8, 2), CONVERT(VCVT##letters##PH2UQQ, ANY, 8, 2),         \
        CONVERT(VCVT##letters##PH2W, ANY, 2, 2), CONVERT(VCVT##letters##PH2UW, ANY, 2, 2),           \
        ROW(VCVT##letters##SS2USI, TO_GENERAL, ANY, 0, 4), ROW(VCVT##letters##SD2USI, TO_GENERAL, ANY, 0, 8), \
        ROW(VCVT##letters##SH2USI, TO_GENERAL, ANY, 0, 2), ROW(VCVT##letters##SH2SI, TO_GENERAL, ANY, 0, 2)

static const sn_flow_rule rules[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
    /* moves */
    BOTH_MOVE(LDDQU), BOTH_MOVE(MOVAPD), BOTH_MOVE(MOVAPS), BOTH_MOVE(MOVD), BOTH_MOVE(MOVDQA), BOTH_MOVE(MOVDQU),
    BOTH_MOVE(MOVNTDQ), BOTH_MOVE(MOVNTDQA), BOTH_MOVE(MOVNTPD), BOTH_MOVE(MOVNTPS), BOTH_MOVE(MOVQ), BOTH_MOVE(MOVUPD),
    BOTH_MOVE(MOVUPS), MOVE(MOVDQ2Q), MOVE(MOVNTQ), MOVE(MOVQ2DQ), MOVE(VMOVDQA32), MOVE(VMOVDQA64), MOVE(VMOVDQU8),
    MOVE(VMOVDQU16), MOVE(VMOVDQU32), MOVE(VMOVDQU64), MOVE(VMOVW),
    ROW(MOVDIR64B, MEMORY_MOVE, COPY, 0, 0),
    BOTH(ROW, MOVSS, SCALAR_MOVE, COPY, 4, 0), BOTH(ROW, MOVSD, SCALAR_MOVE, COPY, 8, 0),
    ROW(VMOVSH, SCALAR_MOVE, COPY, 2, 0), BOTH(ROW, MOVLPS, HALF_MOVE, COPY, 0, 0), BOTH(ROW, MOVLPD, HALF_MOVE, COPY, 0, 0),
    BOTH(ROW, MOVHPS, HALF_MOVE, COPY, 8, 0), BOTH(ROW, MOVHPD, HALF_MOVE, COPY, 8, 0),
    BOTH(ROW, MOVLHPS, HALF_MOVE, COPY, 8, 0), BOTH(ROW, MOVHLPS, HALF_MOVE, COPY, 0, 8),
    /* logic */
    BOTH_LANES(PAND, AND, 0), BOTH_LANES(ANDPS, AND, 0), BOTH_LANES(ANDPD, AND, 0), LANES(VPANDD, AND, 0),
    LANES(VPANDQ, AND, 0), BOTH_LANES(POR, OR, 0), BOTH_LANES(ORPS, OR, 0), BOTH_LANES(ORPD, OR, 0), LANES(VPORD, OR, 0),
    LANES(VPORQ, OR, 0), BOTH_LANES(PXOR, XOR, 0), BOTH_LANES(XORPS, XOR, 0), BOTH_LANES(XORPD, XOR, 0),
    LANES(VPXORD, XOR, 0), LANES(VPXORQ, XOR, 0), BOTH_LANES(PANDN, AND_NOT, 0), BOTH_LANES(ANDNPS, AND_NOT, 0),
    BOTH_LANES(ANDNPD, AND_NOT, 0), LANES(VPANDND, AND_NOT, 0), LANES(VPANDNQ, AND_NOT, 0),
    ROW(VPTERNLOGD, TERNARY, BITWISE, 0, 0), ROW(VPTERNLOGQ, TERNARY, BITWISE, 0, 0),
    /* whole numbers */
    BOTH_LANES(PADDB, ADD, 1), BOTH_LANES(PADDW, ADD, 2), BOTH_LANES(PADDD, ADD, 4), BOTH_LANES(PADDQ, ADD, 8),
    BOTH_LANES(PSUBB, SUBTRACT, 1), BOTH_LANES(PSUBW, SUBTRACT, 2), BOTH_LANES(PSUBD, SUBTRACT, 4),
    BOTH_LANES(PSUBQ, SUBTRACT, 8), BOTH_LANES(PADDSB, ANY, 1), BOTH_LANES(PADDSW, ANY, 2), BOTH_LANES(PADDUSB, ANY, 1),
    BOTH_LANES(PADDUSW, ANY, 2), BOTH_LANES(PSUBSB, ANY, 1), BOTH_LANES(PSUBSW, ANY, 2), BOTH_LANES(PSUBUSB, ANY, 1),
    BOTH_LANES(PSUBUSW, ANY, 2), BOTH_LANES(PAVGB, ANY, 1), BOTH_LANES(PAVGW, ANY, 2), BOTH_LANES(PABSB, ANY, 1),
    BOTH_LANES(PABSW, ANY, 2), BOTH_LANES(PABSD, ANY, 4), LANES(VPABSQ, ANY, 8), BOTH_LANES(PSIGNB, ANY, 1),
    BOTH_LANES(PSIGNW, ANY, 2), BOTH_LANES(PSIGND, ANY, 4), BOTH_LANES(PMULLW, MULTIPLY, 2), BOTH_LANES(PMULLD, MULTIPLY, 4),
    LANES(VPMULLQ, MULTIPLY, 8), BOTH_LANES(PMULHW, ANY, 2), BOTH_LANES(PMULHUW, ANY, 2), BOTH_LANES(PMULHRSW, ANY, 2),
    BOTH_LANES(PMADDWD, ANY, 4), BOTH_LANES(PMADDUBSW, ANY, 2), BOTH_LANES(PSADBW, ANY, 8),
    BOTH(ROW, PMULUDQ, LOW_PRODUCT, ANY, 8, 0), BOTH(ROW, PMULDQ, LOW_PRODUCT, ANY, 8, 0),
    BOTH_LANES(PHADDW, ANY, 16), BOTH_LANES(PHADDD, ANY, 16), BOTH_LANES(PHADDSW, ANY, 16), BOTH_LANES(PHSUBW, ANY, 16),
    BOTH_LANES(PHSUBD, ANY, 16), BOTH_LANES(PHSUBSW, ANY, 16), BOTH_LANES(MPSADBW, ANY, 16), LANES(VDBPSADBW, ANY, 16),
    LIMIT(PMIN, MINIMUM), LIMIT(PMAX, MAXIMUM), LANES(VPOPCNTB, ANY, 1), LANES(VPOPCNTW, ANY, 2), LANES(VPOPCNTD, ANY, 4),
    LANES(VPOPCNTQ, ANY, 8), LANES(VPLZCNTD, LEADING_ZEROS, 4), LANES(VPLZCNTQ, LEADING_ZEROS, 8),
    LANES(VPMULTISHIFTQB, ANY, 8), ROW(VPDPBUSD, LANES_3, ANY, 4, 0), ROW(VPDPBUSDS, LANES_3, ANY, 4, 0),
    ROW(VPDPWSSD, LANES_3, ANY, 4, 0), ROW(VPDPWSSDS, LANES_3, ANY, 4, 0), ROW(VPMADD52LUQ, LANES_3, ANY, 8, 0),
    ROW(VPMADD52HUQ, LANES_3, ANY, 8, 0), ROW(VDPBF16PS, LANES_3, ANY, 4, 0),
    ROW(VPSHLDVW, LANES_3, ANY, 2, 0), ROW(VPSHLDVD, LANES_3, ANY, 4, 0), ROW(VPSHLDVQ, LANES_3, ANY, 8, 0),
    ROW(VPSHRDVW, LANES_3, ANY, 2, 0), ROW(VPSHRDVD, LANES_3, ANY, 4, 0), ROW(VPSHRDVQ, LANES_3, ANY, 8, 0),
    LANES(VPSHLDW, ANY, 2), LANES(VPSHLDD, ANY, 4), LANES(VPSHLDQ, ANY, 8), LANES(VPSHRDW, ANY, 2), LANES(VPSHRDD, ANY, 4),
    LANES(VPSHRDQ, ANY, 8), BOTH_LANES(GF2P8MULB, ANY, 1), BOTH_LANES(GF2P8AFFINEQB, ANY, 8),
    BOTH_LANES(GF2P8AFFINEINVQB, ANY, 8), BOTH_LANES(AESENC, ANY, 16), BOTH_LANES(AESENCLAST, ANY, 16),
    BOTH_LANES(AESDEC, ANY, 16), BOTH_LANES(AESDECLAST, ANY, 16), BOTH_LANES(PCLMULQDQ, ANY, 16),
    /* compares into vectors */
    BOTH(ROW, PCMPEQB, COMPARE, EQUAL, 1, 0), BOTH(ROW, PCMPEQW, COMPARE, EQUAL, 2, 0),
    BOTH(ROW, PCMPEQD, COMPARE, EQUAL, 4, 0), BOTH(ROW, PCMPEQQ, COMPARE, EQUAL, 8, 0),
    BOTH(ROW, PCMPGTB, COMPARE, GREATER, 1, 0), BOTH(ROW, PCMPGTW, COMPARE, GREATER, 2, 0),
    BOTH(ROW, PCMPGTD, COMPARE, GREATER, 4, 0), BOTH(ROW, PCMPGTQ, COMPARE, GREATER, 8, 0),
    BOTH(ROW, CMPPS, COMPARE, ANY, 4, 0), BOTH(ROW, CMPPD, COMPARE, ANY, 8, 0), BOTH(ROW, CMPSS, SCALAR_2, ANY, 4, 0),
    BOTH(ROW, CMPSD, SCALAR_2, ANY, 8, 0),
    /* shifts */
    SHIFT(PSLLW, SHIFT_LEFT, 2), SHIFT(PSLLD, SHIFT_LEFT, 4), SHIFT(PSLLQ, SHIFT_LEFT, 8), SHIFT(PSRLW, SHIFT_RIGHT, 2),
    SHIFT(PSRLD, SHIFT_RIGHT, 4), SHIFT(PSRLQ, SHIFT_RIGHT, 8), SHIFT(PSRAW, SHIFT_ARITHMETIC, 2),
    SHIFT(PSRAD, SHIFT_ARITHMETIC, 4), ROW(VPSRAQ, SHIFT, SHIFT_ARITHMETIC, 8, 0), ROW(VPROLD, SHIFT, ROTATE_LEFT, 4, 0),
    ROW(VPROLQ, SHIFT, ROTATE_LEFT, 8, 0), ROW(VPRORD, SHIFT, ROTATE_RIGHT, 4, 0), ROW(VPRORQ, SHIFT, ROTATE_RIGHT, 8, 0),
    SHIFT_EACH(VPSLLVW, SHIFT_LEFT, 2), SHIFT_EACH(VPSLLVD, SHIFT_LEFT, 4), SHIFT_EACH(VPSLLVQ, SHIFT_LEFT, 8),
    SHIFT_EACH(VPSRLVW, SHIFT_RIGHT, 2), SHIFT_EACH(VPSRLVD, SHIFT_RIGHT, 4), SHIFT_EACH(VPSRLVQ, SHIFT_RIGHT, 8),
    SHIFT_EACH(VPSRAVW, SHIFT_ARITHMETIC, 2), SHIFT_EACH(VPSRAVD, SHIFT_ARITHMETIC, 4),
    SHIFT_EACH(VPSRAVQ, SHIFT_ARITHMETIC, 8), SHIFT_EACH(VPROLVD, ROTATE_LEFT, 4), SHIFT_EACH(VPROLVQ, ROTATE_LEFT, 8),
    SHIFT_EACH(VPRORVD, ROTATE_RIGHT, 4), SHIFT_EACH(VPRORVQ, ROTATE_RIGHT, 8),
    /* floating point */
    BOTH_FLOAT(ADD), BOTH_FLOAT(SUB), BOTH_FLOAT(MUL), BOTH_FLOAT(DIV), BOTH_FLOAT(MIN), BOTH_FLOAT(MAX),
    HALF_FLOAT(ADD), HALF_FLOAT(SUB), HALF_FLOAT(MUL), HALF_FLOAT(DIV), HALF_FLOAT(MIN), HALF_FLOAT(MAX),
    BOTH_LANES(ADDSUBPS, ANY, 4), BOTH_LANES(ADDSUBPD, ANY, 8), BOTH_LANES(HADDPS, ANY, 16), BOTH_LANES(HADDPD, ANY, 16),
    BOTH_LANES(HSUBPS, ANY, 16), BOTH_LANES(HSUBPD, ANY, 16), BOTH_LANES(DPPS, ANY, 16), BOTH_LANES(DPPD, ANY, 16),
    BOTH_LANES(SQRTPS, ANY, 4), BOTH_LANES(SQRTPD, ANY, 8), BOTH_LANES(RCPPS, ANY, 4), BOTH_LANES(RSQRTPS, ANY, 4),
    BOTH_LANES(ROUNDPS, ANY, 4), BOTH_LANES(ROUNDPD, ANY, 8), BOTH(ROW, SQRTSS, SCALAR_1, ANY, 4, 0),
    BOTH(ROW, SQRTSD, SCALAR_1, ANY, 8, 0), BOTH(ROW, RCPSS, SCALAR_1, ANY, 4, 0), BOTH(ROW, RSQRTSS, SCALAR_1, ANY, 4, 0),
    BOTH(ROW, ROUNDSS, SCALAR_1, ANY, 4, 0), BOTH(ROW, ROUNDSD, SCALAR_1, ANY, 8, 0),
    FLOAT_OF_ONE(GETEXP), FLOAT_OF_ONE(GETMANT), FLOAT_OF_ONE(REDUCE), FLOAT_OF_ONE(RNDSCALE), FLOAT_OF_ONE(RCP14),
    FLOAT_OF_ONE(RSQRT14), FLOAT_OF_TWO(RANGE), FLOAT_OF_TWO(SCALEF), HALF_FLOAT(SCALEF), HALF_OF_ONE(GETEXP),
    HALF_OF_ONE(GETMANT), HALF_OF_ONE(REDUCE), HALF_OF_ONE(RNDSCALE), HALF_OF_ONE(RCP), HALF_OF_ONE(RSQRT), HALF_OF_ONE(SQRT),
    EACH_ORDER(PACKED_FMA, VFMADD), EACH_ORDER(PACKED_FMA, VFMSUB), EACH_ORDER(PACKED_FMA, VFNMADD),
    EACH_ORDER(PACKED_FMA, VFNMSUB), EACH_ORDER(PACKED_FMA, VFMADDSUB), EACH_ORDER(PACKED_FMA, VFMSUBADD),
    EACH_ORDER(SCALAR_FMA, VFMADD), EACH_ORDER(SCALAR_FMA, VFMSUB), EACH_ORDER(SCALAR_FMA, VFNMADD),
    EACH_ORDER(SCALAR_FMA, VFNMSUB), ROW(VFIXUPIMMPS, LANES_3, ANY, 4, 0), ROW(VFIXUPIMMPD, LANES_3, ANY, 8, 0),
    ROW(VFIXUPIMMSS, SCALAR_3, ANY, 4, 1), ROW(VFIXUPIMMSD, SCALAR_3, ANY, 8, 1), ROW(VFMADDCSH, SCALAR_3, ANY, 4, 1),
    ROW(VFCMADDCSH, SCALAR_3, ANY, 4, 1), ROW(VFMULCSH, SCALAR_2, ANY, 4, 0), ROW(VFCMULCSH, SCALAR_2, ANY, 4, 0),
    ROW(VFMADDCPH, LANES_3, ANY, 4, 0), ROW(VFCMADDCPH, LANES_3, ANY, 4, 0), LANES(VFMULCPH, ANY, 4),
    LANES(VFCMULCPH, ANY, 4),
    /* conversions */
    EXTEND(Z, ZERO_EXTEND), EXTEND(S, SIGN_EXTEND), NARROW(, TRUNCATE), NARROW(S, ANY), NARROW(US, ANY),
    BOTH_CONVERT(CVTDQ2PD, ANY, 8, 4), BOTH_CONVERT(CVTDQ2PS, ANY, 4, 4), BOTH_CONVERT(CVTPD2DQ, ANY, 4, 8),
    BOTH_CONVERT(CVTPD2PS, ANY, 4, 8), BOTH_CONVERT(CVTPS2DQ, ANY, 4, 4), BOTH_CONVERT(CVTPS2PD, ANY, 8, 4),
    BOTH_CONVERT(CVTTPD2DQ, ANY, 4, 8), BOTH_CONVERT(CVTTPS2DQ, ANY, 4, 4), CONVERT(VCVTPH2PS, ANY, 4, 2),
    CONVERT(VCVTPS2PH, ANY, 2, 4), CONVERT(VCVTPH2PSX, ANY, 4, 2), CONVERT(VCVTPS2PHX, ANY, 2, 4), CONVERT(VCVTPH2PD, ANY, 8, 2),
    CONVERT(VCVTPD2PH, ANY, 2, 8), CONVERT(VCVTDQ2PH, ANY, 2, 4), CONVERT(VCVTQQ2PH, ANY, 2, 8), CONVERT(VCVTUDQ2PH, ANY, 2, 4),
    CONVERT(VCVTUQQ2PH, ANY, 2, 8), CONVERT(VCVTW2PH, ANY, 2, 2), CONVERT(VCVTUW2PH, ANY, 2, 2), CONVERT(VCVTUDQ2PD, ANY, 8, 4),
    CONVERT(VCVTUDQ2PS, ANY, 4, 4), CONVERT(VCVTQQ2PD, ANY, 8, 8), CONVERT(VCVTQQ2PS, ANY, 4, 8), CONVERT(VCVTUQQ2PD, ANY, 8, 8),
    CONVERT(VCVTUQQ2PS, ANY, 4, 8), CONVERT(VCVTNEPS2BF16, ANY, 2, 4), CONVERT_INTEGERS(), CONVERT_INTEGERS(T),
    BOTH(ROW, CVTSS2SD, SCALAR_1, ANY, 8, 4), BOTH(ROW, CVTSD2SS, SCALAR_1, ANY, 4, 8), ROW(VCVTSH2SS, SCALAR_1, ANY, 4, 2),
    ROW(VCVTSH2SD, SCALAR_1, ANY, 8, 2), ROW(VCVTSS2SH, SCALAR_1, ANY, 2, 4), ROW(VCVTSD2SH, SCALAR_1, ANY, 2, 8),
    BOTH(ROW, CVTSI2SS, SCALAR_1, ANY, 4, 0), BOTH(ROW, CVTSI2SD, SCALAR_1, ANY, 8, 0), ROW(VCVTSI2SH, SCALAR_1, ANY, 2, 0),
    ROW(VCVTUSI2SS, SCALAR_1, ANY, 4, 0), ROW(VCVTUSI2SD, SCALAR_1, ANY, 8, 0), ROW(VCVTUSI2SH, SCALAR_1, ANY, 2, 0),
    BOTH(ROW, CVTSS2SI, TO_GENERAL, ANY, 0, 4), BOTH(ROW, CVTSD2SI, TO_GENERAL, ANY, 0, 8),
    BOTH(ROW, CVTTSS2SI, TO_GENERAL, ANY, 0, 4), BOTH(ROW, CVTTSD2SI, TO_GENERAL, ANY, 0, 8),
    /* selections */
    BOTH(ROW, PBLENDVB, SELECT, COPY, 1, 0), BOTH(ROW, BLENDVPS, SELECT, COPY, 4, 0), BOTH(ROW, BLENDVPD, SELECT, COPY, 8, 0),
    ROW(VPBLENDMB, BLEND, COPY, 1, 0), ROW(VPBLENDMW, BLEND, COPY, 2, 0), ROW(VPBLENDMD, BLEND, COPY, 4, 0),
    ROW(VPBLENDMQ, BLEND, COPY, 8, 0), ROW(VBLENDMPS, BLEND, COPY, 4, 0), ROW(VBLENDMPD, BLEND, COPY, 8, 0),
    ROW(VMASKMOVPS, MASKED_MOVE, COPY, 4, 0), ROW(VMASKMOVPD, MASKED_MOVE, COPY, 8, 0),
    ROW(VPMASKMOVD, MASKED_MOVE, COPY, 4, 0), ROW(VPMASKMOVQ, MASKED_MOVE, COPY, 8, 0),
    BOTH(ROW, MASKMOVDQU, MASKED_STORE, COPY, 1, 0), ROW(MASKMOVQ, MASKED_STORE, COPY, 1, 0),
    ROW(VPGATHERDD, GATHER, COPY, 4, 0), ROW(VPGATHERQD, GATHER, COPY, 4, 0), ROW(VGATHERDPS, GATHER, COPY, 4, 0),
    ROW(VGATHERQPS, GATHER, COPY, 4, 0), ROW(VPGATHERDQ, GATHER, COPY, 8, 0), ROW(VPGATHERQQ, GATHER, COPY, 8, 0),
    ROW(VGATHERDPD, GATHER, COPY, 8, 0), ROW(VGATHERQPD, GATHER, COPY, 8, 0), ROW(VPSCATTERDD, SCATTER, COPY, 4, 0),
    ROW(VPSCATTERQD, SCATTER, COPY, 4, 0), ROW(VSCATTERDPS, SCATTER, COPY, 4, 0), ROW(VSCATTERQPS, SCATTER, COPY, 4, 0),
    ROW(VPSCATTERDQ, SCATTER, COPY, 8, 0), ROW(VPSCATTERQQ, SCATTER, COPY, 8, 0), ROW(VSCATTERDPD, SCATTER, COPY, 8, 0),
    ROW(VSCATTERQPD, SCATTER, COPY, 8, 0),
    /* flags and states */
    BOTH(ROW, PTEST, TEST, AND, 0, 0), ROW(VZEROUPPER, CLEAR, CONSTANT, 16, 0), ROW(VZEROALL, CLEAR, CONSTANT, 0, 0),
    ROW(FXSAVE, SAVE, COPY, 0, 0), ROW(FXSAVE64, SAVE, COPY, 0, 0), ROW(FXRSTOR, RESTORE, COPY, 0, 0),
    ROW(FXRSTOR64, RESTORE, COPY, 0, 0), ROW(XSAVE, SAVE, COPY, 1, 0), ROW(XSAVE64, SAVE, COPY, 1, 0),
    ROW(XSAVEC, SAVE, COPY, 1, 0), ROW(XSAVEC64, SAVE, COPY, 1, 0), ROW(XSAVEOPT, SAVE, COPY, 1, 0),
    ROW(XSAVEOPT64, SAVE, COPY, 1, 0), ROW(XRSTOR, RESTORE, COPY, 1, 0), ROW(XRSTOR64, RESTORE, COPY, 1, 0),
};

bool sn_flow_vector(sn_flowing *f) {
    const sn_flow_rule *rule = &rules[f->z.mnemonic];
    if (rule->shape == SHAPE_NONE || (f->argument_count == 0 && rule->shape != SHAPE_CLEAR)) return false;
    f->count = 0;
    if (shapes[rule->shape](f, rule)) return true;
    f->count = 0;
    return false;
}
