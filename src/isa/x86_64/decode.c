/**
 * @fileoverview The quick decoder: one instruction from its bytes by tables, without the decoding library.
 *
 * sn_decode() is called for every instruction that the translator sees, so it is on the path of every program's start.
 * The steps: prefixes, opcode (and the row of its table), ModRM with its displacement, the rule that the row names
 * (decode_rules.c for those that are rare), immediates, effects. Length follows from the encoding rules alone, so that an instruction that is newer than the
 * tables is still decoded; its effects are then conservative.
 */
#include <string.h>

#include "decoding.h"
#include "effects.h"
#include "isa/isa.h"
#include "tables.h"

enum { LONGEST = 15, WINDOW = 48, NO_REGISTER = 16 };

/* ------------------------------------------------------------------------ prefixes */

/** What each byte adds to the prefixes; not zero for REX too. */
static const uint8_t prefix_bits[256] = {
    [0x40 ... 0x4f] = PREFIX_IGNORED,
    [0x26] = PREFIX_IGNORED,      [0x2e] = PREFIX_IGNORED,      [0x36] = PREFIX_IGNORED, [0x3e] = PREFIX_IGNORED,
    [0x64] = PREFIX_FS,           [0x65] = PREFIX_GS,           [0x66] = PREFIX_OPERAND_SIZE,
    [0x67] = PREFIX_ADDRESS_SIZE, [0xf0] = PREFIX_LOCK,         [0xf2] = PREFIX_REPNE,   [0xf3] = PREFIX_REP,
};

static inline bool is_rex(uint8_t byte) {
    return (byte & 0xf0) == 0x40;
}

/** Of the prefixes that exclude each other, the last one counts. */
static inline uint8_t add_prefix(uint8_t prefixes, uint8_t bit) {
    if (bit & (PREFIX_REP | PREFIX_REPNE))
        prefixes &= ~(PREFIX_REP | PREFIX_REPNE);
    if (bit & (PREFIX_FS | PREFIX_GS))
        prefixes &= ~(PREFIX_FS | PREFIX_GS);
    return prefixes | bit;
}

/** Any number of prefixes. A REX byte that is not the last one has no effect. */
static __attribute__((noinline)) void read_many_prefixes(sn_decoding *d) {
    unsigned position = 0;
    uint8_t rex = 0;
    for (; position < LONGEST; position++) {
        uint8_t byte = d->bytes[position];
        if (is_rex(byte)) {
            rex = byte;
        } else if (prefix_bits[byte]) {
            rex = 0;
            d->prefixes = add_prefix(d->prefixes, prefix_bits[byte]);
        } else {
            break;
        }
    }
    d->rex_byte = rex;
    if (d->prefixes & PREFIX_REP)
        d->mandatory = MANDATORY_F3;
    else if (d->prefixes & PREFIX_REPNE)
        d->mandatory = MANDATORY_F2;
    else if (d->prefixes & PREFIX_OPERAND_SIZE)
        d->mandatory = MANDATORY_66;
    d->position = position;
}

/** Most instructions begin with the opcode, or with REX and the opcode: those take no jump that depends on it. */
HOT void read_prefixes(sn_decoding *d) {
    unsigned rex = is_rex(d->bytes[0]);
    d->rex_byte = (uint8_t)(d->bytes[0] & -rex);
    d->position = rex;
    if (prefix_bits[d->bytes[rex]]) {
        sn_decoding copy = *d;
        read_many_prefixes(&copy);
        *d = copy;
    }
    rex = d->rex_byte != 0;
    d->rex = d->rex_byte & 0x0f;
    d->insn->prefix_length = (uint8_t)(d->position - rex);
    d->insn->rex_offset = (uint8_t)(d->position & -rex);
}

/* ------------------------------------------------------------------------- opcodes */

HOT void take_row(sn_decoding *d, const sn_opcode *row) {
    d->shape = row->shape;
    d->rule = row->rule;
    d->effect = row->effect;
}

