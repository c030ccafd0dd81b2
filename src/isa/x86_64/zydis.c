/**
 * @fileoverview The decoding library as src/isa uses it: 64-bit mode, the library's default decoder modes.
 *
 * The decoder is a few flags; making one costs nothing worth keeping, and keeps every call thread-safe.
 */
#include "zydis.h"

static bool is_of_first_xeon_phi(const ZydisDecodedInstruction *instruction) {
    if (instruction->encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX)
        return true;
    switch (instruction->meta.isa_ext) {
    case ZYDIS_ISA_EXT_KNC:
    case ZYDIS_ISA_EXT_KNCE:
    case ZYDIS_ISA_EXT_KNCV: return true;
    default: return false;
    }
}

/** Without a base register there is none, whatever REX.B says; the library sees r13d there. Hidden operands are not those that
    the bytes describe. */
static void correct_base(const ZydisDecodedInstruction *instruction, ZydisDecodedOperand *operand) {
    if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
        operand->mem.base == ZYDIS_REGISTER_R13D && instruction->raw.modrm.mod == 0 &&
        instruction->raw.sib.offset && instruction->raw.sib.base == 5)
        operand->mem.base = ZYDIS_REGISTER_NONE;
}

bool sn_zydis_decode(const uint8_t *code, size_t available, ZydisDecodedInstruction *instruction,
                     ZydisDecodedOperand *operands) {
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, available, instruction, operands)))
        return false;
    if (is_of_first_xeon_phi(instruction))
        return false;
    for (unsigned i = 0; i < instruction->operand_count; i++)
        correct_base(instruction, &operands[i]);
    return true;
}

int sn_zydis_general_register(ZydisRegister reg) {
    switch (ZydisRegisterGetClass(reg)) {
    case ZYDIS_REGCLASS_GPR8:
    case ZYDIS_REGCLASS_GPR16:
    case ZYDIS_REGCLASS_GPR32:
    case ZYDIS_REGCLASS_GPR64:
        return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg) - ZYDIS_REGISTER_RAX;
    default:
        return -1;
    }
}
