/**
 * @fileoverview sn_decode_slowly(): the fields of sn_insn from the decoding library.
 *
 * The measure that the quick decoder is tested against, and its stand-in under --debug-fast-decode=no. What the library
 * does not know is refused.
 */
#include <string.h>

#include "isa/isa.h"
#include "zydis.h"

typedef struct sn_view {
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
} sn_view;

/* -------------------------------------------------------------------------- layout */

static void fill_offsets(const ZydisDecodedInstruction *z, sn_insn *insn) {
    insn->prefix_length = z->raw.prefix_count;
    insn->opcode_offset = z->raw.prefix_count;
    switch (z->encoding) {
    case ZYDIS_INSTRUCTION_ENCODING_VEX:
        insn->encoding = z->raw.vex.size == 2 ? 1 : 2;
        insn->opcode_offset = (uint8_t)(z->raw.vex.offset + z->raw.vex.size);
        break;
    case ZYDIS_INSTRUCTION_ENCODING_EVEX:
        insn->encoding = 3;
        insn->opcode_offset = (uint8_t)(z->raw.evex.offset + 4);
        break;
    case ZYDIS_INSTRUCTION_ENCODING_XOP:
        insn->encoding = 4;
        insn->opcode_offset = (uint8_t)(z->raw.xop.offset + 3);
        break;
    default:
        if (z->attributes & ZYDIS_ATTRIB_HAS_REX) {
            insn->rex_offset = (uint8_t)(z->raw.rex.offset + 1);
            insn->prefix_length = z->raw.rex.offset;
        }
    }
}

/** Moves to and from control and debug registers ignore the mode bits of ModRM. */
static bool ignores_mode(const ZydisDecodedInstruction *z) {
    return z->opcode_map == ZYDIS_OPCODE_MAP_0F && z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
           z->opcode >= 0x20 && z->opcode <= 0x23;
}

static void fill_layout(const ZydisDecodedInstruction *z, sn_insn *insn) {
    fill_offsets(z, insn);
    insn->modrm_offset = z->raw.modrm.offset;
    insn->displacement_size = z->raw.disp.size / 8;
    insn->displacement_offset = insn->displacement_size ? z->raw.disp.offset : 0;
    insn->immediate_size = (uint8_t)((z->raw.imm[0].size + z->raw.imm[1].size) / 8);
    insn->memory = z->raw.modrm.offset && z->raw.modrm.mod != 3 && !ignores_mode(z);
    insn->rip_relative = insn->memory && z->raw.modrm.mod == 0 && z->raw.modrm.rm == 5;
    if (z->attributes & ZYDIS_ATTRIB_HAS_SEGMENT_FS)
        insn->segment = SN_SEGMENT_FS;
    else if (z->attributes & ZYDIS_ATTRIB_HAS_SEGMENT_GS)
        insn->segment = SN_SEGMENT_GS;
    if (z->mnemonic == ZYDIS_MNEMONIC_LEA)
        insn->segment = SN_SEGMENT_NONE;
}

/* --------------------------------------------------------------------------- class */

static void fill_target(const sn_view *view, sn_insn *insn) {
    ZyanU64 target = 0;
    if (ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&view->instruction, &view->operands[0], insn->pc, &target)))
        insn->target = target;
}

