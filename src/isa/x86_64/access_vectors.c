/**
 * @fileoverview The accesses of vector instructions under a mask: moves whose mask is a vector register, gathers and
 * scatters, and everything that a mask register covers.
 *
 * What a mask register covers are some hundred opcodes that differ in the size and number of their lanes. These come from
 * the decoding library, asked once for each and kept in a small cache, since enumerating happens at every execution.
 */
#include <string.h>

#include "accessing.h"
#include "tables.h"
#include "zydis.h"

static bool has_sign(const uint8_t *lane, unsigned size) { return lane[size - 1] >> 7; }

/* -------------------------------------------------- moves whose mask is a vector register */

void sn_access_masked_bytes(sn_accessing *a) {
    enum { SHORT_SIZE = 8, LONG_SIZE = 16, OPERAND = 2 };
    bool is_short = a->insn->encoding == ENCODED_LEGACY && a->encoded.prefix == PREFIX_NONE;
    const uint8_t *mask = is_short ? (const uint8_t *)&a->state->short_vector[a->encoded.rm & 7]
                                   : a->state->vector[a->encoded.rm];
    uint64_t limit = a->encoded.short_address ? UINT32_MAX : UINT64_MAX;
    for (unsigned i = 0; i < (is_short ? SHORT_SIZE : LONG_SIZE); i++)
        if (has_sign(mask + i, 1))
            sn_accessing_add(a, a->state->bases[a->insn->segment] + ((a->state->general[RDI] + i) & limit), 1,
                             SN_ROLE_WRITTEN, OPERAND);
}

/** The floating-point forms tell their element by the opcode, the integer forms by the wide bit. */
static void access_masked_elements(sn_accessing *a, uint8_t role, uint8_t operand) {
    enum { FIRST_INTEGER = 0x80 };
    bool large = a->encoded.opcode >= FIRST_INTEGER ? a->encoded.wide : a->encoded.opcode & 1;
    unsigned size = large ? 8 : 4, count = (16u << a->encoded.length) / size;
    sn_address address = sn_accessing_address(a, 1);
    uint64_t at = sn_address_plain(&address);
    for (unsigned i = 0; i < count; i++)
        if (has_sign(a->state->vector[a->encoded.source] + i * size, size))
            sn_accessing_add(a, at + i * size, size, role, operand);
}

void sn_access_masked_loads(sn_accessing *a) { access_masked_elements(a, SN_ROLE_READ, 2); }
void sn_access_masked_stores(sn_accessing *a) { access_masked_elements(a, SN_ROLE_WRITTEN, 0); }

/* ------------------------------------------------------------------ gathers and scatters */

static int64_t index_of(const uint8_t *vector, unsigned number, unsigned size) {
    int32_t narrow;
    int64_t wide;
    if (size == sizeof wide) {
        memcpy(&wide, vector + number * size, sizeof wide);
        return wide;
    }
    memcpy(&narrow, vector + number * size, sizeof narrow);
    return narrow;
}

/** As many elements as the wider of data and indices has; the opcode's lowest bit tells the size of indices. */
static void access_indexed(sn_accessing *a, uint8_t role, uint8_t operand) {
    const sn_encoded *encoded = &a->encoded;
    bool by_register = a->insn->encoding == ENCODED_EVEX;
    unsigned size = encoded->wide ? 8 : 4, index_size = encoded->opcode & 1 ? 8 : 4;
    unsigned count = (16u << encoded->length) / (size > index_size ? size : index_size);
    sn_address address = sn_accessing_address(a, by_register ? size : 1);
    const uint8_t *indices = a->state->vector[address.vector_index];
    for (unsigned i = 0; i < count; i++) {
        bool active = by_register ? a->state->mask[encoded->mask] >> i & 1
                                  : has_sign(a->state->vector[encoded->source] + i * size, size);
        if (active)
            sn_accessing_add(a, sn_address_with(&address, (uint64_t)index_of(indices, i, index_size)), size, role,
                             operand);
    }
}