HOT void read_legacy_opcode(sn_decoding *d) {
    const uint8_t *code = d->bytes + d->position;
    if (code[0] != 0x0f) {
        d->opcode = code[0];
        d->position += 1;
        take_row(d, &sn_opcodes_primary[code[0]]);
    } else if (code[1] != 0x38 && code[1] != 0x3a) {
        d->opcode = code[1];
        d->position += 2;
        take_row(d, &sn_opcodes_secondary[code[1]]);
    } else {
        d->opcode = code[2];
        d->position += 3;
        d->shape = code[1] == 0x38 ? SHAPE_MODRM : SHAPE_MODRM | IMMEDIATE_8;
        d->effect = code[1] == 0x38 ? sn_effects_0f38[code[2]] : sn_effects_0f3a[code[2]];
    }
}

/** Immediates of the vector maps: map 3 always, map 1 where the legacy 0F map has one. */
static uint8_t vector_shape(unsigned map, uint8_t opcode) {
    if (map == 3)
        return SHAPE_MODRM | IMMEDIATE_8;
    if (map == 1 && ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6)))
        return SHAPE_MODRM | IMMEDIATE_8;
    return SHAPE_MODRM;
}

static void read_vex_opcode(sn_decoding *d, unsigned map, uint8_t last, uint8_t opcode) {
    d->opcode = opcode;
    d->vvvv = (uint8_t)(~last >> 3 & 15);
    d->mandatory = last & 3;
    d->shape = vector_shape(map, opcode);
    if (map == 1 && opcode == 0x77)
        d->shape = 0;
    else if (map == 7)
        d->shape = SHAPE_MODRM | IMMEDIATE_32;
    if (map >= 1 && map <= 3)
        d->effect = sn_effects_vex[map - 1][opcode];
    if (map == 1 && opcode == 0xf7)
        d->shape |= SHAPE_SEGMENT;
}

static void read_xop_opcode(sn_decoding *d, unsigned map, uint8_t opcode) {
    d->opcode = opcode;
    d->shape = SHAPE_MODRM;
    if (map == 8)
        d->shape |= IMMEDIATE_8;
    else if (map == 10)
        d->shape |= IMMEDIATE_32;
}

static void read_evex_opcode(sn_decoding *d, const uint8_t *code) {
    unsigned map = code[1] & 7;
    d->opcode = code[4];
    d->rex = (uint8_t)((~code[1] >> 5 & 7) | (code[2] >> 4 & REX_W));
    d->vvvv = (uint8_t)(~code[2] >> 3 & 15);
    d->mandatory = code[2] & 3;
    d->shape = vector_shape(map, code[4]);
    if (map >= 1 && map <= 6)
        d->effect = sn_effects_evex[map - 1][code[4]];
    d->insn->encoding = ENCODING_EVEX;
    d->position += 4;
}

/** VEX, EVEX and XOP; returns false when it is none of them. */
static __attribute__((noinline)) bool read_vector_opcode(sn_decoding *d) {
    const uint8_t *code = d->bytes + d->position;
    if (code[0] == 0xc5) {
        d->insn->encoding = ENCODING_VEX2;
        d->rex = ~code[1] >> 5 & REX_R;
        read_vex_opcode(d, 1, code[1], code[2]);
        d->position += 2;
    } else if (code[0] == 0xc4 || (code[0] == 0x8f && (code[1] & 0x1f) >= 8)) {
        d->rex = (uint8_t)((~code[1] >> 5 & 7) | (code[2] >> 4 & REX_W));
        d->insn->encoding = code[0] == 0xc4 ? ENCODING_VEX3 : ENCODING_XOP;
        if (code[0] == 0xc4)
            read_vex_opcode(d, code[1] & 0x1f, code[2], code[3]);
        else
            read_xop_opcode(d, code[1] & 0x1f, code[3]);
        d->position += 3;
    } else if (code[0] == 0x62) {
        read_evex_opcode(d, code);
    } else {
        return false;
    }
    d->insn->opcode_offset = (uint8_t)d->position++;
    return true;
}

static inline bool may_be_vector(uint8_t byte) {
    return byte == 0xc4 || byte == 0xc5 || byte == 0x62 || byte == 0x8f;
}

