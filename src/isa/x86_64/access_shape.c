/**
 * @fileoverview sn_access_shape_of(): which of the accesses that accesses.c enumerates follow from the values of two or
 * three registers, and from which. The rest (gathers, masks in vector registers, processor state, tiles, operands through
 * a segment base or with short addresses) is left to the enumeration.
 */
#include <string.h>

#include "accessing.h"
#include "tables.h"

enum { MOST_LISTED = 16 };

static sn_operand general(uint8_t reg, uint32_t size) {
    return (sn_operand){.place = SN_PLACE_GENERAL, .role = SN_ROLE_READ, .reg = reg, .size = size,
                        .base = SN_NO_REGISTER, .index = SN_NO_REGISTER};
}

/** The instruction's operand in memory; false if it has none. */
static bool memory_operand(const sn_insn *insn, sn_operand *found) {
    sn_operand operands[MOST_LISTED];
    int count = sn_operands(insn, operands, MOST_LISTED);
    for (int i = 0; i < count; i++) {
        if (operands[i].place != SN_PLACE_MEMORY) continue;
        *found = operands[i];
        return true;
    }
    return false;
}

static void shape_lanes(const sn_insn *insn, const sn_encoded *encoded, sn_access_shape *shape, sn_operand inputs[3]) {
    if (!memory_operand(insn, &inputs[0])) return;
    sn_access_lanes_shape(insn, encoded, shape);
    inputs[1] = (sn_operand){.place = SN_PLACE_MASK, .role = SN_ROLE_READ, .reg = encoded->mask, .size = 8};
    shape->input_count = 2;
}

static void shape_repeated(const sn_encoded *encoded, sn_access_shape *shape, sn_operand inputs[3]) {
    static const uint8_t registers[] = {RCX, RSI, RDI};
    const sn_string_form *form = sn_string_form_of(encoded->opcode);
    *shape = (sn_access_shape){.kind = SN_SHAPE_REPEATED, .size_log = (uint8_t)__builtin_ctz(sn_string_element(encoded)),
                               .read_operand = form->source, .other_operand = form->destination,
                               .other_role = form->destination_role, .input_count = 3};
    for (unsigned i = 0; i < shape->input_count; i++) {
        shape->input_registers[i] = registers[i];
        inputs[i] = general(registers[i], 8);
    }
}

static void shape_bit(const sn_insn *insn, const sn_encoded *encoded, sn_access_shape *shape, sn_operand inputs[3]) {
    if (!memory_operand(insn, &inputs[0])) return;
    shape->kind = SN_SHAPE_BIT;
    shape->size_log = (uint8_t)__builtin_ctz(sn_bit_unit(encoded));
    shape->read_operand = 0;
    if (encoded->opcode != SN_BIT_TEST) shape->other_operand = 0;
    inputs[1] = general(encoded->reg, 8);
    shape->input_count = 2;
}

static void shape_table(sn_access_shape *shape, sn_operand inputs[3]) {
    shape->kind = SN_SHAPE_TABLE;
    shape->read_operand = 0;
    inputs[0] = general(RBX, 8);
    inputs[1] = general(RAX, 1);
    shape->input_count = 2;
}

void sn_access_shape_of(const sn_insn *insn, sn_access_shape *shape, sn_operand inputs[3]) {
    sn_encoded encoded;
    sn_enumeration *enumeration = sn_enumeration_of(insn, &encoded);
    *shape = (sn_access_shape){.read_operand = SN_SHAPE_NO_OPERAND, .other_operand = SN_SHAPE_NO_OPERAND,
                               .other_role = SN_ROLE_WRITTEN};
    if (!enumeration || encoded.short_address || insn->segment != SN_SEGMENT_NONE) return;
    if (enumeration == sn_access_lanes) shape_lanes(insn, &encoded, shape, inputs);
    else if (enumeration == sn_access_string) shape_repeated(&encoded, shape, inputs);
    else if (enumeration == sn_access_bit) shape_bit(insn, &encoded, shape, inputs);
    else if (enumeration == sn_access_table) shape_table(shape, inputs);
}
