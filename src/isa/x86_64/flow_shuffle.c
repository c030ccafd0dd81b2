/**
 * @fileoverview The data flow of vector instructions that move elements to other places: by a constant, by a register, packed
 * into narrower ones. A table by mnemonic, and what turns its rows into flows.
 *
 * Effects are those of the Intel SDM, volume 2, at each instruction. A row of a constant shuffle names the function that says
 * for each element of the result which element of the sources it is.
 */
#include "flowing.h"

enum { BLOCK_BYTES = 16, NO_ELEMENT = 0xffff };

/** A constant shuffle: `count` elements in all, `block` of them to a block of the instruction's. Elements of the second source
    are numbered behind those of the first. */
typedef struct shuffle {
    unsigned element_size, count, block;
    unsigned constant;     /**< the immediate */
    unsigned source_count; /**< elements of the last source */
    bool from_memory;
} shuffle;

/** Which element of the sources element `e` of the result is, or NO_ELEMENT for zeros. */
typedef unsigned chooser(const shuffle *s, unsigned e);

/* ---------------------------------------------------------------------- constants */

static unsigned block_start(const shuffle *s, unsigned e) { return e - e % s->block; }

/** Two bits of the constant for each of four elements. */
static unsigned two_bits(const shuffle *s, unsigned e) { return s->constant >> 2 * (e % 4) & 3; }

static unsigned choose_of_four(const shuffle *s, unsigned e) { return e - e % 4 + two_bits(s, e); }

static unsigned choose_low_words(const shuffle *s, unsigned e) {
    return e % 8 < 4 ? block_start(s, e) + two_bits(s, e) : e;
}

static unsigned choose_high_words(const shuffle *s, unsigned e) {
    return e % 8 >= 4 ? block_start(s, e) + 4 + two_bits(s, e) : e;
}

/** One bit of the constant for each element, within pairs. */
static unsigned choose_of_pair(const shuffle *s, unsigned e) { return e - e % 2 + (s->constant >> e & 1); }

static unsigned choose_singles(const shuffle *s, unsigned e) {
    return (e % 4 < 2 ? 0 : s->count) + block_start(s, e) + two_bits(s, e);
}

static unsigned choose_doubles(const shuffle *s, unsigned e) {
    return (e % 2 ? s->count : 0) + e - e % 2 + (s->constant >> e & 1);
}

static unsigned interleave(const shuffle *s, unsigned e, unsigned half) {
    unsigned k = e % s->block;
    return (k % 2 ? s->count : 0) + block_start(s, e) + half + k / 2;
}

static unsigned interleave_low(const shuffle *s, unsigned e) { return interleave(s, e, 0); }
static unsigned interleave_high(const shuffle *s, unsigned e) { return interleave(s, e, s->block / 2); }

/** The first source behind the second, shifted right by bytes. */
static unsigned align_bytes(const shuffle *s, unsigned e) {
    unsigned from = e % s->block + s->constant;
    if (from < s->block) return s->count + block_start(s, e) + from;
    return from < 2 * s->block ? block_start(s, e) + from - s->block : NO_ELEMENT;
}

static unsigned align_elements(const shuffle *s, unsigned e) {
    unsigned from = e + (s->constant & (s->count - 1));
    return from < s->count ? s->count + from : from - s->count;
}

static unsigned shift_up(const shuffle *s, unsigned e) {
    return e % s->block >= s->constant ? e - s->constant : NO_ELEMENT;
}

static unsigned shift_down(const shuffle *s, unsigned e) {
    return e % s->block + s->constant < s->block ? e + s->constant : NO_ELEMENT;
}

static unsigned blend(const shuffle *s, unsigned e) { return (s->constant >> e % 8 & 1 ? s->count : 0) + e; }

static unsigned repeat_even(const shuffle *s, unsigned e) {
    (void)s;
    return e & ~1u;
}

static unsigned repeat_odd(const shuffle *s, unsigned e) {
    (void)s;
    return e | 1;
}

static unsigned repeat_all(const shuffle *s, unsigned e) { return e % s->source_count; }

/** Halves of 16 bytes, of both sources. */
static unsigned choose_halves(const shuffle *s, unsigned e) {
    unsigned choice = s->constant >> 4 * e;
    return choice & 8 ? NO_ELEMENT : choice & 3;
}

/** Quarters of 16 bytes (or halves): the lower ones of the first source, the upper ones of the second. */
static unsigned choose_quarters(const shuffle *s, unsigned e) {
    unsigned bits = s->count == 4 ? 2 : 1;
    return (e < s->count / 2 ? 0 : s->count) + (s->constant >> bits * e & (s->count - 1));
}

