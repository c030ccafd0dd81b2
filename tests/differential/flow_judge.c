/**
 * @fileoverview The list of flows as a judge of two bits of state, see flow_judge.h.
 */
#include "flow_judge.h"

#include <string.h>

enum { SECOND_BYTE = 8, NOWHERE = 0xffffffff, NO_OPERAND = SN_FLOW_NO_OPERAND };

bool sn_judge_open(sn_judged *judged, const ZydisDecodedInstruction *decoded, const ZydisDecodedOperand *operands) {
    int count = sn_operands(&judged->insn, judged->operands, SN_JUDGE_OPERANDS);
    if (count < 0)
        return false;
    judged->operand_count = (unsigned)count;
    judged->flow_count = sn_flows(&judged->insn, judged->operands, judged->operand_count, judged->flows, SN_FLOW_MOST);
    judged->address_bits = decoded->address_width;
    judged->has_indices = false;
    for (unsigned i = 0; i < decoded->operand_count; i++) {
        if (operands[i].type != ZYDIS_OPERAND_TYPE_MEMORY || operands[i].mem.type != ZYDIS_MEMOP_TYPE_VSIB)
            continue;
        judged->has_indices = true;
        judged->index_register = (unsigned)ZydisRegisterGetId(operands[i].mem.index);
        judged->index_size = decoded->opcode & 1 ? 8 : 4;
    }
    return judged->flow_count >= 0;
}

static uint64_t element_index(const sn_judged *judged, unsigned element) {
    int64_t index = 0;
    memcpy(&index, judged->indices + element * judged->index_size, judged->index_size);
    return (uint64_t)(judged->index_size == 4 ? (int32_t)index : index);
}

static unsigned index_scale(const sn_judged *judged) {
    return 1u << (judged->insn.bytes[judged->insn.modrm_offset + 1] >> 6);
}

uint64_t sn_judge_address(const sn_judged *judged, const sn_operand *operand, unsigned element) {
    uint64_t address = (uint64_t)operand->displacement;
    if (operand->base != SN_NO_REGISTER)
        address += judged->registers[operand->base];
    if (operand->index != SN_NO_REGISTER)
        address += judged->registers[operand->index] * operand->scale;
    if (judged->has_indices)
        address += element_index(judged, element) * index_scale(judged);
    return judged->address_bits == 32 ? (uint32_t)address : address;
}

static bool is_accessed(const sn_operand *operand) {
    return operand->place == SN_PLACE_MEMORY && operand->role != SN_ROLE_ADDRESS;
}

bool sn_judge_is_address(const sn_judged *judged, uint8_t place, unsigned reg) {
    if (place == SN_PLACE_VECTOR)
        return judged->has_indices && judged->index_register == reg;
    for (unsigned i = 0; place == SN_PLACE_GENERAL && i < judged->operand_count; i++) {
        const sn_operand *operand = &judged->operands[i];
        if (is_accessed(operand) && (operand->base == reg || operand->index == reg))
            return true;
    }
    return false;
}

/** The bit's number within an element of memory, counted from the operand's beginning. */
static unsigned bit_in_element(const sn_judged *judged, const sn_operand *operand, unsigned element, const sn_state_bit *bit) {
    uint64_t size = judged->has_indices ? operand->element_size : operand->size;
    uint64_t distance = bit->address - sn_judge_address(judged, operand, element);
    if (operand->size == 0)
        return bit->bit;
    return distance < size ? (unsigned)(8 * (distance + (judged->has_indices ? element * size : 0)) + bit->bit) : NOWHERE;
}

/** The bit's number in a piece, or NOWHERE. Elements may overlap: `element` is the one that is asked about. */
static unsigned bit_in_piece(const sn_judged *judged, const sn_flow_piece *piece, unsigned element, const sn_state_bit *bit) {
    if (piece->part == SN_PART_VECTOR) {
        bool inside = bit->place == SN_PLACE_VECTOR && bit->reg == piece->operand && bit->bit >= 8u * piece->offset;
        return inside && bit->bit - 8u * piece->offset < 8u * piece->size ? bit->bit - 8u * piece->offset : NOWHERE;
    }
    if (piece->operand == NO_OPERAND)
        return NOWHERE;
    const sn_operand *operand = &judged->operands[piece->operand];
    unsigned number = bit->bit, start = 8u * piece->offset;
    if (piece->part != SN_PART_VALUE) {
        unsigned reg = piece->part == SN_PART_BASE ? operand->base : operand->index;
        return bit->place == SN_PLACE_GENERAL && bit->reg == reg && number < 8u * piece->size ? number : NOWHERE;
    }
    if (operand->place != bit->place)
        return NOWHERE;
    if (operand->place == SN_PLACE_FLAGS)
        return piece->flags >> number & 1 ? number : NOWHERE;
    if (operand->place == SN_PLACE_MEMORY) {
        number = bit_in_element(judged, operand, element, bit);
        if (operand->size == 0 && number != NOWHERE)
            return number;
    } else if (operand->reg != bit->reg) {
        return NOWHERE;
    } else if (operand->place == SN_PLACE_GENERAL && operand->displacement) {
        start += SECOND_BYTE;
    }
    return number != NOWHERE && number >= start && number - start < 8u * piece->size ? number - start : NOWHERE;
}

