/**
 * @fileoverview sn_accesses_vary() and sn_accesses_of(): the accesses of instructions of which the operands alone do not
 * tell what memory is accessed.
 *
 * One table says which encodings these are and who enumerates them. What works on general registers is enumerated here:
 * repeated string instructions, bits that are addressed by number, table look-up. The rest is in access_vectors.c and
 * access_state.c. The analysis code of tools asks at every execution, so the decoding library is not asked here.
 */
#include <string.h>

#include "accessing.h"
#include "emit.h"
#include "tables.h"

/* --------------------------------------------------------------------------- encoding */

enum { OPERAND_SIZE = 0x66, ADDRESS_SIZE = 0x67, REPNE = 0xf2, REP = 0xf3, ESCAPE = 0x0f, ESCAPE_38 = 0x38, ESCAPE_3A = 0x3a };

static void read_prefixes(const sn_insn *insn, sn_encoded *encoded) {
    uint8_t repeat = 0;
    for (unsigned i = 0; i < insn->prefix_length; i++) {
        uint8_t prefix = insn->bytes[i];
        encoded->narrow |= prefix == OPERAND_SIZE;
        encoded->short_address |= prefix == ADDRESS_SIZE;
        if (prefix == REPNE || prefix == REP) repeat = prefix;
    }
    encoded->prefix = repeat == REP ? PREFIX_F3 : repeat ? PREFIX_F2 : encoded->narrow ? PREFIX_66 : PREFIX_NONE;
}

static void read_legacy(const sn_insn *insn, sn_encoded *encoded) {
    const uint8_t *at = insn->bytes + insn->opcode_offset;
    uint8_t rex = insn->rex_offset ? insn->bytes[insn->rex_offset - 1] : 0;
    encoded->wide = rex >> 3 & 1;
    encoded->reg = rex << 1 & 8;
    encoded->index_high = rex << 2 & 8;
    encoded->base_high = rex << 3 & 8;
    encoded->opcode = at[0];
    if (at[0] != ESCAPE) return;
    bool long_escape = at[1] == ESCAPE_38 || at[1] == ESCAPE_3A;
    encoded->map = at[1] == ESCAPE_38 ? MAP_0F38 : at[1] == ESCAPE_3A ? MAP_0F3A : MAP_0F;
    encoded->opcode = at[1 + long_escape];
}

static void read_vex(const sn_insn *insn, sn_encoded *encoded) {
    const uint8_t *opcode = insn->bytes + insn->opcode_offset;
    bool long_form = insn->encoding != ENCODED_VEX2;
    uint8_t low = opcode[-1], high = opcode[-2];
    encoded->opcode = opcode[0];
    encoded->map = long_form ? high & 31 : MAP_0F;
    encoded->prefix = low & 3;
    encoded->length = low >> 2 & 1;
    encoded->source = ~low >> 3 & 15;
    encoded->wide = long_form && low >> 7;
    encoded->reg = (long_form ? ~high : ~low) >> 4 & 8;
    encoded->index_high = long_form ? ~high >> 3 & 8 : 0;
    encoded->base_high = long_form ? ~high >> 2 & 8 : 0;
}

static void read_evex(const sn_insn *insn, sn_encoded *encoded) {
    const uint8_t *payload = insn->bytes + insn->opcode_offset - 3;
    uint8_t inverted[] = {(uint8_t)~payload[0], (uint8_t)~payload[1], (uint8_t)~payload[2]};
    encoded->map = payload[0] & 7;
    encoded->reg = inverted[0] >> 4 & 8;
    encoded->index_high = inverted[0] >> 3 & 8;
    encoded->base_high = inverted[0] >> 2 & 8;
    encoded->wide = payload[1] >> 7;
    encoded->source_high = inverted[2] << 1 & 16;
    encoded->source = (inverted[1] >> 3 & 15) | encoded->source_high;
    encoded->prefix = payload[1] & 3;
    encoded->length = payload[2] >> 5 & 3;
    encoded->broadcast = payload[2] >> 4 & 1;
    encoded->mask = payload[2] & 7;
    encoded->opcode = payload[3];
}

