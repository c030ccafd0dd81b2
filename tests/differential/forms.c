/**
 * @fileoverview The table of instruction forms, see forms.h: tries every opcode of every map and keeps what decodes.
 */
#include "forms.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 1 << 17, MOST_FORMS = 40000 };

static sn_form *forms;
static size_t form_count;
static uint32_t *slots; /* open addressing: index plus one */
static ZydisDecoder decoder;

sn_form *sn_forms(void) {
    return forms;
}

size_t sn_forms_count(void) {
    return form_count;
}

bool sn_form_decode(const uint8_t *code, size_t size, ZydisDecoderContext *context, ZydisDecodedInstruction *instruction,
                    ZydisDecodedOperand *operands) {
    return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, context, code, size, instruction)) &&
           ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&decoder, context, instruction, operands, ZYDIS_MAX_OPERAND_COUNT));
}

static unsigned encode_legacy(const sn_form *form, const sn_encoding *fields, uint8_t *code) {
    static const uint8_t mandatory[] = {0, 0x66, 0xf3, 0xf2};
    unsigned length = 0;
    uint8_t rex = (uint8_t)(form->wide << 3 | fields->register_high << 2 | fields->index_high << 1 | fields->base_high);
    if (form->prefix)
        code[length++] = mandatory[form->prefix];
    if (rex || fields->force_rex)
        code[length++] = 0x40 | rex;
    if (form->map)
        code[length++] = 0x0f;
    if (form->map >= 2)
        code[length++] = form->map == 2 ? 0x38 : 0x3a;
    code[length++] = form->opcode;
    return length;
}

static unsigned encode_vex(const sn_form *form, const sn_encoding *fields, uint8_t *code) {
    uint8_t low = (uint8_t)((~fields->source & 15) << 3 | form->length << 2 | form->prefix);
    uint8_t high = (uint8_t)(!fields->register_high << 7 | !fields->index_high << 6 | !fields->base_high << 5);
    if (fields->short_vex && form->map == 1 && !form->wide && !fields->index_high && !fields->base_high) {
        code[0] = 0xc5;
        code[1] = (uint8_t)((high & 0x80) | low);
        code[2] = form->opcode;
        return 3;
    }
    code[0] = 0xc4;
    code[1] = high | form->map;
    code[2] = (uint8_t)(form->wide << 7 | low);
    code[3] = form->opcode;
    return 4;
}

static unsigned encode_evex(const sn_form *form, const sn_encoding *fields, uint8_t *code) {
    code[0] = 0x62;
    code[1] = (uint8_t)(!fields->register_high << 7 | !fields->index_high << 6 | !fields->base_high << 5 |
                        !fields->register_top << 4 | form->map);
    code[2] = (uint8_t)(form->wide << 7 | (~fields->source & 15) << 3 | 4 | form->prefix);
    code[3] = (uint8_t)(fields->zeroing << 7 | form->length << 5 | form->embedded << 4 | !fields->source_top << 3 |
                        fields->mask);
    code[4] = form->opcode;
    return 5;
}

unsigned sn_form_encode(const sn_form *form, const sn_encoding *fields, uint8_t *code) {
    unsigned length = fields->prefix_count;
    memcpy(code, fields->prefixes, length);
    if (form->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY)
        length += encode_legacy(form, fields, code + length);
    else if (form->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX)
        length += encode_vex(form, fields, code + length);
    else
        length += encode_evex(form, fields, code + length);
    if (form->has_modrm)
        code[length++] = fields->modrm;
    if (form->has_modrm && fields->has_sib)
        code[length++] = fields->sib;
    memcpy(code + length, fields->tail, sizeof fields->tail);
    return length + (unsigned)sizeof fields->tail;
}

static bool same_form(const sn_form *form, const sn_form *other) {
    return form->definition == other->definition && form->width == other->width &&
           form->vector_length == other->vector_length && form->embedded == other->embedded &&
           form->memory == other->memory && (!form->embedded || form->length == other->length);
}

static uint32_t *slot_of(const sn_form *form) {
    uint64_t hash = (uint64_t)(uintptr_t)form->definition * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= (uint64_t)(form->width * 5u + form->vector_length * 3u + form->embedded * 2u + form->memory) *
            UINT64_C(0xd6e8feb86659fd93);
    uint32_t place = (uint32_t)(hash >> 40) % SLOTS;
    while (slots[place] && !same_form(&forms[slots[place] - 1], form))
        place = (place + 1) % SLOTS;
    return &slots[place];
}