void sn_access_gather(sn_accessing *a) {
    access_indexed(a, SN_ROLE_READ, a->insn->encoding == ENCODED_EVEX ? 2 : 1);
}

void sn_access_scatter(sn_accessing *a) { access_indexed(a, SN_ROLE_WRITTEN, 0); }

/* ------------------------------------------------------------- lanes under a mask register */

/*
 * Opcodes whose memory operand is read as a whole under any mask, even one that lets nothing through: lanes of the result
 * are not lanes of the operand (Intel SDM volume 2, 2.8: exception types whose names end in NF; stores of those types
 * still write their active lanes only).
 */
static const uint8_t whole_0f[] = {
    0x12, 0x14, 0x15, 0x16,                                                       /* duplications, vunpck */
    0x60, 0x61, 0x62, 0x63, 0x67, 0x68, 0x69, 0x6a, 0x6b, 0x6c, 0x6d, 0x70, 0xc6, /* vpunpck, vpack, shuffles */
    0xd1, 0xd2, 0xd3, 0xe1, 0xe2, 0xf1, 0xf2, 0xf3,                               /* shifts by one number */
    0xf5,                                                                         /* vpmaddwd */
};
static const uint8_t whole_0f38[] = {
    0x00, 0x04, 0x0c, 0x0d, 0x16, 0x2b, 0x36, 0x75, 0x76, 0x77, 0x7d, 0x7e, 0x7f, /* permutations, vpmaddubsw, vpackusdw */
    0x83, 0x8d, 0xc4,                                                             /* vpmultishiftqb, vpermb, vpconflict */
};
static const uint8_t whole_0f3a[] = {
    0x00, 0x01, 0x03, 0x04, 0x05, 0x0f, 0x18, 0x1a, 0x23, 0x38, 0x3a, 0x42, 0x43, /* permutations, vinsert, vdbpsadbw */
    0xce, 0xcf,                                                                   /* vgf2p8affine */
};

bool sn_access_ignores_mask(const sn_encoded *encoded) {
    enum { PAIRS_TO_HALF_FLOATS = 0x72 };
    switch (encoded->map) {
    case MAP_0F: return memchr(whole_0f, encoded->opcode, sizeof whole_0f) != NULL;
    case MAP_0F38:
        return memchr(whole_0f38, encoded->opcode, sizeof whole_0f38) != NULL ||
               (encoded->opcode == PAIRS_TO_HALF_FLOATS && encoded->prefix == PREFIX_F2);
    case MAP_0F3A: return memchr(whole_0f3a, encoded->opcode, sizeof whole_0f3a) != NULL;
    default: return false;
    }
}

enum { BY_LANE = SN_LANES_EACH, PACKED = SN_LANES_PACKED, ALL_OR_NOTHING = SN_LANES_TOGETHER, NO_ELEMENTS };

/** What an opcode does with its memory operand. Fits into the upper half of a word of the cache. */
typedef struct sn_lane_shape {
    uint8_t element_log : 2;  /**< bytes of an element */
    uint8_t elements_log : 3; /**< elements in memory */
    uint8_t lanes_log : 3;    /**< lanes that the mask covers: lane N uses element N modulo their number */
    uint8_t scale_log : 3;    /**< what a displacement of one byte is multiplied by */
    uint8_t rule : 2;         /**< PACKED: active lanes use consecutive elements */
    uint8_t stores : 1;
    uint8_t operand;
} sn_lane_shape;

_Static_assert(sizeof(sn_lane_shape) <= sizeof(uint32_t), "half a word of the cache");

static uint8_t log_of(unsigned power) { return (uint8_t)__builtin_ctz(power); }