void sn_encoded_of(const sn_insn *insn, sn_encoded *encoded) {
    memset(encoded, 0, sizeof *encoded);
    read_prefixes(insn, encoded);
    if (insn->encoding == ENCODED_LEGACY)
        read_legacy(insn, encoded);
    else if (insn->encoding == ENCODED_EVEX)
        read_evex(insn, encoded);
    else
        read_vex(insn, encoded);
    if (!insn->modrm_offset) return;
    uint8_t modrm = insn->bytes[insn->modrm_offset];
    encoded->reg |= modrm >> 3 & 7;
    encoded->rm = (modrm & 7) | encoded->base_high;
}

/* ---------------------------------------------------------------------------- address */

static int64_t displacement_of(const sn_insn *insn, unsigned scale) {
    const uint8_t *at = insn->bytes + insn->displacement_offset;
    int32_t wide = 0;
    if (insn->displacement_size == 1) return (int64_t)(int8_t)at[0] * (int64_t)scale;
    if (insn->displacement_size == 4) memcpy(&wide, at, sizeof wide);
    return wide;
}

sn_address sn_accessing_address(const sn_accessing *a, unsigned scale) {
    enum { MODE_NONE = 0, LOW_SIB = 4, LOW_NONE = 5, INDEX_NONE = 4 };
    const sn_insn *insn = a->insn;
    const uint64_t *general = a->state->general;
    uint8_t modrm = insn->bytes[insn->modrm_offset], sib = insn->bytes[insn->modrm_offset + 1];
    sn_address address = {.start = (uint64_t)displacement_of(insn, scale),
                          .segment = a->state->bases[insn->segment],
                          .limit = a->encoded.short_address ? UINT32_MAX : UINT64_MAX};
    if (insn->rip_relative) {
        address.start += insn->pc + insn->length;
        return address;
    }
    if ((modrm & 7) != LOW_SIB) {
        address.start += general[a->encoded.rm];
        return address;
    }
    uint8_t index = (sib >> 3 & 7) | a->encoded.index_high;
    if ((sib & 7) != LOW_NONE || modrm >> 6 != MODE_NONE) address.start += general[(sib & 7) | a->encoded.base_high];
    address.vector_index = index | a->encoded.source_high;
    address.shift = sib >> 6;
    address.index = index == INDEX_NONE ? 0 : general[index];
    return address;
}

/* ------------------------------------------------------------------- string operations */

static const sn_string_form string_forms[] = {
    {0x6c, SN_SHAPE_NO_OPERAND, 0, SN_ROLE_WRITTEN}, /* ins */
    {0x6e, 1, SN_SHAPE_NO_OPERAND, 0},               /* outs */
    {0xa4, 1, 0, SN_ROLE_WRITTEN},          /* movs */
    {0xa6, 0, 1, SN_ROLE_READ},             /* cmps */
    {0xaa, SN_SHAPE_NO_OPERAND, 0, SN_ROLE_WRITTEN}, /* stos */
    {0xac, 1, SN_SHAPE_NO_OPERAND, 0},               /* lods */
    {0xae, SN_SHAPE_NO_OPERAND, 1, SN_ROLE_READ},    /* scas */
};

const sn_string_form *sn_string_form_of(uint8_t opcode) {
    const sn_string_form *form = string_forms;
    while (form->opcode != (opcode & 0xfe)) form++;
    return form;
}

/** ins and outs know no elements of 8 bytes. */
unsigned sn_string_element(const sn_encoded *encoded) {
    bool is_port = encoded->opcode < 0x70;
    if (!(encoded->opcode & 1)) return 1;
    if (encoded->wide && !is_port) return 8;
    return encoded->narrow && !encoded->wide ? 2 : 4;
}

void sn_access_string(sn_accessing *a) {
    const sn_string_form *form = sn_string_form_of(a->encoded.opcode);
    const uint64_t *general = a->state->general;
    unsigned size = sn_string_element(&a->encoded);
    uint64_t limit = a->encoded.short_address ? UINT32_MAX : UINT64_MAX;
    uint64_t step = a->state->backwards ? -(uint64_t)size : size;
    unsigned accesses = (form->source != SN_SHAPE_NO_OPERAND) + (form->destination != SN_SHAPE_NO_OPERAND);
    a->number = a->first / accesses * accesses;
    for (uint64_t i = a->first / accesses; i < a->done && !sn_accessing_is_full(a); i++) {
        if (form->source != SN_SHAPE_NO_OPERAND)
            sn_accessing_add(a, a->state->bases[a->insn->segment] + ((general[RSI] + i * step) & limit), size,
                             SN_ROLE_READ, form->source);
        if (form->destination != SN_SHAPE_NO_OPERAND)
            sn_accessing_add(a, (general[RDI] + i * step) & limit, size, form->destination_role, form->destination);
    }
}

