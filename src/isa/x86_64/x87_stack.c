/**
 * @fileoverview By how many registers an x87 instruction pushes or pops the register stack (Intel SDM volume 2, appendix B.17; volume
 * 1, 8.3): for shadows and values, which know registers by their number from the top.
 */
#include "isa/isa.h"

enum { NONE = 0, PUSH = 1, POP = -1, POP_TWICE = -2 };

/** Forms with an operand in memory: by the low three bits of the opcode (from 0xd8 on), and the register field. */
static const int8_t in_memory[8][8] = {
    [0] = {[3] = POP},
    [1] = {[0] = PUSH, [3] = POP},
    [2] = {[3] = POP},
    [3] = {[0] = PUSH, [1] = POP, [3] = POP, [5] = PUSH, [7] = POP},
    [4] = {[3] = POP},
    [5] = {[0] = PUSH, [1] = POP, [3] = POP},
    [6] = {[3] = POP},
    [7] = {[0] = PUSH, [1] = POP, [3] = POP, [4] = PUSH, [5] = PUSH, [6] = POP, [7] = POP},
};

/** Forms with registers only. */
static const int8_t in_registers[8][8] = {
    [0] = {[3] = POP},
    [1] = {[0] = PUSH, [3] = POP},
    [4] = {[3] = POP},
    [5] = {[3] = POP, [5] = POP},
    [6] = {[0] = POP, [1] = POP, [2] = POP, [4] = POP, [5] = POP, [6] = POP, [7] = POP},
    [7] = {[2] = POP, [3] = POP, [5] = POP, [6] = POP},
};

/** Those that the last three bits tell. */
static int special(unsigned opcode, unsigned modrm) {
    switch (opcode << 8 | modrm) {
    case 0xd9e8: case 0xd9e9: case 0xd9ea: case 0xd9eb: case 0xd9ec: case 0xd9ed: case 0xd9ee: /* constants */
    case 0xd9f2: case 0xd9f4: case 0xd9fb: case 0xd9f6: return PUSH; /* fptan, fxtract, fsincos; fdecstp */
    case 0xd9f1: case 0xd9f3: case 0xd9f9: case 0xd9f7: return POP;  /* fyl2x, fpatan, fyl2xp1; fincstp */
    case 0xded9: case 0xdae9: return POP_TWICE;                      /* fcompp, fucompp */
    default: return NONE;
    }
}

int sn_x87_stack_change(const sn_insn *insn) {
    unsigned opcode = insn->bytes[insn->opcode_offset];
    if (insn->encoding || !insn->modrm_offset || opcode < 0xd8 || opcode > 0xdf) return NONE;
    unsigned modrm = insn->bytes[insn->modrm_offset], field = modrm >> 3 & 7;
    if (modrm < 0xc0) return in_memory[opcode - 0xd8][field];
    int change = special(opcode, modrm);
    if (change) return change;
    if (opcode == 0xd9 && field >= 4) return NONE;
    return in_registers[opcode - 0xd8][field];
}
