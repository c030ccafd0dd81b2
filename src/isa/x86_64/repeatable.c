/**
 * @fileoverview Which instructions give the same result when they are run twice: asked where a block's translation is
 * checked against its original (guest/verify.c), and by the translator, which then keeps the others apart.
 *
 * The rows name what depends on more than the client's registers and the memory that the operands name (clocks, random
 * numbers, which processor it is, where the code lies), what the check could not put back (protection keys), what the
 * trap flag disturbs (loads of the stack segment, transactions), and stores whose place follows from no single address.
 */
#include "isa/isa.h"

/** Opcode maps: without an escape byte, behind 0F, behind 0F 38. */
enum { MAP_ONE_BYTE, MAP_0F, MAP_0F38 };
/** Whether ModRM names memory. */
enum { FORM_ANY, FORM_REGISTER, FORM_MEMORY };
/** sn_insn.encoding */
enum { LEGACY = 1, VEX = 6, EVEX = 8 };

#define EXTENSION(n) (1 << (n))
#define ANY_EXTENSION 255

typedef struct sn_exclusion {
    uint8_t encodings;       /**< bit N: sn_insn.encoding N */
    uint8_t map, first, last; /**< opcodes */
    uint8_t extensions;      /**< bit N: ModRM.reg (three bits) N */
    uint8_t form;
} sn_exclusion;

static const sn_exclusion exclusions[] = {
    {LEGACY, MAP_ONE_BYTE, 0x6c, 0x6f, ANY_EXTENSION, FORM_ANY},               /* ins, outs */
    {LEGACY, MAP_ONE_BYTE, 0x8e, 0x8e, ANY_EXTENSION, FORM_ANY},               /* mov to a segment register */
    {LEGACY, MAP_ONE_BYTE, 0xc6, 0xc6, EXTENSION(7), FORM_REGISTER},           /* xabort */
    {LEGACY, MAP_ONE_BYTE, 0xd9, 0xd9, EXTENSION(6), FORM_MEMORY},             /* fnstenv: shows a code address */
    {LEGACY, MAP_ONE_BYTE, 0xdd, 0xdd, EXTENSION(6), FORM_MEMORY},             /* fnsave: likewise */
    {LEGACY, MAP_ONE_BYTE, 0xe4, 0xe7, ANY_EXTENSION, FORM_ANY},               /* in, out */
    {LEGACY, MAP_ONE_BYTE, 0xec, 0xef, ANY_EXTENSION, FORM_ANY},               /* in, out */
    {LEGACY, MAP_0F, 0x00, 0x01, ANY_EXTENSION, FORM_ANY},                     /* system registers, xgetbv, rdtscp, ... */
    {LEGACY, MAP_0F, 0x31, 0x33, ANY_EXTENSION, FORM_ANY},                     /* rdtsc, rdpmc */
    {LEGACY, MAP_0F, 0xa2, 0xa2, ANY_EXTENSION, FORM_ANY},                     /* cpuid */
    {LEGACY, MAP_0F, 0xab, 0xab, ANY_EXTENSION, FORM_MEMORY},                  /* bts far from its address */
    {LEGACY, MAP_0F, 0xae, 0xae, EXTENSION(0) | EXTENSION(4) | EXTENSION(5) | EXTENSION(6), FORM_MEMORY}, /* xsave, ... */
    {LEGACY, MAP_0F, 0xae, 0xae, EXTENSION(5) | EXTENSION(6), FORM_REGISTER},  /* umwait, tpause, incssp; fences */
    {LEGACY, MAP_0F, 0xb2, 0xb3, ANY_EXTENSION, FORM_MEMORY},                  /* lss; btr */
    {LEGACY, MAP_0F, 0xbb, 0xbb, ANY_EXTENSION, FORM_MEMORY},                  /* btc */
    {LEGACY, MAP_0F, 0xc7, 0xc7, EXTENSION(3) | EXTENSION(4) | EXTENSION(5) | EXTENSION(6) | EXTENSION(7),
     FORM_ANY},                                                                /* rdrand, rdseed, rdpid, xsavec, ... */
    {LEGACY, MAP_0F38, 0xdc, 0xdc, EXTENSION(0) | EXTENSION(1) | EXTENSION(2) | EXTENSION(3), FORM_REGISTER}, /* loadiwkey */
    {LEGACY, MAP_0F38, 0xf5, 0xf6, ANY_EXTENSION, FORM_MEMORY},                /* stores to shadow stacks */
    {LEGACY, MAP_0F38, 0xf8, 0xf8, ANY_EXTENSION, FORM_ANY},                   /* movdir64b, enqcmd */
    {VEX, MAP_0F38, 0x4b, 0x4b, ANY_EXTENSION, FORM_ANY},                      /* rows of tiles */
    {EVEX, MAP_0F38, 0xa0, 0xa3, ANY_EXTENSION, FORM_ANY},                     /* scatters */
};

static const uint8_t repeatable_classes[] = {
    [SN_INSN_PLAIN] = 1,       [SN_INSN_JUMP] = 1,   [SN_INSN_CONDITIONAL] = 1,   [SN_INSN_LOOP] = 1,
    [SN_INSN_CALL] = 1,        [SN_INSN_RETURN] = 1, [SN_INSN_JUMP_INDIRECT] = 1, [SN_INSN_CALL_INDIRECT] = 1,
    [SN_INSN_WRITE_SEGMENT] = 0,
};

/** The opcode's map and last byte. */
static void find_opcode(const sn_insn *insn, uint8_t *map, uint8_t *opcode) {
    const uint8_t *at = insn->bytes + insn->opcode_offset;
    *opcode = at[0];
    switch (insn->encoding) {
    case 0:
        *map = MAP_ONE_BYTE;
        if (at[0] != 0x0f) return;
        *map = at[1] == 0x38 ? MAP_0F38 : at[1] == 0x3a ? 3 : MAP_0F;
        *opcode = at[1] == 0x38 || at[1] == 0x3a ? at[2] : at[1];
        return;
    case 1: *map = MAP_0F; return;
    case 2: *map = at[-2] & 31; return; /* VEX.mmmmm */
    case 3: *map = at[-3] & 7; return;  /* EVEX.mmm */
    default: *map = 255; return;
    }
}

static bool excludes(const sn_exclusion *row, const sn_insn *insn, uint8_t map, uint8_t opcode) {
    if (!(row->encodings >> insn->encoding & 1) || row->map != map || opcode < row->first || opcode > row->last)
        return false;
    if (!insn->modrm_offset) return true;
    uint8_t modrm = insn->bytes[insn->modrm_offset];
    bool memory = modrm < 0xc0;
    if (row->form != FORM_ANY && memory != (row->form == FORM_MEMORY)) return false;
    return row->extensions >> (modrm >> 3 & 7) & 1;
}

bool sn_is_repeatable(const sn_insn *insn) {
    if (!repeatable_classes[insn->class] || insn->segment == SN_SEGMENT_GS) return false;
    uint8_t map, opcode;
    find_opcode(insn, &map, &opcode);
    for (unsigned i = 0; i < sizeof exclusions / sizeof exclusions[0]; i++)
        if (excludes(&exclusions[i], insn, map, opcode)) return false;
    return true;
}