/* ------------------------------------------------------------------- bits and look-up */

unsigned sn_bit_unit(const sn_encoded *encoded) { return encoded->wide ? 8 : encoded->narrow ? 2 : 4; }

/** The bit's number counts from the address on, in both directions; the unit that holds it is accessed. */
void sn_access_bit(sn_accessing *a) {
    static const uint8_t operand = 0;
    unsigned size = sn_bit_unit(&a->encoded);
    uint64_t number = a->state->general[a->encoded.reg];
    int64_t bit = size == 8 ? (int64_t)number : size == 4 ? (int32_t)number : (int16_t)number;
    sn_address address = sn_accessing_address(a, 1);
    address.start += (uint64_t)((bit >> (size == 8 ? 6 : size == 4 ? 5 : 4)) * (int64_t)size);
    sn_accessing_add(a, sn_address_plain(&address), size, SN_ROLE_READ, operand);
    if (a->encoded.opcode != SN_BIT_TEST)
        sn_accessing_add(a, sn_address_plain(&address), size, SN_ROLE_WRITTEN, operand);
}

void sn_access_table(sn_accessing *a) {
    uint64_t address = a->state->general[RBX] + (uint8_t)a->state->general[RAX];
    uint64_t limit = a->encoded.short_address ? UINT32_MAX : UINT64_MAX;
    sn_accessing_add(a, a->state->bases[a->insn->segment] + (address & limit), 1, SN_ROLE_READ, 0);
}

/* ------------------------------------------------------------------------------ forms */

/** Bits of the members below. */
enum {
    LEGACY = 1 << ENCODED_LEGACY,
    VEX = 1 << ENCODED_VEX2 | 1 << ENCODED_VEX3,
    EVEX = 1 << ENCODED_EVEX,
    NONE = 1 << PREFIX_NONE,
    P66 = 1 << PREFIX_66,
    F3 = 1 << PREFIX_F3,
    F2 = 1 << PREFIX_F2,
    ANY = 255,
    REGISTER = 1,
    MEMORY = 2,
};

#define EXTENSION(n) (1 << (n))

typedef struct sn_access_form {
    uint8_t encodings;   /**< bit N: sn_insn.encoding N */
    uint8_t map;
    uint8_t prefixes;    /**< bit N: prefix N */
    uint8_t first, last; /**< opcodes */
    uint8_t extensions;  /**< bit N: ModRM.reg (three bits) N */
    uint8_t operands;    /**< REGISTER, MEMORY: what ModRM names */
    sn_enumeration *enumerate; /**< NULL: nothing is accessed */
} sn_access_form;

static const sn_access_form forms[] = {
    {LEGACY, MAP_ONE_BYTE, ANY, 0xd7, 0xd7, ANY, ANY, sn_access_table},                       /* xlat */
    {LEGACY, MAP_0F, ANY, 0xa3, 0xa3, ANY, MEMORY, sn_access_bit},                            /* bt */
    {LEGACY, MAP_0F, ANY, 0xab, 0xab, ANY, MEMORY, sn_access_bit},                            /* bts */
    {LEGACY, MAP_0F, ANY, 0xb3, 0xb3, ANY, MEMORY, sn_access_bit},                            /* btr */
    {LEGACY, MAP_0F, ANY, 0xbb, 0xbb, ANY, MEMORY, sn_access_bit},                            /* btc */
    {LEGACY, MAP_0F, NONE, 0xae, 0xae, EXTENSION(4), MEMORY, sn_access_state_save},        /* xsave */
    {LEGACY, MAP_0F, NONE, 0xae, 0xae, EXTENSION(5), MEMORY, sn_access_state_load},        /* xrstor */
    {LEGACY, MAP_0F, NONE, 0xae, 0xae, EXTENSION(6), MEMORY, sn_access_state_save_changed}, /* xsaveopt */
    {LEGACY, MAP_0F, NONE, 0xc7, 0xc7, EXTENSION(4), MEMORY, sn_access_state_save_compacted}, /* xsavec */
    {LEGACY | VEX, MAP_0F, NONE | P66, 0xf7, 0xf7, ANY, REGISTER, sn_access_masked_bytes}, /* maskmovq, maskmovdqu */
    {VEX, MAP_0F38, P66, 0x2c, 0x2d, ANY, MEMORY, sn_access_masked_loads},                 /* vmaskmovps, vmaskmovpd */
    {VEX, MAP_0F38, P66, 0x2e, 0x2f, ANY, MEMORY, sn_access_masked_stores},
    {VEX, MAP_0F38, P66, 0x8c, 0x8c, ANY, MEMORY, sn_access_masked_loads},                 /* vpmaskmovd, vpmaskmovq */
    {VEX, MAP_0F38, P66, 0x8e, 0x8e, ANY, MEMORY, sn_access_masked_stores},
    {VEX | EVEX, MAP_0F38, P66, 0x90, 0x93, ANY, MEMORY, sn_access_gather},
    {EVEX, MAP_0F38, P66, 0xa0, 0xa3, ANY, MEMORY, sn_access_scatter},
    {EVEX, MAP_0F38, P66, 0xc6, 0xc7, ANY, MEMORY, NULL},                                  /* prefetches of gathers */
    {VEX, MAP_0F38, P66 | F2, 0x4b, 0x4b, ANY, MEMORY, sn_access_tile_load},               /* tileloaddt1, tileloadd */
    {VEX, MAP_0F38, F3, 0x4b, 0x4b, ANY, MEMORY, sn_access_tile_store},                    /* tilestored */
};