/** What tells one form from another, out of a decoded instruction. */
static void identify(sn_form *form, const ZydisDecoderContext *context, const ZydisDecodedInstruction *instruction) {
    form->definition = context->definition;
    form->mnemonic = instruction->mnemonic;
    form->width = instruction->operand_width;
    form->vector_length = instruction->avx.vector_length;
    form->has_modrm = (instruction->attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0;
    form->memory = form->has_modrm && instruction->raw.modrm.mod != 3;
    form->embedded = 0;
    form->length = 0;
    if (instruction->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) {
        form->embedded = instruction->raw.evex.b;
        form->length = (uint8_t)(instruction->raw.evex.L2 << 1 | instruction->raw.evex.L);
    }
}

sn_form *sn_form_of(const ZydisDecoderContext *context, const ZydisDecodedInstruction *instruction) {
    sn_form form = {0};
    identify(&form, context, instruction);
    uint32_t slot = *slot_of(&form);
    return slot ? &forms[slot - 1] : NULL;
}

/** Decode one trial encoding; add its form, or widen what the form is known to allow. */
static void try_encoding(const sn_form *trial, const sn_encoding *fields) {
    uint8_t code[40];
    ZydisDecoderContext context;
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    sn_form form = *trial;
    if (!sn_form_decode(code, sn_form_encode(trial, fields, code), &context, &instruction, operands))
        return;
    if (instruction.encoding != trial->encoding || instruction.opcode != trial->opcode)
        return; /* the opcode was a prefix, and what followed it the instruction */
    identify(&form, &context, &instruction);
    form.length = trial->length;
    uint32_t *slot = slot_of(&form);
    if (!*slot) {
        if (form_count == MOST_FORMS)
            return;
        sn_form_judge(&form, &instruction, operands);
        forms[form_count++] = form;
        *slot = (uint32_t)form_count;
    }
    sn_form *known = &forms[*slot - 1];
    known->register_values |= (uint8_t)(1 << (fields->modrm >> 3 & 7));
    known->operand_values |= trial->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX ? 0xff : (uint8_t)(1 << (fields->modrm & 7));
    known->maskable |= fields->mask != 0 && instruction.avx.mask.mode != ZYDIS_MASK_MODE_INVALID &&
                       instruction.avx.mask.mode != ZYDIS_MASK_MODE_DISABLED;
}

/** All ModRM bytes that matter: every register form where rm may select the instruction (not in EVEX), one memory form. */
static void try_operands(sn_form *trial, sn_encoding *fields) {
    unsigned most_operands = trial->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX ? 1 : 8;
    trial->has_modrm = true;
    for (unsigned reg = 0; reg < 8; reg++) {
        fields->modrm = (uint8_t)(reg << 3 | 4);
        fields->has_sib = true;
        fields->sib = 0x28; /* base 0, index 5 */
        try_encoding(trial, fields);
        fields->has_sib = false;
        for (unsigned rm = 0; rm < most_operands; rm++) {
            fields->modrm = (uint8_t)(0xc0 | reg << 3 | rm);
            try_encoding(trial, fields);
        }
    }
}

static void try_opcodes(sn_form *trial, sn_encoding *fields) {
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        trial->opcode = (uint8_t)opcode;
        try_operands(trial, fields);
    }
}

static void try_legacy(void) {
    for (unsigned i = 0; i < 4 * 4 * 2; i++) {
        sn_form trial = {.encoding = ZYDIS_INSTRUCTION_ENCODING_LEGACY,
                         .wide = i & 1, .prefix = i >> 1 & 3, .map = i >> 3 & 3};
        sn_encoding fields = {0};
        try_opcodes(&trial, &fields);
    }
}

static void try_vex(void) {
    static const uint8_t sources[] = {0, 6};
    for (unsigned i = 0; i < 2 * 2 * 4 * 3 * 2; i++) {
        sn_form trial = {.encoding = ZYDIS_INSTRUCTION_ENCODING_VEX, .wide = i & 1, .length = i >> 1 & 1,
                         .prefix = i >> 2 & 3, .map = (uint8_t)(1 + (i >> 4) % 3)};
        sn_encoding fields = {.source = sources[i / 48]};
        try_opcodes(&trial, &fields);
    }
}

static void try_evex(void) {
    static const uint8_t maps[] = {1, 2, 3, 5, 6};
    for (unsigned i = 0; i < 2 * 2 * 4 * 4 * 2 * 5; i++) {
        sn_form trial = {.encoding = ZYDIS_INSTRUCTION_ENCODING_EVEX, .wide = i & 1, .embedded = i >> 1 & 1,
                         .length = i >> 2 & 3, .prefix = i >> 4 & 3, .map = maps[(i >> 7)]};
        sn_encoding fields = {.mask = i >> 6 & 1};
        try_opcodes(&trial, &fields);
    }
}

size_t sn_forms_open(void) {
    forms = calloc(MOST_FORMS, sizeof *forms);
    slots = calloc(SLOTS, sizeof *slots);
    if (!forms || !slots || !ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
        return 0;
    try_legacy();
    try_vex();
    try_evex();
    return form_count;
}