/** Expansions and compressions: vpexpandb and its kin, vexpandps, vpexpandd, vcompressps, vpcompressd. */
static bool is_packed(const sn_encoded *encoded) {
    return encoded->map == MAP_0F38 && encoded->prefix == PREFIX_66 &&
           ((encoded->opcode >= 0x88 && encoded->opcode <= 0x8b) || encoded->opcode == 0x62 || encoded->opcode == 0x63);
}

/** Four steps of multiplication: all of the operand is read unless nothing is active. */
static bool is_of_four_steps(const sn_encoded *encoded) {
    static const uint8_t opcodes[] = {0x52, 0x53, 0x9a, 0x9b, 0xaa, 0xab};
    return encoded->map == MAP_0F38 && encoded->prefix == PREFIX_F2 &&
           memchr(opcodes, encoded->opcode, sizeof opcodes) != NULL;
}

/** The instruction with rax as its whole address, and a displacement that shows the scale. */
static bool make_example(const sn_insn *insn, sn_insn *example) {
    enum { EVEX = 0x62, HIGH_BITS = 0x60, BASE_WITH_BYTE = 0x40, REGISTER = 0x38 };
    uint8_t code[16] = {EVEX};
    memcpy(code + 1, insn->bytes + insn->opcode_offset - 3, 4);
    code[1] |= HIGH_BITS;
    code[5] = BASE_WITH_BYTE | (insn->bytes[insn->modrm_offset] & REGISTER);
    code[6] = 1;
    return sn_decode(code, sizeof code, 0, example);
}

/** How many lanes take an element that is broadcast; 0 when none is. */
static unsigned broadcast_lanes(const sn_insn *example) {
    static const uint8_t lanes[] = {
        [ZYDIS_BROADCAST_MODE_1_TO_2] = 2,   [ZYDIS_BROADCAST_MODE_1_TO_4] = 4,   [ZYDIS_BROADCAST_MODE_1_TO_8] = 8,
        [ZYDIS_BROADCAST_MODE_1_TO_16] = 16, [ZYDIS_BROADCAST_MODE_1_TO_32] = 32, [ZYDIS_BROADCAST_MODE_1_TO_64] = 64,
        [ZYDIS_BROADCAST_MODE_2_TO_4] = 4,   [ZYDIS_BROADCAST_MODE_2_TO_8] = 8,   [ZYDIS_BROADCAST_MODE_2_TO_16] = 16,
        [ZYDIS_BROADCAST_MODE_4_TO_8] = 8,   [ZYDIS_BROADCAST_MODE_4_TO_16] = 16, [ZYDIS_BROADCAST_MODE_8_TO_16] = 16,
    };
    ZydisDecodedInstruction z;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!sn_zydis_decode(example->bytes, example->length, &z, operands)) return 0;
    return lanes[z.avx.broadcast.mode];
}

static sn_lane_shape ask_for_shape(const sn_insn *insn, const sn_encoded *encoded) {
    enum { MOST_OPERANDS = 16, FULL_VECTOR_LANES = 16 };
    sn_lane_shape shape = {.rule = NO_ELEMENTS};
    sn_insn example;
    sn_operand operands[MOST_OPERANDS];
    int count = make_example(insn, &example) ? sn_operands(&example, operands, MOST_OPERANDS) : 0;
    for (int i = 0; i < count; i++) {
        const sn_operand *operand = &operands[i];
        if (operand->place != SN_PLACE_MEMORY || operand->role == SN_ROLE_ADDRESS) continue;
        unsigned lanes = broadcast_lanes(&example);
        shape.operand = (uint8_t)i;
        shape.element_log = log_of(operand->element_size);
        shape.elements_log = log_of(operand->element_count);
        shape.lanes_log = lanes ? log_of(lanes) : shape.elements_log;
        shape.scale_log = log_of((unsigned)operand->displacement);
        shape.stores = operand->role == SN_ROLE_WRITTEN;
        shape.rule = is_packed(encoded) ? PACKED : BY_LANE;
        if (is_of_four_steps(encoded)) {
            shape.rule = ALL_OR_NOTHING;
            shape.lanes_log = encoded->opcode > 0x80 && encoded->opcode & 1 ? 0 : log_of(FULL_VECTOR_LANES);
        }
    }
    return shape;
}