/* --------------------------------------------------------------------------- ModRM */

/** Without jumps: what ModRM and SIB say changes from one instruction to the next, and would be predicted badly. */
HOT void read_modrm(sn_decoding *d) {
    static const uint8_t displacement_sizes[4] = {0, 1, 4, 0};
    sn_insn *insn = d->insn;
    unsigned position = d->position;
    unsigned modrm = d->bytes[position];
    unsigned sib = d->bytes[position + 1];
    d->mod = (uint8_t)(d->rule == RULE_CONTROL_REGISTER ? 3 : modrm >> 6);
    d->reg = modrm >> 3 & 7;
    d->rm = modrm & 7;

    unsigned memory = d->mod != 3;
    unsigned has_sib = memory & (d->rm == 4);
    unsigned base = has_sib ? sib & 7 : d->rm;
    unsigned index = has_sib ? (sib >> 3 & 7) | (d->rex & REX_X) << 2 : 4;
    unsigned no_base = (d->mod == 0) & (base == 5);
    unsigned size = no_base ? 4 : displacement_sizes[d->mod];
    d->base = (uint8_t)((memory & !no_base) ? base | (d->rex & REX_B) << 3 : NO_REGISTER);
    d->index = (uint8_t)(index == 4 ? NO_REGISTER : index);

    insn->modrm_offset = (uint8_t)position;
    position += 1 + has_sib;
    insn->memory = memory;
    insn->rip_relative = no_base & !has_sib;
    insn->displacement_size = (uint8_t)size;
    insn->displacement_offset = (uint8_t)(size ? position : 0);
    d->position = position + size;
}

/* ---------------------------------------------------------------------- immediates */

HOT void read_absolute_address(sn_decoding *d) {
    d->insn->displacement_offset = (uint8_t)d->position;
    d->insn->displacement_size = d->prefixes & PREFIX_ADDRESS_SIZE ? 4 : 8;
    d->position += d->insn->displacement_size;
}

HOT void read_immediate(sn_decoding *d) {
    static const uint8_t sizes[3][IMMEDIATE_KINDS] = {
        {0, 1, 2, 4, 4, 4, 3, 0}, /* 32-bit operands */
        {0, 1, 2, 2, 2, 4, 3, 0}, /* 16 */
        {0, 1, 2, 4, 8, 4, 3, 0}, /* 64 */
    };
    unsigned kind = d->shape & SHAPE_IMMEDIATE_MASK;
    if (kind == IMMEDIATE_ADDRESS)
        read_absolute_address(d);
    unsigned row = d->rex & REX_W ? 2 : d->prefixes & PREFIX_OPERAND_SIZE ? 1 : 0;
    unsigned size = sizes[row][kind];
    d->insn->immediate_size = (uint8_t)size;
    d->position += size;
}

/* --------------------------------------------------------------------------- rules */

/** Before the immediate is read: a rule may change the shape. */
HOT void shape_rule(sn_decoding *d) {
    switch (d->rule) {
    case RULE_UNARY: /* test, at 0 and 1, has an immediate */
        if (d->reg < 2)
            d->shape |= d->opcode == 0xf6 ? IMMEDIATE_8 : IMMEDIATE_Z;
        break;
    case RULE_EXTRACT: /* extrq xmm, ib, ib and insertq xmm, xmm, ib, ib */
        if (d->mandatory == MANDATORY_66 || d->mandatory == MANDATORY_F2)
            d->shape |= IMMEDIATE_16;
        break;
    default:
        break;
    }
}

HOT void rule_zero_idiom(sn_decoding *d) {
    if (d->mod == 3 && d->reg == d->rm && !(d->rex & REX_R) == !(d->rex & REX_B))
        d->effect = EFFECT_CLEAR_V;
}

HOT void condition_rule(sn_decoding *d) {
    d->insn->flags_read = sn_condition_flags[d->opcode & 15];
}

HOT void conditional_branch(sn_decoding *d) {
    branch_to(d, SN_INSN_CONDITIONAL);
    d->insn->condition = d->opcode & 15;
    condition_rule(d);
}