static unsigned insert(const shuffle *s, unsigned e) { return e == (s->constant & (s->count - 1)) ? s->count : e; }

static unsigned extract(const shuffle *s, unsigned e) {
    (void)e;
    return s->constant & (s->source_count - 1);
}

/** Bits of the constant: which to clear, where to, where from (from memory there is one). */
static unsigned insert_single(const shuffle *s, unsigned e) {
    if (s->constant >> e & 1) return NO_ELEMENT;
    if (e != (s->constant >> 4 & 3)) return e;
    return s->count + (s->from_memory ? 0 : s->constant >> 6 & 3);
}

/* --------------------------------------------------------------------------- rules */

enum {
    SHAPE_NONE,
    SHAPE_CONSTANT,  /**< by a constant */
    SHAPE_REPEAT,    /**< one element for all places */
    SHAPE_EXTRACT,   /**< one element to a general register or memory */
    SHAPE_CONTROLLED, /**< bytes or elements by the last source; lane as source_lane */
    SHAPE_INDEXED,   /**< by the first source */
    SHAPE_TWO_TABLES_OVER, /**< two tables, by the middle operand: over a table */
    SHAPE_TWO_TABLES_IN,   /**< two tables, by the first operand: over the indices */
    SHAPE_PACK,
};

/** Rows have what all rows have, and who chooses. */
typedef struct shuffle_rule {
    sn_flow_rule rule;
    chooser *choose;
} shuffle_rule;

static const sn_operand *first(const sn_flowing *f) { return sn_flow_operand(f, 0); }

static bool has_constant(const sn_flowing *f) {
    return sn_flow_operand(f, f->argument_count - 1u)->place == SN_PLACE_IMMEDIATE;
}

static bool finish_first(sn_flowing *f, sn_flow *flow) {
    flow->is_float = first(f)->is_float;
    sn_flow_apply_mask(f, flow);
    sn_flow_clear_rest(f, f->arguments[0]);
    return true;
}

/** Sources of a shuffle: registers in full, and memory as far as it is read. */
static unsigned add_sources(const sn_flowing *f, sn_flow *flow, const shuffle_rule *row) {
    uint8_t arguments[SN_FLOWING_MOST_ARGUMENTS];
    unsigned count = sn_flow_vector_arguments(f, false, arguments), size = first(f)->size, last = 0;
    for (unsigned i = 0; i < count; i++) {
        const sn_operand *operand = sn_flow_operand(f, arguments[i]);
        unsigned whole = row->choose == extract ? f->z.avx.vector_length / 8u : size;
        sn_flow_piece piece = sn_flow_vector_source(f, arguments[i], whole);
        piece.every_lane = false;
        bool is_part = row->choose == insert || row->choose == insert_single || row->choose == repeat_all;
        if (operand->place == SN_PLACE_GENERAL) piece.size = row->rule.lane;
        if (is_part && i == count - 1 && operand->size < whole) piece.size = (uint16_t)operand->size;
        if (row->choose == interleave_high && !sn_flow_is_broadcast(f, operand)) piece.size = (uint16_t)size;
        sn_flow_from(flow, piece);
        last = arguments[i];
    }
    return last;
}

/** Byte numbers for elements; of a broadcast there is one element. */
static void fill_table(sn_flow *flow, const shuffle *s, chooser *choose, bool is_broadcast) {
    unsigned last = flow->source_count - 1u, start = last ? flow->sources[0].size : 0, size = flow->sources[last].size;
    for (unsigned e = 0; e < s->count; e++) {
        unsigned chosen = choose(s, e), byte = chosen * s->element_size;
        for (unsigned k = 0; k < s->element_size; k++) {
            unsigned from = byte + k;
            if (is_broadcast && from >= start) from = start + (from - start) % size;
            flow->table[e * s->element_size + k] = chosen == NO_ELEMENT ? SN_FLOW_ZERO_BYTE : (uint8_t)from;
        }
    }
}

static bool add_constant(sn_flowing *f, const shuffle_rule *row) {
    unsigned size = first(f)->size, element = row->rule.lane, block = size < BLOCK_BYTES ? size : BLOCK_BYTES;
    sn_flow *flow = sn_flow_to(f, SN_FLOW_SHUFFLE, sn_flow_first(f));
    const sn_operand *last = sn_flow_operand(f, add_sources(f, flow, row));
    shuffle s = {.element_size = element, .count = size / element, .block = block / element,
                 .constant = sn_flow_immediate(f), .source_count = flow->sources[flow->source_count - 1u].size / element,
                 .from_memory = last->place == SN_PLACE_MEMORY};
    fill_table(flow, &s, row->choose, sn_flow_is_broadcast(f, last));
    return finish_first(f, flow);
}

