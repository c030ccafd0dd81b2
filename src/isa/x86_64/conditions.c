/**
 * @fileoverview Conditional moves and condition codes (Intel SDM volume 1, appendix B; volume 2, CMOVcc). Compiled for general registers
 * only: plans of shadows decide by them.
 */
#include "isa/isa.h"

int sn_move_condition_of(const sn_insn *insn) {
    const uint8_t *opcode = &insn->bytes[insn->opcode_offset];
    return !insn->encoding && opcode[0] == 0x0f && (opcode[1] & 0xf0) == 0x40 ? opcode[1] & 15 : -1;
}

bool sn_condition_holds(unsigned condition, unsigned flags) {
    bool carry = flags & SN_FLAG_CARRY, zero = flags & SN_FLAG_ZERO, sign = flags & SN_FLAG_SIGN, parity = flags & SN_FLAG_PARITY;
    bool overflow = flags & SN_FLAG_OVERFLOW;
    const bool holds[8] = {overflow, carry, zero, carry || zero, sign, parity, sign != overflow, zero || sign != overflow};
    return holds[condition >> 1 & 7] != (condition & 1);
}