static sn_insn_class direct_or_not(const sn_view *view, sn_insn_class direct, sn_insn_class indirect) {
    if (view->instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
        return SN_INSN_FAR_BRANCH;
    return view->operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? direct : indirect;
}

static bool writes_thread_segment(const sn_view *view) {
    const ZydisDecodedOperand *operand = &view->operands[0];
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER && (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) &&
           (operand->reg.value == ZYDIS_REGISTER_FS || operand->reg.value == ZYDIS_REGISTER_GS);
}

static sn_insn_class class_of_return(const sn_view *view, sn_insn *insn) {
    if (view->instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
        return SN_INSN_FAR_BRANCH;
    insn->return_pop_size = insn->immediate_size;
    insn->return_pop = (uint16_t)view->instruction.raw.imm[0].value.u;
    return SN_INSN_RETURN;
}

static sn_insn_class class_of_conditional(const ZydisDecodedInstruction *z, sn_insn *insn) {
    if (z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && z->opcode >= 0xe0 && z->opcode <= 0xe3)
        return SN_INSN_LOOP;
    insn->condition = z->opcode & 15;
    return SN_INSN_CONDITIONAL;
}

static sn_insn_class class_of(const sn_view *view, sn_insn *insn) {
    const ZydisDecodedInstruction *z = &view->instruction;
    switch (z->mnemonic) {
    case ZYDIS_MNEMONIC_JMP: return direct_or_not(view, SN_INSN_JUMP, SN_INSN_JUMP_INDIRECT);
    case ZYDIS_MNEMONIC_CALL: return direct_or_not(view, SN_INSN_CALL, SN_INSN_CALL_INDIRECT);
    case ZYDIS_MNEMONIC_RET: return class_of_return(view, insn);
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
    case ZYDIS_MNEMONIC_UIRET: return SN_INSN_FAR_BRANCH;
    case ZYDIS_MNEMONIC_SYSCALL: return SN_INSN_SYSCALL;
    case ZYDIS_MNEMONIC_SYSENTER: insn->interrupt_number = 0x80; return SN_INSN_INTERRUPT;
    case ZYDIS_MNEMONIC_INT: insn->interrupt_number = (uint8_t)z->raw.imm[0].value.u; return SN_INSN_INTERRUPT;
    case ZYDIS_MNEMONIC_INT3:
    case ZYDIS_MNEMONIC_INT1: return SN_INSN_BREAKPOINT;
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2: return SN_INSN_UNDEFINED;
    case ZYDIS_MNEMONIC_XBEGIN: return SN_INSN_TRANSACTION_BEGIN;
    case ZYDIS_MNEMONIC_RDFSBASE:
    case ZYDIS_MNEMONIC_RDGSBASE: return SN_INSN_READ_SEGMENT_BASE;
    case ZYDIS_MNEMONIC_WRFSBASE:
    case ZYDIS_MNEMONIC_WRGSBASE: return SN_INSN_WRITE_SEGMENT_BASE;
    case ZYDIS_MNEMONIC_LFS:
    case ZYDIS_MNEMONIC_LGS:
    case ZYDIS_MNEMONIC_SWAPGS: return SN_INSN_WRITE_SEGMENT;
    default: break;
    }
    if (z->meta.category == ZYDIS_CATEGORY_COND_BR && z->meta.branch_type != ZYDIS_BRANCH_TYPE_NONE)
        return class_of_conditional(z, insn);
    return writes_thread_segment(view) ? SN_INSN_WRITE_SEGMENT : SN_INSN_PLAIN;
}

/* ------------------------------------------------------------------------- effects */

static uint8_t flags_of(uint32_t mask) {
    static const struct {
        uint32_t library;
        uint8_t own;
    } map[] = {
        {ZYDIS_CPUFLAG_CF, SN_FLAG_CARRY}, {ZYDIS_CPUFLAG_PF, SN_FLAG_PARITY}, {ZYDIS_CPUFLAG_AF, SN_FLAG_ADJUST},
        {ZYDIS_CPUFLAG_ZF, SN_FLAG_ZERO},  {ZYDIS_CPUFLAG_SF, SN_FLAG_SIGN},   {ZYDIS_CPUFLAG_OF, SN_FLAG_OVERFLOW},
    };
    uint8_t flags = 0;
    for (unsigned i = 0; i < sizeof map / sizeof map[0]; i++)
        if (mask & map[i].library)
            flags |= map[i].own;
    return flags;
}

/** Whether flags that the library lists as modified may stay: shifts by nothing, repetitions of nothing. */
static bool may_keep_flags(const sn_view *view, const sn_insn *insn) {
    const ZydisDecodedInstruction *z = &view->instruction;
    if (insn->repeated)
        return true;
    switch (z->mnemonic) {
    case ZYDIS_MNEMONIC_SHL:
    case ZYDIS_MNEMONIC_SHR:
    case ZYDIS_MNEMONIC_SAR:
    case ZYDIS_MNEMONIC_ROL:
    case ZYDIS_MNEMONIC_ROR:
    case ZYDIS_MNEMONIC_RCL:
    case ZYDIS_MNEMONIC_RCR:
    case ZYDIS_MNEMONIC_SHLD:
    case ZYDIS_MNEMONIC_SHRD:
        return z->opcode != 0xd0 && z->opcode != 0xd1; /* not by one */
    default:
        return z->meta.category == ZYDIS_CATEGORY_X87_ALU;
    }
}

/** Where the manual calls flags undefined and processors leave them as they were. */
static bool keeps_undefined_flags(const sn_view *view) {
    switch (view->instruction.mnemonic) {
    case ZYDIS_MNEMONIC_DIV:
    case ZYDIS_MNEMONIC_IDIV:
    case ZYDIS_MNEMONIC_BSF:
    case ZYDIS_MNEMONIC_BSR: return true;
    default: return view->instruction.meta.category == ZYDIS_CATEGORY_BITBYTE;
    }
}

static void fill_flags(const sn_view *view, sn_insn *insn) {
    const ZydisAccessedFlags *flags = view->instruction.cpu_flags;
    if (!flags)
        return;
    insn->flags_read = flags_of(flags->tested);
    if (may_keep_flags(view, insn))
        return;
    uint32_t written = flags->modified | flags->set_0 | flags->set_1;
    if (!keeps_undefined_flags(view))
        written |= flags->undefined;
    insn->flags_written = flags_of(written);
}

static void use_general(const ZydisDecodedOperand *operand, int number, bool certain, sn_insn *insn) {
    uint32_t bit = UINT32_C(1) << number;
    bool full = operand->size >= 32 && certain && (operand->actions & ZYDIS_OPERAND_ACTION_WRITE);
    if (full)
        insn->registers_written |= bit;
    if (!full || (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ))
        insn->registers_read |= bit;
}

static void use_address(ZydisRegister reg, sn_insn *insn) {
    int number = sn_zydis_general_register(reg);
    if (number >= 0)
        insn->registers_read |= UINT32_C(1) << number;
}

static void fill_registers(const sn_view *view, sn_insn *insn) {
    /* With a zero source these leave their destination as it was. */
    bool scans = view->instruction.mnemonic == ZYDIS_MNEMONIC_BSF || view->instruction.mnemonic == ZYDIS_MNEMONIC_BSR;
    bool certain = !insn->repeated && !scans;
    for (unsigned i = 0; i < view->instruction.operand_count; i++) {
        const ZydisDecodedOperand *operand = &view->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
            use_address(operand->mem.base, insn);
            use_address(operand->mem.index, insn);
        } else if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
            int number = sn_zydis_general_register(operand->reg.value);
            if (number >= 0)
                use_general(operand, number, certain, insn);
        }
    }
    insn->registers_touched = insn->registers_read | insn->registers_written;
}