/** What is repeated is as long as the operand, or as the row says of a register. */
static bool add_repeat(sn_flowing *f, const shuffle_rule *row) {
    unsigned size = first(f)->size, repeated = row->rule.lane;
    uint8_t from = f->arguments[f->argument_count - 1u];
    sn_flow *flow = sn_flow_of(f, SN_FLOW_SHUFFLE, sn_flow_first(f), sn_flow_part_of(from, 0, repeated));
    for (unsigned i = 0; i < size; i++) flow->table[i] = (uint8_t)(i % repeated);
    return finish_first(f, flow);
}

static bool add_extract(sn_flowing *f, const shuffle_rule *row) {
    unsigned size = first(f)->size, element = row->rule.lane;
    unsigned count = (sn_flow_operand(f, 1)->place == SN_PLACE_X87 ? 8 : BLOCK_BYTES) / element;
    unsigned offset = element * (sn_flow_immediate(f) & (count - 1));
    sn_flow_of(f, size > element ? SN_FLOW_ZERO_EXTEND : SN_FLOW_COPY, sn_flow_first(f),
               sn_flow_part_of(f->arguments[1], offset, element));
    sn_flow_clear_rest(f, f->arguments[0]);
    return true;
}

/* ------------------------------------------------------------------------ registers */

static bool permute(sn_flowing *f, const shuffle_rule *row, const uint8_t *order, unsigned count) {
    unsigned size = first(f)->size, lane = row->rule.source_lane;
    sn_flow *flow = sn_flow_to(f, SN_FLOW_PERMUTE, sn_flow_first(f));
    flow->element_size = row->rule.lane;
    if (lane && lane < size) flow->lane_size = flow->source_lane_size = (uint8_t)lane;
    for (unsigned i = 0; i < count; i++) sn_flow_from(flow, sn_flow_vector_source(f, order[i], size));
    return finish_first(f, flow);
}

/** With a constant in place of the control: as constant shuffles go. Pairs are chosen by the second bit, bytes cleared by the
    highest. */
static bool add_controlled(sn_flowing *f, const shuffle_rule *row) {
    enum { PAIRS = 8, BYTES = 1 };
    if (has_constant(f)) return add_constant(f, row);
    uint8_t order[] = {f->argument_count == 3 ? 1 : 0, (uint8_t)(f->argument_count - 1)};
    permute(f, row, order, 2);
    f->flows[0].scale_shift = row->rule.lane == PAIRS;
    f->flows[0].zeroes = row->rule.lane == BYTES;
    return true;
}

static bool add_indexed(sn_flowing *f, const shuffle_rule *row) {
    static const uint8_t order[] = {2, 1};
    return has_constant(f) ? add_constant(f, row) : permute(f, row, order, 2);
}

static bool add_two_tables(sn_flowing *f, const shuffle_rule *row) {
    static const uint8_t over[] = {0, 2, 1}, in[] = {1, 2, 0};
    return permute(f, row, row->rule.shape == SHAPE_TWO_TABLES_OVER ? over : in, 3);
}

/** In each block the first source's lanes come first. */
static bool add_pack(sn_flowing *f, const shuffle_rule *row) {
    uint8_t arguments[SN_FLOWING_MOST_ARGUMENTS];
    unsigned size = first(f)->size, lane = row->rule.lane, source_lane = row->rule.source_lane;
    unsigned block = size < BLOCK_BYTES ? size : BLOCK_BYTES, half = block / 2;
    if (sn_flow_vector_arguments(f, false, arguments) != 2) return false;
    sn_flow *flow = sn_flow_to(f, SN_FLOW_NARROW, sn_flow_first(f));
    flow->lane_size = (uint8_t)lane;
    flow->source_lane_size = (uint8_t)source_lane;
    for (unsigned i = 0; i < 2; i++) sn_flow_from(flow, sn_flow_vector_source(f, arguments[i], size));
    bool is_broadcast = flow->sources[1].every_lane;
    for (unsigned i = 0; i < size / lane; i++) {
        unsigned offset = i * lane, start = offset - offset % block, place = offset % block;
        unsigned from = start + place % half * (source_lane / lane);
        if (place >= half) from = size + (is_broadcast ? 0 : from);
        flow->table[i] = (uint8_t)from;
    }
    return finish_first(f, flow);
}