/** The rules of one instruction in five, without the copy that the others cost. Returns false for those. */
HOT bool apply_frequent_rule(sn_decoding *d) {
    switch (d->rule) {
    case RULE_CONDITIONAL_8:
    case RULE_CONDITIONAL_32: conditional_branch(d); return true;
    case RULE_JUMP_8:
    case RULE_JUMP_32: branch_to(d, SN_INSN_JUMP); return true;
    case RULE_CALL: branch_to(d, SN_INSN_CALL); return true;
    case RULE_CONDITION: condition_rule(d); return true;
    case RULE_ADDRESS: d->insn->segment = SN_SEGMENT_NONE; return true;
    case RULE_ZERO_IDIOM: rule_zero_idiom(d); return true;
    default: return false;
    }
}

/** Repeated string instructions count in rcx, and may run zero times: the flags then stay. */
static void adjust_repeated(sn_insn *insn) {
    insn->registers_read |= 1u << RCX;
    insn->registers_touched |= 1u << RCX;
    insn->flags_read |= insn->flags_written & SN_FLAG_ZERO;
    insn->flags_written = 0;
}

/* --------------------------------------------------------------------- entry point */

HOT void keep_bytes(sn_insn *insn, const uint8_t *bytes) {
    uint64_t low, high;
    unsigned length = insn->length;
    memcpy(&low, bytes, 8);
    memcpy(&high, bytes + 8, 8);
    if (length < 8) {
        low &= (UINT64_C(1) << 8 * length) - 1;
        high = 0;
    } else {
        high &= (UINT64_C(1) << 8 * (length - 8)) - 1;
    }
    memcpy(insn->bytes, &low, 8);
    memcpy(insn->bytes + 8, &high, 8);
}

HOT void read_opcode(sn_decoding *d) {
    uint8_t first = d->bytes[d->position];
    if (may_be_vector(first)) {
        sn_decoding copy = *d;
        bool is_vector = read_vector_opcode(&copy);
        *d = copy;
        if (is_vector)
            return;
    }
    d->insn->opcode_offset = (uint8_t)d->position;
    read_legacy_opcode(d);
}

HOT bool decode(const uint8_t *bytes, size_t available, uint64_t pc, sn_insn *insn) {
    memset(insn, 0, sizeof *insn);
    sn_decoding d = {.insn = insn, .bytes = bytes, .mod = 3, .base = NO_REGISTER, .index = NO_REGISTER};
    insn->pc = pc;
    read_prefixes(&d);
    read_opcode(&d);
    d.rm = d.opcode & 7;
    if (d.shape & SHAPE_MODRM) {
        read_modrm(&d);
        shape_rule(&d);
    }
    if ((d.prefixes & (PREFIX_FS | PREFIX_GS)) && (insn->memory || (d.shape & SHAPE_SEGMENT)))
        insn->segment = d.prefixes & PREFIX_FS ? SN_SEGMENT_FS : SN_SEGMENT_GS;
    read_immediate(&d);
    if (d.position > LONGEST || d.position > available) {
        memset(insn, 0, sizeof *insn);
        return false;
    }
    insn->length = (uint8_t)d.position;
    if (d.rule && !apply_frequent_rule(&d)) {
        sn_decoding copy = d;
        sn_decoding_apply_rule(&copy);
        d.effect = copy.effect;
    }
    sn_decoding_effects(&d, insn);
    if (insn->repeated)
        adjust_repeated(insn);
    keep_bytes(insn, bytes);
    return true;
}

/** Near the end of the code the bytes are copied first, so that decoding may look at bytes that are not there. */
static __attribute__((noinline)) bool decode_at_end(const uint8_t *code, size_t available, uint64_t pc,
                                                    sn_insn *insn) {
    uint8_t window[WINDOW];
    memset(window, 0, sizeof window);
    memcpy(window, code, available);
    return decode(window, available, pc, insn);
}

bool sn_decode(const uint8_t *code, size_t available, uint64_t pc, sn_insn *insn) {
    return available >= WINDOW ? decode(code, available, pc, insn) : decode_at_end(code, available, pc, insn);
}
