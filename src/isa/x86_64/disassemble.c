/**
 * @fileoverview sn_disassemble(): one instruction as text, for block dumps, messages and tests.
 */
#include <stdio.h>

#include "isa/isa.h"
#include "zydis.h"

const char *sn_disassemble(const uint8_t *code, size_t length, uint64_t pc, char *buffer, size_t size) {
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZydisFormatter formatter;
    if (sn_zydis_decode(code, length, &instruction, operands) &&
        ZYAN_SUCCESS(ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_ATT)) &&
        ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &instruction, operands,
                                                     instruction.operand_count_visible, buffer, size, pc, ZYAN_NULL)))
        return buffer;
    snprintf(buffer, size, "(unknown)");
    return buffer;
}
