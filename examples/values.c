/* @fileoverview A tool: the values that instructions compute, for code selected by --only=.
 *     cc -O2 -shared -fPIC $(pkg-config --cflags sonde) -o values.so values.c
 *     sonde ./values.so --only=FUNCTION PROGRAM
 */
#include <inttypes.h>
#include <sonde/tool.h>
#include <stdint.h>
#include <stdlib.h>

/* What is printed of one result, found out once, when its instruction is translated. */
typedef struct place {
    uint64_t address;
    char what[24]; /* "register 3", "memory" */
    sn_location where;
} place;

static void print(const place *of, uint64_t value) {
    fprintf(sn_output(), "%#" PRIx64 " %s:%u %s = %#" PRIx64 "\n", of->address,
            of->where.function ? of->where.function : "?", of->where.line, of->what, value);
}

static place *new_place(uint64_t address, const sn_operand *operand) {
    place *made = calloc(1, sizeof *made);
    if (!made) sn_fail(125, "values: out of memory");
    made->address = address;
    sn_locate(address, &made->where);
    if (operand->place == SN_PLACE_MEMORY)
        snprintf(made->what, sizeof made->what, "memory");
    else
        snprintf(made->what, sizeof made->what, "register %u", operand->reg);
    return made;
}

/* Results that are named in the instruction: in a general register, or in memory. */
static bool is_shown(const sn_operand *operand) {
    bool is_result = operand->is_explicit && !operand->is_conditional && (operand->role & SN_ROLE_WRITTEN);
    return is_result && (operand->place == SN_PLACE_GENERAL || operand->place == SN_PLACE_MEMORY) &&
           sn_operand_is_readable(operand);
}

static void instrument(sn_block *block) {
    for (unsigned i = 0; i < sn_block_size(block); i++) {
        const sn_instruction *instruction = sn_block_instruction(block, i);
        if (instruction->kind != SN_KIND_OTHER || instruction->accesses_vary) continue;
        unsigned count;
        const sn_operand *operands = sn_block_operands(block, i, &count);
        for (unsigned n = 0; n < count; n++) {
            if (!is_shown(&operands[n])) continue;
            sn_value address = 0;
            if (operands[n].place == SN_PLACE_MEMORY) { /* before: what it is made of may change */
                sn_insert_before(block, i);
                address = sn_operand_address(block, n);
            }
            place *of = new_place(instruction->address, &operands[n]);
            sn_insert_after(block, i);
            sn_value arguments[2] = {
                sn_constant(block, (uintptr_t)of),
                operands[n].place == SN_PLACE_MEMORY ? sn_load(block, address, 0, operands[n].size)
                                                     : sn_operand_value(block, n)};
            sn_call(block, (void *)print, 2, arguments);
        }
    }
}

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE, .name = "values", .version = "1", .description = "print what code computes",
    .instrument = instrument,
};