static unsigned elements(const sn_judged *judged) {
    return judged->has_indices ? 64 / judged->index_size : 1;
}

static bool source_matters(const sn_judged *judged, const sn_flow *flow, const sn_flow_piece *piece, unsigned source,
                           const sn_state_bit *before, unsigned destination_bit) {
    for (unsigned element = 0; element < elements(judged); element++) {
        unsigned bit = bit_in_piece(judged, piece, element, before);
        if (bit != NOWHERE && sn_flow_depends(flow, judged->operands, source, bit, destination_bit))
            return true;
    }
    return false;
}

/** A byte of a piece, before the instruction. */
static uint8_t byte_of(const sn_judged *judged, const sn_flow_piece *piece, unsigned offset) {
    const sn_operand *operand = &judged->operands[piece->operand];
    sn_state_bit bit = {.place = operand->place, .reg = operand->reg, .bit = 8 * (piece->offset + offset)};
    if (operand->place == SN_PLACE_GENERAL && operand->displacement)
        bit.bit += SECOND_BYTE;
    if (operand->place == SN_PLACE_MEMORY) {
        bit.address = sn_judge_address(judged, operand, 0) + piece->offset + offset;
        bit.bit = 0;
    }
    return judged->byte_before(&bit);
}

/** What chooses is looked at: elements that are not chosen don't matter. */
static bool is_chosen(const sn_judged *judged, const sn_flow *flow, unsigned source, const sn_state_bit *before,
                      unsigned destination_bit) {
    const sn_flow_piece *control = &flow->sources[flow->source_count - 1];
    unsigned size = flow->element_size, lane = flow->lane_size ? flow->lane_size : flow->destination.size;
    unsigned element = destination_bit / (8 * size), from = bit_in_piece(judged, &flow->sources[source], 0, before);
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)byte_of(judged, control, (control->every_lane ? 0 : element * size) + i) << 8 * i;
    unsigned choice = sn_flow_choice(flow, value), each = lane / size;
    if (choice == SN_FLOW_ZERO_BYTE || choice / each != source)
        return false;
    return flow->sources[source].every_lane || from / (8 * size) == element / each * each + choice % each;
}

static bool value_matters(const sn_judged *judged, const sn_flow *flow, unsigned source, const sn_state_bit *before,
                          unsigned destination_bit) {
    if (!source_matters(judged, flow, &flow->sources[source], source, before, destination_bit))
        return false;
    bool chooses = flow->kind == SN_FLOW_PERMUTE && source + 1u < flow->source_count;
    return !chooses || is_chosen(judged, flow, source, before, destination_bit);
}

/** Masks are looked at: sources matter where they let the flow take place, what else the destination is where not. */
typedef enum decision { OPEN, CLOSED, UNDECIDED } decision;

static decision decide_whole(const sn_judged *judged, const sn_flow_guard *guard) {
    const sn_state_bit flags = {.place = SN_PLACE_FLAGS, .reg = SN_NO_REGISTER};
    uint64_t value = 0;
    if (guard->kind == SN_GUARD_CONDITION)
        return !guard->condition.flags ? UNDECIDED : guard->truth >> (judged->byte_before(&flags) & 63) & 1 ? OPEN : CLOSED;
    for (unsigned i = 0; i < guard->condition.size; i++)
        value |= (uint64_t)byte_of(judged, &guard->condition, i) << 8 * i;
    return (guard->kind == SN_GUARD_COUNT ? value & guard->count_mask : value) ? OPEN : CLOSED;
}

static decision decide(const sn_judged *judged, const sn_flow *flow, unsigned destination_bit) {
    const sn_flow_guard *guard = &flow->guard;
    unsigned bits = guard->lane_size ? 8u * guard->lane_size : 1, lane = destination_bit / bits;
    unsigned bit = guard->kind == SN_GUARD_MASK ? lane : lane * bits + bits - 1;
    if (guard->kind == SN_GUARD_NONE)
        return OPEN;
    if (guard->kind != SN_GUARD_MASK && guard->kind != SN_GUARD_HIGH_BITS)
        return decide_whole(judged, guard);
    return byte_of(judged, &guard->condition, bit / 8) >> bit % 8 & 1 ? OPEN : CLOSED;
}

static bool flow_depends(const sn_judged *judged, const sn_flow *flow, const sn_state_bit *before, unsigned destination_bit) {
    decision guard = decide(judged, flow, destination_bit);
    for (unsigned i = 0; i < flow->source_count && guard != CLOSED; i++)
        if (value_matters(judged, flow, i, before, destination_bit))
            return true;
    if (flow->guard.kind == SN_GUARD_NONE)
        return false;
    if (guard != OPEN && source_matters(judged, flow, &flow->guard.otherwise, SN_FLOW_FROM_OTHERWISE, before, destination_bit))
        return true;
    return source_matters(judged, flow, &flow->guard.condition, SN_FLOW_FROM_CONDITION, before, destination_bit);
}

