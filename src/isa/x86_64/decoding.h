/**
 * @fileoverview The state of one quick decoding, between decode.c and decode_rules.c (bytes to fields) and effects.h (fields to
 * effects).
 */
#ifndef SONDE_ISA_X86_64_DECODING_H
#define SONDE_ISA_X86_64_DECODING_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "isa/isa.h"

/**
 * What every instruction passes through is inlined into one function and keeps its sn_decoding in machine registers.
 * What few need is called with a copy of it, so that its address never leaves that function.
 */
#define HOT static inline __attribute__((always_inline))

/** Prefixes, as bits. The last of repne and rep counts, as does the last of fs and gs. */
enum {
    PREFIX_OPERAND_SIZE = 1,
    PREFIX_ADDRESS_SIZE = 2,
    PREFIX_REPNE = 4,
    PREFIX_REP = 8,
    PREFIX_LOCK = 16,
    PREFIX_FS = 32,
    PREFIX_GS = 64,
    PREFIX_IGNORED = 128,
};

enum { REX_B = 1, REX_X = 2, REX_R = 4, REX_W = 8 };

enum { ENCODING_LEGACY, ENCODING_VEX2, ENCODING_VEX3, ENCODING_EVEX, ENCODING_XOP };

/** Rows of sn_effect_by_prefix, and the pp field of VEX and EVEX. */
enum { MANDATORY_NONE, MANDATORY_66, MANDATORY_F3, MANDATORY_F2 };

typedef struct sn_decoding {
    sn_insn *insn;
    const uint8_t *bytes; /**< the code, with room to look well beyond the longest instruction */
    unsigned position;    /**< of the next byte to look at */
    uint8_t prefixes;     /**< PREFIX_* */
    uint8_t rex;          /**< REX_* bits, from REX, VEX, EVEX or XOP */
    uint8_t rex_byte;     /**< the REX byte in effect, or 0; with one, byte registers 4 to 7 are spl, bpl, sil, dil */
    uint8_t mandatory;    /**< MANDATORY_* */
    uint8_t opcode;       /**< the last opcode byte */
    uint8_t shape;
    uint8_t rule;
    uint8_t effect;
    uint8_t mod;          /**< of ModRM; 3 for an instruction without one */
    uint8_t reg;          /**< of ModRM, three bits */
    uint8_t rm;           /**< of ModRM or, without one, the low bits of the opcode */
    uint8_t vvvv;         /**< register number in VEX.vvvv */
    uint8_t base;         /**< general register in the address, or 16 */
    uint8_t index;        /**< likewise; may be a vector register's number with EFFECT_VECTOR_INDEX */
} sn_decoding;

static inline bool sn_decoding_is_narrow(const sn_decoding *d) {
    return (d->prefixes & PREFIX_OPERAND_SIZE) && !(d->rex & REX_W);
}

/** The signed number in the last `size` bytes (1 to 8). */
HOT int64_t last_immediate(const sn_decoding *d, unsigned size) {
    uint64_t value;
    memcpy(&value, d->bytes + d->position - size, sizeof value);
    unsigned unused = 64 - 8 * size;
    return (int64_t)(value << unused) >> unused;
}

HOT void branch_to(sn_decoding *d, sn_insn_class class) {
    sn_insn *insn = d->insn;
    insn->class = (uint8_t)class;
    insn->target = insn->pc + d->position + (uint64_t)last_immediate(d, insn->immediate_size);
}

/** After all bytes are read: classes, and effects that depend on more than the opcode, of what is rare. */
void sn_decoding_apply_rule(sn_decoding *d);

#endif