/** Everything in an encoding that a shape depends on; never 0. */
static uint32_t shape_key(const sn_encoded *encoded) {
    return 1u << 31 | (uint32_t)encoded->map << 20 | (uint32_t)encoded->prefix << 18 | (uint32_t)encoded->wide << 17 |
           (uint32_t)encoded->length << 15 | (uint32_t)encoded->broadcast << 14 | (uint32_t)(encoded->reg & 7) << 8 |
           encoded->opcode;
}

/** Words hold a key in their lower half and its shape in the upper one, so that threads need no lock. */
static sn_lane_shape shape_of(const sn_insn *insn, const sn_encoded *encoded) {
    enum { CACHE_LOG = 8 };
    static uint64_t cache[1 << CACHE_LOG];
    uint32_t key = shape_key(encoded), bits = 0;
    uint64_t *place = &cache[key * UINT32_C(0x9e3779b1) >> (32 - CACHE_LOG)];
    uint64_t word = __atomic_load_n(place, __ATOMIC_RELAXED);
    sn_lane_shape shape;
    if ((uint32_t)word == key) {
        bits = (uint32_t)(word >> 32);
        memcpy(&shape, &bits, sizeof shape);
        return shape;
    }
    shape = ask_for_shape(insn, encoded);
    memcpy(&bits, &shape, sizeof shape);
    __atomic_store_n(place, (uint64_t)bits << 32 | key, __ATOMIC_RELAXED);
    return shape;
}

/** Bit N: element N is accessed. */
static uint64_t active_elements(const sn_lane_shape *shape, uint64_t mask) {
    unsigned lanes = 1u << shape->lanes_log, elements = 1u << shape->elements_log;
    if (lanes < 64) mask &= (UINT64_C(1) << lanes) - 1;
    uint64_t all = elements < 64 ? (UINT64_C(1) << elements) - 1 : UINT64_MAX;
    if (shape->rule == ALL_OR_NOTHING) return mask ? all : 0;
    if (shape->rule == PACKED) {
        unsigned active = (unsigned)__builtin_popcountll(mask);
        return active < 64 ? (UINT64_C(1) << active) - 1 : UINT64_MAX;
    }
    for (; lanes > elements; lanes /= 2) mask |= mask >> lanes / 2;
    return mask & all;
}

void sn_access_lanes(sn_accessing *a) {
    sn_lane_shape shape = shape_of(a->insn, &a->encoded);
    if (shape.rule == NO_ELEMENTS) return;
    sn_address address = sn_accessing_address(a, 1u << shape.scale_log);
    uint64_t at = sn_address_plain(&address), active = active_elements(&shape, a->state->mask[a->encoded.mask]);
    uint32_t size = 1u << shape.element_log;
    for (; active; active &= active - 1)
        sn_accessing_add(a, at + ((uint64_t)__builtin_ctzll(active) << shape.element_log), size,
                         shape.stores ? SN_ROLE_WRITTEN : SN_ROLE_READ, shape.operand);
}

void sn_access_lanes_shape(const sn_insn *insn, const sn_encoded *encoded, sn_access_shape *shape) {
    sn_lane_shape lanes = shape_of(insn, encoded);
    if (lanes.rule == NO_ELEMENTS) return;
    shape->kind = SN_SHAPE_LANES;
    shape->size_log = lanes.element_log;
    shape->rule = lanes.rule;
    shape->lanes_log = lanes.lanes_log;
    shape->elements_log = lanes.elements_log;
    if (lanes.stores) shape->other_operand = lanes.operand;
    else shape->read_operand = lanes.operand;
}