/* --------------------------------------------------------------------------- table */

typedef bool shape_function(sn_flowing *f, const shuffle_rule *row);

static shape_function *const shapes[] = {
    [SHAPE_CONSTANT] = add_constant,
    [SHAPE_REPEAT] = add_repeat,
    [SHAPE_EXTRACT] = add_extract,
    [SHAPE_CONTROLLED] = add_controlled,
    [SHAPE_INDEXED] = add_indexed,
    [SHAPE_TWO_TABLES_OVER] = add_two_tables,
    [SHAPE_TWO_TABLES_IN] = add_two_tables,
    [SHAPE_PACK] = add_pack,
};

#define ROW(name, shape_name, lane_bytes, source_bytes, function)                                    \
    [ZYDIS_MNEMONIC_##name] = {{.shape = SHAPE_##shape_name, .lane = (lane_bytes), .source_lane = (source_bytes)}, function}
#define CONSTANT(name, element, function) ROW(name, CONSTANT, element, 0, function)
#define BOTH_CONSTANT(name, element, function) CONSTANT(name, element, function), CONSTANT(V##name, element, function)
#define REPEAT(name, element) ROW(name, REPEAT, element, 0, repeat_all)
#define BOTH_EXTRACT(name, element) ROW(name, EXTRACT, element, 0, NULL), ROW(V##name, EXTRACT, element, 0, NULL)
#define BOTH_PACK(name, lane, source) ROW(name, PACK, lane, source, NULL), ROW(V##name, PACK, lane, source, NULL)
#define TWO_TABLES(letters, element)                                                                 \
    ROW(VPERMT2##letters, TWO_TABLES_OVER, element, 0, NULL), ROW(VPERMI2##letters, TWO_TABLES_IN, element, 0, NULL)

static const shuffle_rule rules[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
    BOTH_CONSTANT(PSHUFD, 4, choose_of_four), BOTH_CONSTANT(PSHUFLW, 2, choose_low_words),
    BOTH_CONSTANT(PSHUFHW, 2, choose_high_words), CONSTANT(PSHUFW, 2, choose_of_four),
    BOTH_CONSTANT(SHUFPS, 4, choose_singles), BOTH_CONSTANT(SHUFPD, 8, choose_doubles),
    BOTH_CONSTANT(PUNPCKLBW, 1, interleave_low), BOTH_CONSTANT(PUNPCKLWD, 2, interleave_low),
    BOTH_CONSTANT(PUNPCKLDQ, 4, interleave_low), BOTH_CONSTANT(PUNPCKLQDQ, 8, interleave_low),
    BOTH_CONSTANT(PUNPCKHBW, 1, interleave_high), BOTH_CONSTANT(PUNPCKHWD, 2, interleave_high),
    BOTH_CONSTANT(PUNPCKHDQ, 4, interleave_high), BOTH_CONSTANT(PUNPCKHQDQ, 8, interleave_high),
    BOTH_CONSTANT(UNPCKLPS, 4, interleave_low), BOTH_CONSTANT(UNPCKLPD, 8, interleave_low),
    BOTH_CONSTANT(UNPCKHPS, 4, interleave_high), BOTH_CONSTANT(UNPCKHPD, 8, interleave_high),
    BOTH_CONSTANT(PALIGNR, 1, align_bytes), CONSTANT(VALIGND, 4, align_elements), CONSTANT(VALIGNQ, 8, align_elements),
    BOTH_CONSTANT(PSLLDQ, 1, shift_up), BOTH_CONSTANT(PSRLDQ, 1, shift_down),
    BOTH_CONSTANT(PBLENDW, 2, blend), BOTH_CONSTANT(BLENDPS, 4, blend), BOTH_CONSTANT(BLENDPD, 8, blend),
    CONSTANT(VPBLENDD, 4, blend), BOTH_CONSTANT(MOVDDUP, 8, repeat_even), BOTH_CONSTANT(MOVSLDUP, 4, repeat_even),
    BOTH_CONSTANT(MOVSHDUP, 4, repeat_odd), CONSTANT(VPERM2F128, 16, choose_halves), CONSTANT(VPERM2I128, 16, choose_halves),
    CONSTANT(VSHUFF32X4, 16, choose_quarters), CONSTANT(VSHUFF64X2, 16, choose_quarters),
    CONSTANT(VSHUFI32X4, 16, choose_quarters), CONSTANT(VSHUFI64X2, 16, choose_quarters),
    BOTH_CONSTANT(PINSRB, 1, insert), BOTH_CONSTANT(PINSRW, 2, insert), BOTH_CONSTANT(PINSRD, 4, insert),
    BOTH_CONSTANT(PINSRQ, 8, insert), BOTH_CONSTANT(INSERTPS, 4, insert_single), CONSTANT(VINSERTF128, 16, insert),
    CONSTANT(VINSERTI128, 16, insert), CONSTANT(VINSERTF32X4, 16, insert), CONSTANT(VINSERTI32X4, 16, insert),
    CONSTANT(VINSERTF64X2, 16, insert), CONSTANT(VINSERTI64X2, 16, insert), CONSTANT(VINSERTF32X8, 32, insert),
    CONSTANT(VINSERTI32X8, 32, insert), CONSTANT(VINSERTF64X4, 32, insert), CONSTANT(VINSERTI64X4, 32, insert),
    CONSTANT(VEXTRACTF128, 16, extract), CONSTANT(VEXTRACTI128, 16, extract), CONSTANT(VEXTRACTF32X4, 16, extract),
    CONSTANT(VEXTRACTI32X4, 16, extract), CONSTANT(VEXTRACTF64X2, 16, extract), CONSTANT(VEXTRACTI64X2, 16, extract),
    CONSTANT(VEXTRACTF32X8, 32, extract), CONSTANT(VEXTRACTI32X8, 32, extract), CONSTANT(VEXTRACTF64X4, 32, extract),
    CONSTANT(VEXTRACTI64X4, 32, extract),
    REPEAT(VPBROADCASTB, 1), REPEAT(VPBROADCASTW, 2), REPEAT(VPBROADCASTD, 4), REPEAT(VPBROADCASTQ, 8),
    REPEAT(VBROADCASTSS, 4), REPEAT(VBROADCASTSD, 8), REPEAT(VBROADCASTF128, 16), REPEAT(VBROADCASTI128, 16),
    REPEAT(VBROADCASTF32X2, 8), REPEAT(VBROADCASTI32X2, 8), REPEAT(VBROADCASTF32X4, 16), REPEAT(VBROADCASTI32X4, 16),
    REPEAT(VBROADCASTF64X2, 16), REPEAT(VBROADCASTI64X2, 16), REPEAT(VBROADCASTF32X8, 32), REPEAT(VBROADCASTI32X8, 32),
    REPEAT(VBROADCASTF64X4, 32), REPEAT(VBROADCASTI64X4, 32),
    BOTH_EXTRACT(PEXTRB, 1), BOTH_EXTRACT(PEXTRW, 2), BOTH_EXTRACT(PEXTRD, 4), BOTH_EXTRACT(PEXTRQ, 8),
    BOTH_EXTRACT(EXTRACTPS, 4),
    ROW(PSHUFB, CONTROLLED, 1, 16, NULL), ROW(VPSHUFB, CONTROLLED, 1, 16, NULL),
    ROW(VPERMILPS, CONTROLLED, 4, 16, choose_of_four), ROW(VPERMILPD, CONTROLLED, 8, 16, choose_of_pair),
    ROW(VPERMB, INDEXED, 1, 0, NULL), ROW(VPERMW, INDEXED, 2, 0, NULL), ROW(VPERMD, INDEXED, 4, 0, NULL),
    ROW(VPERMPS, INDEXED, 4, 0, NULL), ROW(VPERMQ, INDEXED, 8, 0, choose_of_four), ROW(VPERMPD, INDEXED, 8, 0, choose_of_four),
    TWO_TABLES(B, 1), TWO_TABLES(W, 2), TWO_TABLES(D, 4), TWO_TABLES(Q, 8), TWO_TABLES(PS, 4), TWO_TABLES(PD, 8),
    BOTH_PACK(PACKSSWB, 1, 2), BOTH_PACK(PACKUSWB, 1, 2), BOTH_PACK(PACKSSDW, 2, 4), BOTH_PACK(PACKUSDW, 2, 4),
};

bool sn_flow_shuffle(sn_flowing *f) {
    const shuffle_rule *row = &rules[f->z.mnemonic];
    if (row->rule.shape == SHAPE_NONE || f->argument_count < 2) return false;
    f->count = 0;
    if (shapes[row->rule.shape](f, row)) return true;
    f->count = 0;
    return false;
}