/** Instructions that hand control to the kernel, or may be undone: everything may matter. */
static bool is_beyond_knowledge(const sn_insn *insn) {
    switch (insn->class) {
    case SN_INSN_FAR_BRANCH:
    case SN_INSN_SYSCALL:
    case SN_INSN_INTERRUPT:
    case SN_INSN_BREAKPOINT:
    case SN_INSN_UNDEFINED:
    case SN_INSN_TRANSACTION_BEGIN: return true;
    default: return false;
    }
}

static void fill_effects(const sn_view *view, sn_insn *insn) {
    if (is_beyond_knowledge(insn)) {
        insn->flags_read = SN_FLAGS_ARITHMETIC;
        insn->registers_read = insn->registers_touched = 0xffff;
        return;
    }
    fill_flags(view, insn);
    fill_registers(view, insn);
}

static bool is_repeated(const ZydisDecodedInstruction *z) {
    bool string = z->meta.category == ZYDIS_CATEGORY_STRINGOP || z->meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
    return string &&
           (z->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
}

bool sn_decode_slowly(const uint8_t *code, size_t available, uint64_t pc, sn_insn *insn) {
    sn_view view;
    memset(insn, 0, sizeof *insn);
    if (!sn_zydis_decode(code, available, &view.instruction, view.operands))
        return false;
    const ZydisDecodedInstruction *z = &view.instruction;
    insn->pc = pc;
    insn->length = z->length;
    memcpy(insn->bytes, code, z->length);
    fill_layout(z, insn);
    insn->repeated = is_repeated(z);
    insn->class = (uint8_t)class_of(&view, insn);
    fill_target(&view, insn);
    if (!(insn->class >= SN_INSN_JUMP && insn->class <= SN_INSN_CALL) && insn->class != SN_INSN_TRANSACTION_BEGIN)
        insn->target = 0;
    fill_effects(&view, insn);
    return true;
}
