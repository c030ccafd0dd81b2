/**
 * @fileoverview Every instruction form that the decoding library knows in 64-bit mode, found by decoding.
 *
 * A form is one definition of the library together with operand width, vector length, embedded broadcast or rounding,
 * and register or memory operand. Owns the table of forms, their coverage counts, and the rules that say which forms a
 * random block may hold. Used by the generator.
 */
#ifndef SONDE_TESTS_DIFFERENTIAL_FORMS_H
#define SONDE_TESTS_DIFFERENTIAL_FORMS_H

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum sn_form_policy {
    SN_FORM_RANDOM,   /**< may stand anywhere */
    SN_FORM_CONTROL,  /**< branches: only built as part of a control structure */
    SN_FORM_LAST,     /**< always faults in user mode: only as the last instruction of a block */
    SN_FORM_EXCLUDED, /**< its result differs from run to run, or it changes what the test stands on */
} sn_form_policy;

/** Kinds between which blocks are mixed: without them the many vector forms would leave little of the rest. */
typedef enum sn_form_kind { SN_KIND_GENERAL, SN_KIND_LEGACY_VECTOR, SN_KIND_VEX, SN_KIND_EVEX, SN_KINDS } sn_form_kind;

typedef struct sn_form {
    const void *definition;
    ZydisMnemonic mnemonic;
    sn_form_kind kind;
    sn_form_policy policy;
    const char *reason; /**< why a form is excluded */
    uint8_t encoding;   /**< ZydisInstructionEncoding: legacy, VEX or EVEX */
    uint8_t map, opcode, prefix, wide, length, embedded;
    bool has_modrm, memory, maskable;
    bool indexed; /**< gathers and scatters: a vector of indices, and in EVEX always a mask */
    uint8_t register_values, operand_values; /**< bit N: ModRM.reg (ModRM.rm) may be N */
    uint16_t width, vector_length;
    uint32_t tried, executed, undefined, faulted;
} sn_form;

/** What an encoding holds besides its form. Registers' high bits are plain, not inverted. */
typedef struct sn_encoding {
    uint8_t prefixes[4], prefix_count;
    bool force_rex, short_vex;
    uint8_t modrm, sib;
    bool has_sib;
    uint8_t register_high, index_high, base_high; /**< R, X, B */
    uint8_t register_top, source_top;             /**< EVEX R', V' */
    uint8_t source;                               /**< vvvv */
    uint8_t mask, zeroing;
    uint8_t tail[16]; /**< displacement and immediates */
} sn_encoding;

/** Fill the table; the forms stay where they are. Returns their number, 0 when memory ran out. */
size_t sn_forms_open(void);
sn_form *sn_forms(void);
size_t sn_forms_count(void);

/** The form of a decoded instruction, NULL when it is none of the table's. */
sn_form *sn_form_of(const ZydisDecoderContext *context, const ZydisDecodedInstruction *instruction);

/** Write an instruction of the form; 15 bytes or fewer after decoding, up to 32 here. */
unsigned sn_form_encode(const sn_form *form, const sn_encoding *fields, uint8_t *code);

/** Decode with all operands. */
bool sn_form_decode(const uint8_t *code, size_t size, ZydisDecoderContext *context, ZydisDecodedInstruction *instruction,
                    ZydisDecodedOperand *operands);

/** Provided by rules.c: sets kind, policy and reason. */
void sn_form_judge(sn_form *form, const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands);

#endif
