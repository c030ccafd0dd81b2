/**
 * @fileoverview Recognises instructions of which less matters than their data flow says, where values are known (Intel SDM volume 2):
 * BLSR, BLSMSK, BLSI (VEX 0F38 F3 /1 to /3); BTS, BTR, BTC by a register (0F AB, B3, BB); PCMPISTRI and PCMPISTRM (66 0F3A 63, 62).
 * For shadows that look at values.
 */
#include "isa/isa.h"

enum { VEX2 = 1, VEX3 = 2 };

static sn_special_form low_bit_of(const sn_insn *insn) {
    enum { MAP_0F38 = 2, OPCODE = 0xf3 };
    const uint8_t *opcode = &insn->bytes[insn->opcode_offset];
    if (insn->encoding != VEX3 || opcode[0] != OPCODE || !insn->modrm_offset || (opcode[-2] & 0x1f) != MAP_0F38) return SN_SPECIAL_NONE;
    static const uint8_t forms[8] = {[1] = SN_SPECIAL_LOW_BIT_CLEARED, [2] = SN_SPECIAL_LOW_BIT_MASK, [3] = SN_SPECIAL_LOW_BIT_ISOLATED};
    return (sn_special_form)forms[insn->bytes[insn->modrm_offset] >> 3 & 7];
}

static bool compares_text(const sn_insn *insn) {
    enum { MAP_0F3A = 3, MASK = 0x62, INDEX = 0x63 };
    const uint8_t *opcode = &insn->bytes[insn->opcode_offset];
    if (insn->encoding == VEX3) return (opcode[-2] & 0x1f) == MAP_0F3A && (opcode[0] == MASK || opcode[0] == INDEX);
    return !insn->encoding && opcode[0] == 0x0f && opcode[1] == 0x3a && (opcode[2] == MASK || opcode[2] == INDEX);
}

sn_special_form sn_special_form_of(const sn_insn *insn) {
    const uint8_t *opcode = &insn->bytes[insn->opcode_offset];
    if (!insn->encoding && opcode[0] == 0x0f) {
        if (opcode[1] == 0xab) return SN_SPECIAL_BIT_SET;
        if (opcode[1] == 0xb3) return SN_SPECIAL_BIT_CLEARED;
        if (opcode[1] == 0xbb) return SN_SPECIAL_BIT_FLIPPED;
    }
    return compares_text(insn) ? SN_SPECIAL_TEXT_COMPARED : low_bit_of(insn);
}
