/**
 * @fileoverview Questions about instructions that have to do with the stack and with calls: sn_stack_change_of(),
 * sn_pops_and_jumps(), sn_stub_jump().
 */
#include "isa/isa.h"
#include "isa/x86_64/emit.h"

const uint8_t sn_stack_pointer_register = SN_RSP;

#define MOST_OPERANDS 16

/** General registers of an operand that is read, or from which an address is computed. */
static uint32_t sources(const sn_operand *operand) {
    uint32_t registers = 0;
    if (operand->place == SN_PLACE_GENERAL && operand->role & SN_ROLE_READ) registers |= 1u << operand->reg;
    if (operand->place != SN_PLACE_MEMORY || operand->role != SN_ROLE_ADDRESS) return registers;
    if (operand->base != SN_NO_REGISTER) registers |= 1u << operand->base;
    if (operand->index != SN_NO_REGISTER) registers |= 1u << operand->index;
    return registers;
}

typedef struct flow {
    uint32_t read;    /**< by explicit operands, addresses that are computed included */
    uint32_t written; /**< by explicit operands */
} flow;

static flow flow_of(const sn_insn *insn) {
    sn_operand operands[MOST_OPERANDS];
    int count = sn_operands(insn, operands, MOST_OPERANDS);
    flow result = {0, 0};
    for (int i = 0; i < count; i++) {
        const sn_operand *operand = &operands[i];
        if (!operand->is_explicit) continue;
        result.read |= sources(operand);
        if (operand->place == SN_PLACE_GENERAL && operand->role & SN_ROLE_WRITTEN) result.written |= 1u << operand->reg;
    }
    return result;
}

/** Moves, exchanges and pops; additions of registers. Other arithmetic on the stack pointer makes a frame, or gives up one
    of which it knows the size. */
static bool may_change(const sn_insn *insn) {
    if (insn->class != SN_INSN_PLAIN || !(insn->registers_touched >> SN_RSP & 1) || insn->encoding) return false;
    uint8_t opcode = insn->bytes[insn->opcode_offset];
    if (opcode == 0x0f) return (insn->bytes[insn->opcode_offset + 1] & 0xf0) == 0x40; /* cmov */
    return opcode == 0x01 || opcode == 0x03 || opcode == 0x87 || opcode == 0x89 || opcode == 0x8b || opcode == 0x8d ||
           opcode == 0x8f || (opcode & 0xf8) == 0x58 || (opcode & 0xf8) == 0x90;
}

sn_stack_change sn_stack_change_of(const sn_insn *insns, unsigned index) {
    const uint32_t stack = 1u << SN_RSP;
    if (!may_change(&insns[index])) return SN_STACK_KEPT;
    flow last = flow_of(&insns[index]);
    if (!(last.written & stack)) return SN_STACK_KEPT;
    /* Registers that hold the stack or frame pointer and perhaps something more; and those of which it is only constants. */
    uint32_t derived = stack | 1u << SN_RBP, exact = derived;
    for (unsigned i = 0; i < index; i++) {
        flow step = flow_of(&insns[i]);
        uint32_t written = step.written & ~stack;
        derived = step.read & derived ? derived | written : derived & ~written;
        exact = step.read && !(step.read & ~exact) ? exact | written : exact & ~written;
    }
    bool exchanges = last.written & ~stack;
    if (exchanges || !(last.read & derived)) return SN_STACK_REPLACED;
    return last.read & ~exact ? SN_STACK_ADJUSTED : SN_STACK_KEPT;
}

/** Register that a pop loads; SN_NO_REGISTER for other instructions. */
static unsigned popped(const sn_insn *insn) {
    uint8_t opcode = insn->bytes[insn->opcode_offset];
    if (insn->class != SN_INSN_PLAIN || insn->encoding || (opcode & 0xf8) != 0x58) return SN_NO_REGISTER;
    bool extended = insn->rex_offset && insn->bytes[insn->rex_offset - 1] & 1;
    return (opcode & 7u) | (extended ? 8u : 0u);
}

bool sn_pops_and_jumps(const sn_insn *insns, unsigned index) {
    if (insns[index].class != SN_INSN_JUMP_INDIRECT || insns[index].memory) return false;
    for (unsigned i = 0; i < index; i++)
        if (popped(&insns[i]) != SN_NO_REGISTER && insns[index].registers_read >> popped(&insns[i]) & 1) return true;
    return false;
}

/** endbr64 (Intel SDM volume 2): what indirect branches must arrive at. */
static bool marks_target(const sn_insn *insn) {
    return insn->length == 4 && insn->bytes[0] == 0xf3 && insn->bytes[1] == 0x0f && insn->bytes[2] == 0x1e &&
           insn->bytes[3] == 0xfa;
}

unsigned sn_stub_jump(const sn_insn *insns, unsigned count) {
    unsigned at = count && marks_target(&insns[0]);
    bool is_stub = at < count && insns[at].class == SN_INSN_JUMP_INDIRECT && insns[at].rip_relative;
    return is_stub ? at : count;
}
