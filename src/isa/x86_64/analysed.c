/**
 * @fileoverview Questions about instructions that have to do with analysis code: sn_falls_through(), sn_store_base().
 */
#include "isa/isa.h"

bool sn_falls_through(const sn_insn *insn) {
    switch ((sn_insn_class)insn->class) {
    case SN_INSN_JUMP:
    case SN_INSN_CALL:
    case SN_INSN_JUMP_INDIRECT:
    case SN_INSN_CALL_INDIRECT:
    case SN_INSN_RETURN:
    case SN_INSN_FAR_BRANCH:
    case SN_INSN_UNDEFINED:
    case SN_INSN_BREAKPOINT: return false;
    default: return true;
    }
}

unsigned sn_store_base(const uint8_t *code, uint64_t pc) {
    sn_insn insn;
    if (!sn_decode(code, 15, pc, &insn)) return 0;
    unsigned base = insn.bytes[insn.modrm_offset] & 7;
    bool has_sib = base == 4;
    if (has_sib) base = insn.bytes[insn.modrm_offset + 1] & 7;
    bool extended = insn.rex_offset && insn.bytes[insn.rex_offset - 1] & 1;
    /* VEX3 and EVEX keep it inverted in the first payload byte. */
    if (insn.encoding >= 2) extended = !(insn.bytes[insn.opcode_offset - (insn.encoding == 3 ? 3 : 2)] & 0x20);
    return base | (extended ? 8u : 0u);
}
