/**
 * @fileoverview A tool for tests that prints the data flow of each instruction that it is shown, once, as text, and the flags
 * that conditional branches read.
 */
#include <inttypes.h>
#include <sonde/flow.h>

static void print_piece(const sn_operand *operands, const sn_flow_piece *piece) {
    static const char *const places[] = {"memory", "general", "vector", "mask", "flags", "x87", "immediate", "control"};
    static const char *const parts[] = {"", " base", " index", ""};
    FILE *out = sn_output();
    if (piece->part == SN_PART_VECTOR) {
        fprintf(out, "vector %u[%u+%u]", piece->operand, piece->offset, piece->size);
    } else if (piece->operand == SN_FLOW_NO_OPERAND) {
        fprintf(out, "constant");
    } else if (piece->flags) {
        fprintf(out, "flags %#x", piece->flags);
    } else {
        const sn_operand *operand = &operands[piece->operand];
        fprintf(out, "%s%s", places[operand->place], parts[piece->part]);
        if (operand->reg != SN_NO_REGISTER) fprintf(out, " %u", operand->reg);
        fprintf(out, "[%u+%u]", piece->offset, piece->size);
    }
}

static void print_flow(const sn_operand *operands, const sn_flow *flow) {
    FILE *out = sn_output();
    fputc(' ', out);
    print_piece(operands, &flow->destination);
    fprintf(out, " <- %s(", sn_flow_class_name(flow->kind));
    for (unsigned i = 0; i < flow->source_count; i++) {
        if (i) fputs(", ", out);
        print_piece(operands, &flow->sources[i]);
    }
    fputc(')', out);
    if (flow->guard.kind != SN_GUARD_NONE) {
        fputs(" if ", out);
        print_piece(operands, &flow->guard.condition);
    }
    fputs(";", out);
}

static void instrument(sn_block *block) {
    for (unsigned i = 0; i < sn_block_size(block); i++) {
        unsigned count, operand_count;
        const sn_operand *operands = sn_block_operands(block, i, &operand_count);
        const sn_flow *flows = sn_block_flows(block, i, &count);
        fprintf(sn_output(), "%u:", (unsigned)sn_block_instruction(block, i)->length);
        for (unsigned k = 0; k < count; k++) print_flow(operands, &flows[k]);
        if (sn_block_instruction(block, i)->kind == SN_KIND_CONDITIONAL)
            fprintf(sn_output(), " by flags %#x", sn_block_flags_read(block, i));
        fputc('\n', sn_output());
    }
}

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE, .name = "flows", .version = "1", .description = "shows data flow", .instrument = instrument,
};