static const sn_access_form repeated_string = {.enumerate = sn_access_string};
static const sn_access_form masked_lanes = {.enumerate = sn_access_lanes};

static bool is_of_form(const sn_access_form *form, const sn_insn *insn, const sn_encoded *encoded) {
    return form->encodings >> insn->encoding & 1 && form->map == encoded->map && encoded->opcode >= form->first &&
           encoded->opcode <= form->last && form->prefixes >> encoded->prefix & 1 &&
           form->extensions >> (encoded->reg & 7) & 1 && (form->operands & (insn->memory ? MEMORY : REGISTER));
}

/** NULL when its accesses do not vary. */
static const sn_access_form *form_of(const sn_insn *insn, sn_encoded *encoded) {
    sn_encoded_of(insn, encoded);
    if (insn->repeated) return &repeated_string;
    for (unsigned i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (is_of_form(&forms[i], insn, encoded)) return forms[i].enumerate ? &forms[i] : NULL;
    if (insn->encoding == ENCODED_EVEX && insn->memory && encoded->mask && !sn_access_ignores_mask(encoded))
        return &masked_lanes;
    return NULL;
}

sn_enumeration *sn_enumeration_of(const sn_insn *insn, sn_encoded *encoded) {
    const sn_access_form *form = form_of(insn, encoded);
    return form ? form->enumerate : NULL;
}

bool sn_has_narrow_addresses(const sn_insn *insn) {
    for (unsigned i = 0; i < insn->prefix_length; i++)
        if (insn->bytes[i] == ADDRESS_SIZE) return true;
    return false;
}

bool sn_operand_is_narrow(const sn_operand *operand, const sn_insn *insn) {
    bool is_stack = !operand->is_explicit && (operand->base == SN_RSP || operand->base == SN_RBP); /* push, pop, call, enter, leave, ... */
    return !is_stack && sn_has_narrow_addresses(insn);
}

uint64_t sn_operand_offset(const sn_operand *operand, const sn_insn *insn, const uint64_t *general) {
    uint64_t offset = (uint64_t)operand->displacement;
    if (operand->base != SN_NO_REGISTER) offset += general[operand->base];
    if (operand->index != SN_NO_REGISTER) offset += general[operand->index] * operand->scale;
    return sn_operand_is_narrow(operand, insn) ? (uint32_t)offset : offset;
}

bool sn_accesses_vary(const sn_insn *insn) {
    sn_encoded encoded;
    return sn_enumeration_of(insn, &encoded) != NULL;
}

size_t sn_accesses_of(const sn_insn *insn, const sn_access_state *state, uint64_t done, uint64_t first,
                      sn_access *accesses, size_t capacity) {
    sn_accessing a = {.insn = insn, .state = state, .done = done, .first = first, .to = accesses, .capacity = capacity};
    sn_enumeration *enumerate = sn_enumeration_of(insn, &a.encoded);
    if (enumerate) enumerate(&a);
    return a.count;
}
