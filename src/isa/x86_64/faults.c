/**
 * @fileoverview Which instructions cannot fault: the frequent ones on registers. Everything else is taken to fault.
 *
 * Asked while placing analysis code, which may only destroy what nobody can look at: a fault shows the client's handler
 * the registers and flags from before the instruction.
 */
#include "isa/isa.h"

/* One bit an opcode: the instruction's register form, or its form without operand, never faults. */
#define BITS(a, b, c, d) {UINT64_C(a), UINT64_C(b), UINT64_C(c), UINT64_C(d)}

/* One-byte map: the arithmetic rows (not their invalid columns 6, 7, E, F), movsxd, imul, group 1, test, xchg, mov, lea,
   nop, xchg, cbw, cwd, sahf, lahf, test, mov immediate, shifts, mov immediate, cmc, group 3 and the flag ones, groups 4, 5. */
static const uint64_t harmless_one_byte[4] =
    BITS(0x3f3f3f3f3f3f3f3f, 0x00000a0800000000, 0xffff0300c3ff2ffb, 0xf3e00000000f00c3);
/* 0F map: nop, cmov, setcc, cpuid, bt, shld, bts, shrd, imul, cmpxchg, btr, movzx, popcnt, group 8, btc, bsf, bsr, movsx,
   xadd, bswap. */
static const uint64_t harmless_escaped[4] =
    BITS(0x0000000080000000, 0x000000000000ffff, 0xfdcbb83cffff0000, 0x000000000000ff03);

static bool in(const uint64_t bits[4], uint8_t opcode) { return bits[opcode >> 6] >> (opcode & 63) & 1; }

static bool is_stack_access(uint8_t opcode) {
    return (opcode & 0xf0) == 0x50 || opcode == 0x68 || opcode == 0x6a || opcode == 0x9c || opcode == 0x9d ||
           opcode == 0xc9;
}

/** By the stack pointer; the frame pointer is a register like any other in optimised code. */
static bool is_stack_operand(const sn_insn *insn) {
    enum { STACK_POINTER = 4 };
    uint8_t modrm = insn->bytes[insn->modrm_offset];
    bool extended = insn->rex_offset && insn->bytes[insn->rex_offset - 1] & 1;
    if (extended || insn->segment != SN_SEGMENT_NONE || (modrm & 7) != STACK_POINTER) return false;
    uint8_t sib = insn->bytes[insn->modrm_offset + 1];
    return (sib & 7) == STACK_POINTER && (sib >> 3 & 7) == STACK_POINTER; /* the latter: no index */
}

/** Divisions, and the branches and pushes of group 5. */
static bool is_exception(const sn_insn *insn, uint8_t opcode) {
    unsigned extension = insn->bytes[insn->modrm_offset] >> 3 & 7;
    if (opcode == 0xf6 || opcode == 0xf7) return extension >= 6;
    if (opcode == 0xfe || opcode == 0xff) return extension >= 2;
    return false;
}

sn_fault_kind sn_fault_kind_of(const sn_insn *insn) {
    if (insn->class == SN_INSN_JUMP || insn->class == SN_INSN_CONDITIONAL) return SN_FAULT_NONE;
    if (insn->class == SN_INSN_CALL) return SN_FAULT_STACK;
    if (insn->class != SN_INSN_PLAIN || insn->encoding || insn->repeated) return SN_FAULT_ANY;
    uint8_t opcode = insn->bytes[insn->opcode_offset];
    bool escaped = opcode == 0x0f;
    if (escaped) opcode = insn->bytes[insn->opcode_offset + 1];
    bool address_only = escaped ? opcode == 0x1f : opcode == 0x8d;
    if (address_only) return SN_FAULT_NONE;
    if (!escaped && is_stack_access(opcode)) return SN_FAULT_STACK;
    if (!in(escaped ? harmless_escaped : harmless_one_byte, opcode)) return SN_FAULT_ANY;
    if (!escaped && is_exception(insn, opcode)) return SN_FAULT_ANY;
    if (!insn->memory) return SN_FAULT_NONE;
    return is_stack_operand(insn) ? SN_FAULT_STACK : SN_FAULT_ANY;
}

bool sn_delays_trap(const sn_insn *insn) {
    enum { POP_FLAGS = 0x9d };
    return insn->class == SN_INSN_PLAIN && !insn->encoding && insn->bytes[insn->opcode_offset] == POP_FLAGS;
}
