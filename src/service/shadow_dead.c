/**
 * @fileoverview See shadow_dead.h. What has no definite value is often left in a register that nobody reads again: after a copy of
 * a structure with its padding, say. In sqlite3 six in ten of the times that a clean variant was left, it was for a register that was
 * dirty in front of the block, most often the first vector register.
 *
 * An instruction that faults before such a register is written shows it as clean to the program's handler.
 */
#include "service/shadow_dead.h"

#include "sonde/flow.h"
#include "service/shadow_plan.h"

/** What the instructions looked at so far have to do with registers. */
typedef struct looked {
    uint64_t read, written;
    uint16_t bytes[64]; /**< that are written, of each register */
} looked;

static uint64_t bit_of(unsigned dirty) { return UINT64_C(1) << dirty; }

/** The bit of an operand's register; 0 for what is never said to be dead. */
static uint64_t register_of(const sn_operand *operand) {
    if (operand->place == SN_PLACE_GENERAL) return bit_of(operand->reg);
    return operand->place == SN_PLACE_VECTOR ? bit_of(SN_DIRTY_VECTOR + operand->reg) : 0;
}

static void read_piece(looked *so_far, const sn_operand *operands, const sn_flow_piece *piece) {
    if (piece->operand == SN_FLOW_NO_OPERAND) return;
    so_far->read |= register_of(&operands[piece->operand]) & ~so_far->written;
}

/** Registers of addresses are looked at, and general ones that are read, by checks too, whatever comes of them. */
static void read_operands(looked *so_far, const sn_operand *operands, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        uint64_t read = operands[i].place == SN_PLACE_MEMORY ? sn_dirty_general(operands[i].base) | sn_dirty_general(operands[i].index) : 0;
        if (operands[i].place == SN_PLACE_GENERAL && operands[i].role & SN_ROLE_READ) read = register_of(&operands[i]);
        so_far->read |= read & ~so_far->written;
    }
}

static void write_piece(looked *so_far, const sn_operand *operand, const sn_flow *flow) {
    uint64_t bit = register_of(operand);
    if (!bit || flow->guard.kind || (operand->place == SN_PLACE_GENERAL && operand->displacement)) return;
    unsigned first = flow->destination.offset, last = first + flow->destination.size;
    for (unsigned byte = first; byte < last && byte < SN_SHADOW_LOW_VECTOR; byte++) so_far->bytes[__builtin_ctzll(bit)] |= (uint16_t)(1u << byte);
}

/** Which of the registers are written as far as matters. */
static uint64_t whole(const looked *so_far) {
    uint64_t found = 0;
    for (unsigned dirty = 0; dirty < 64; dirty++) {
        uint16_t wanted = dirty >= SN_DIRTY_VECTOR ? 0xffff : 0xff;
        if ((so_far->bytes[dirty] & wanted) == wanted) found |= bit_of(dirty);
    }
    return found;
}

static void look_at_flows(looked *so_far, const sn_operand *operands, const sn_flow *flows, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        for (unsigned source = 0; source < flows[i].source_count; source++) read_piece(so_far, operands, &flows[i].sources[source]);
        if (!flows[i].guard.kind) continue;
        read_piece(so_far, operands, &flows[i].guard.condition);
        read_piece(so_far, operands, &flows[i].guard.otherwise);
    }
    for (unsigned i = 0; i < count; i++) write_piece(so_far, &operands[flows[i].destination.operand], &flows[i]);
}

uint64_t sn_shadow_dead_at(sn_block *block, unsigned index) {
    looked so_far = {0};
    uint64_t dead = 0;
    for (unsigned first = index; index < block->count; index++) {
        unsigned count, flow_count;
        if (index > first && sn_block_begins_function(block, index)) break; /* a hook may look at all of them */
        const sn_instruction *instruction = sn_block_instruction(block, index);
        if (instruction->kind != SN_KIND_OTHER || instruction->accesses_vary) break;
        const sn_flow *flows = sn_block_flows(block, index, &flow_count);
        const sn_operand *operands = sn_block_operands(block, index, &count); /* last: the flows have others looked at */
        if (!operands) continue; /* the processor state, as a whole */
        if (!flows) break;
        read_operands(&so_far, operands, count);
        look_at_flows(&so_far, operands, flows, flow_count);
        so_far.written = whole(&so_far) & ~so_far.read;
        dead |= so_far.written;
    }
    return dead;
}