bool sn_judge_is_destination(const sn_judged *judged, const sn_state_bit *after) {
    for (int i = 0; i < judged->flow_count; i++)
        for (unsigned element = 0; element < elements(judged); element++)
            if (bit_in_piece(judged, &judged->flows[i].destination, element, after) != NOWHERE)
                return true;
    return false;
}

/** Elements that overlap are stored in turn: any of them may be the one that is seen. */
static bool memory_may_depend(const sn_judged *judged, const sn_state_bit *before, const sn_state_bit *after) {
    for (int i = 0; i < judged->flow_count; i++)
        for (unsigned element = 0; element < elements(judged); element++) {
            unsigned bit = bit_in_piece(judged, &judged->flows[i].destination, element, after);
            if (bit != NOWHERE && flow_depends(judged, &judged->flows[i], before, bit))
                return true;
        }
    return false;
}

/** As destinations are numbered. */
static sn_state_bit destination_of(const sn_judged *judged, const sn_state_bit *after) {
    sn_state_bit bit = *after;
    if (judged->pushes && bit.place == SN_PLACE_X87)
        bit.reg = (uint8_t)((bit.reg + 1) & 7);
    return bit;
}

bool sn_judge_may_depend(const sn_judged *judged, const sn_state_bit *before, const sn_state_bit *after) {
    sn_state_bit destination = destination_of(judged, after);
    if (after->place == SN_PLACE_MEMORY && judged->has_indices && sn_judge_is_destination(judged, after))
        return memory_may_depend(judged, before, after);
    for (int i = judged->flow_count; i-- > 0;) {
        const sn_flow *flow = &judged->flows[i];
        unsigned bit = bit_in_piece(judged, &flow->destination, 0, &destination);
        if (bit == NOWHERE)
            continue;
        return flow->kind == SN_FLOW_UNDEFINED || flow_depends(judged, flow, before, bit);
    }
    return before->place == after->place && before->reg == after->reg && before->address == after->address &&
           before->bit == after->bit;
}

/* ------------------------------------------------------------------------ printing */

static void print_piece(const sn_judged *judged, const sn_flow_piece *piece, FILE *out) {
    static const char *const places[] = {"memory", "general", "vector", "mask", "flags", "x87", "immediate", "control"};
    static const char *const parts[] = {"", " base", " index"};
    if (piece->operand == NO_OPERAND || piece->part == SN_PART_VECTOR) {
        fprintf(out, "%s %u", piece->part == SN_PART_VECTOR ? "vector" : "constant", piece->operand);
        return;
    }
    const sn_operand *operand = &judged->operands[piece->operand];
    fprintf(out, "%s", places[operand->place]);
    if (operand->reg != SN_NO_REGISTER && operand->place != SN_PLACE_FLAGS)
        fprintf(out, " %u", operand->reg);
    fprintf(out, "%s", parts[piece->part]);
    if (piece->flags)
        fprintf(out, " %#x", piece->flags);
    else
        fprintf(out, "[%u+%u]%s", piece->offset, piece->size, piece->every_lane ? " each" : "");
}

static void print_flow(const sn_judged *judged, const sn_flow *flow, FILE *out) {
    static const char *const guards[] = {"", " mask", " high-bits", " condition", " count", " not zero"};
    fprintf(out, "    ");
    print_piece(judged, &flow->destination, out);
    fprintf(out, " <- %s", sn_flow_class_name(flow->kind));
    if (flow->lane_size)
        fprintf(out, " lanes of %u from %u", flow->lane_size, flow->source_lane_size);
    if (flow->amount != SN_FLOW_VARIABLE)
        fprintf(out, " by %u", flow->amount);
    fprintf(out, " (");
    for (unsigned i = 0; i < flow->source_count; i++) {
        fprintf(out, i ? ", " : "");
        print_piece(judged, &flow->sources[i], out);
    }
    fprintf(out, ")");
    if (flow->guard.kind != SN_GUARD_NONE) {
        fprintf(out, " if%s lanes of %u of ", guards[flow->guard.kind], flow->guard.lane_size);
        print_piece(judged, &flow->guard.condition, out);
        fprintf(out, ", else ");
        if (flow->guard.otherwise.size || flow->guard.otherwise.flags)
            print_piece(judged, &flow->guard.otherwise, out);
        else
            fprintf(out, "zero");
    }
    fputc('\n', out);
}

void sn_judge_print(const sn_judged *judged, FILE *out) {
    char text[128];
    for (unsigned i = 0; i < judged->insn.length; i++)
        fprintf(out, "%02x ", judged->insn.bytes[i]);
    fprintf(out, " %s\n", sn_disassemble(judged->insn.bytes, judged->insn.length, judged->insn.pc, text, sizeof text));
    for (int i = 0; i < judged->flow_count; i++)
        print_flow(judged, &judged->flows[i], out);
}
