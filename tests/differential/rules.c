/**
 * @fileoverview Which instruction forms a random block may hold, with the reason for each that it may not.
 *
 * One table by category and one by mnemonic; the mnemonic decides first. Used when the table of forms is made.
 */
#include "forms.h"

typedef struct rule {
    int subject; /* a mnemonic or a category */
    sn_form_policy policy;
    const char *reason;
} rule;

static const char clock[] = "reads a clock or counter";
static const char entropy[] = "random by definition";
static const char processor[] = "tells which processor the thread is on";
static const char descriptor[] = "descriptor table addresses differ, and the kernel emulates it";
static const char hypervisor[] = "leaves to the hypervisor or to an enclave";
static const char history[] = "what it saves depends on which components the processor tracks as in use";
static const char segment[] = "changes a segment register";
static const char base[] = "moves the base that the C library stands on; tested by programs of their own";
static const char far_branch[] = "far branch: changes the code segment";
static const char waiting[] = "waits for memory or time";
static const char transaction[] = "transactions abort for reasons outside the program";
static const char entry[] = "enters the kernel: tested by the block's own system calls and by programs of their own";
static const char keys[] = "changes protection keys";
static const char tiles[] = "needs permission for tile state: tested by a program of its own";
static const char queue[] = "device work queues";
static const char user_interrupt[] = "user interrupts, which no kernel of ours turns on";

static const rule by_mnemonic[] = {
    {ZYDIS_MNEMONIC_RDTSC, SN_FORM_EXCLUDED, clock},
    {ZYDIS_MNEMONIC_RDTSCP, SN_FORM_EXCLUDED, clock},
    {ZYDIS_MNEMONIC_RDPMC, SN_FORM_LAST, NULL},
    {ZYDIS_MNEMONIC_RDPRU, SN_FORM_EXCLUDED, clock},
    {ZYDIS_MNEMONIC_RDPID, SN_FORM_EXCLUDED, processor},
    {ZYDIS_MNEMONIC_LSL, SN_FORM_EXCLUDED, processor},
    {ZYDIS_MNEMONIC_SGDT, SN_FORM_EXCLUDED, descriptor},
    {ZYDIS_MNEMONIC_SIDT, SN_FORM_EXCLUDED, descriptor},
    {ZYDIS_MNEMONIC_SLDT, SN_FORM_EXCLUDED, descriptor},
    {ZYDIS_MNEMONIC_STR, SN_FORM_EXCLUDED, descriptor},
    {ZYDIS_MNEMONIC_SMSW, SN_FORM_EXCLUDED, descriptor},
    {ZYDIS_MNEMONIC_XSAVEC, SN_FORM_EXCLUDED, history},
    {ZYDIS_MNEMONIC_XSAVEC64, SN_FORM_EXCLUDED, history},
    {ZYDIS_MNEMONIC_XSAVEOPT, SN_FORM_EXCLUDED, history},
    {ZYDIS_MNEMONIC_XSAVEOPT64, SN_FORM_EXCLUDED, history},
    {ZYDIS_MNEMONIC_XBEGIN, SN_FORM_EXCLUDED, transaction},
    {ZYDIS_MNEMONIC_XTEST, SN_FORM_EXCLUDED, "would see a lock elision begun by a prefix"},
    {ZYDIS_MNEMONIC_SYSCALL, SN_FORM_CONTROL, NULL},
    {ZYDIS_MNEMONIC_SYSENTER, SN_FORM_EXCLUDED, entry},
    {ZYDIS_MNEMONIC_SYSRET, SN_FORM_LAST, NULL},
    {ZYDIS_MNEMONIC_SYSEXIT, SN_FORM_LAST, NULL},
    {ZYDIS_MNEMONIC_INT, SN_FORM_EXCLUDED, entry},
    {ZYDIS_MNEMONIC_INT1, SN_FORM_LAST, NULL},
    {ZYDIS_MNEMONIC_INT3, SN_FORM_LAST, NULL},
    {ZYDIS_MNEMONIC_UD0, SN_FORM_LAST, NULL},
    {ZYDIS_MNEMONIC_UD1, SN_FORM_LAST, NULL},
    {ZYDIS_MNEMONIC_UD2, SN_FORM_LAST, NULL},
    {ZYDIS_MNEMONIC_IRET, SN_FORM_EXCLUDED, far_branch},
    {ZYDIS_MNEMONIC_IRETD, SN_FORM_EXCLUDED, far_branch},
    {ZYDIS_MNEMONIC_IRETQ, SN_FORM_EXCLUDED, far_branch},
    {ZYDIS_MNEMONIC_LFS, SN_FORM_EXCLUDED, segment},
    {ZYDIS_MNEMONIC_LGS, SN_FORM_EXCLUDED, segment},
    {ZYDIS_MNEMONIC_LSS, SN_FORM_EXCLUDED, segment},
    {ZYDIS_MNEMONIC_WRFSBASE, SN_FORM_EXCLUDED, base},
    {ZYDIS_MNEMONIC_WRGSBASE, SN_FORM_EXCLUDED, base},
    {ZYDIS_MNEMONIC_WRPKRU, SN_FORM_EXCLUDED, keys},
    {ZYDIS_MNEMONIC_MONITOR, SN_FORM_EXCLUDED, waiting},
    {ZYDIS_MNEMONIC_MWAIT, SN_FORM_EXCLUDED, waiting},
    {ZYDIS_MNEMONIC_MONITORX, SN_FORM_EXCLUDED, waiting},
    {ZYDIS_MNEMONIC_MWAITX, SN_FORM_EXCLUDED, waiting},
    {ZYDIS_MNEMONIC_GETSEC, SN_FORM_EXCLUDED, hypervisor},
    {ZYDIS_MNEMONIC_SKINIT, SN_FORM_EXCLUDED, hypervisor},
    {ZYDIS_MNEMONIC_TDCALL, SN_FORM_EXCLUDED, hypervisor},
    {ZYDIS_MNEMONIC_SEAMCALL, SN_FORM_EXCLUDED, hypervisor},
    {ZYDIS_MNEMONIC_SEAMOPS, SN_FORM_EXCLUDED, hypervisor},
    {ZYDIS_MNEMONIC_SEAMRET, SN_FORM_EXCLUDED, hypervisor},
    {ZYDIS_MNEMONIC_VMMCALL, SN_FORM_EXCLUDED, hypervisor},
};

static const rule by_category[] = {
    {ZYDIS_CATEGORY_CALL, SN_FORM_CONTROL, NULL},
    {ZYDIS_CATEGORY_RET, SN_FORM_CONTROL, NULL},
    {ZYDIS_CATEGORY_COND_BR, SN_FORM_CONTROL, NULL},
    {ZYDIS_CATEGORY_UNCOND_BR, SN_FORM_CONTROL, NULL},
    {ZYDIS_CATEGORY_IO, SN_FORM_LAST, NULL},
    {ZYDIS_CATEGORY_IOSTRINGOP, SN_FORM_LAST, NULL},
    {ZYDIS_CATEGORY_RDRAND, SN_FORM_EXCLUDED, entropy},
    {ZYDIS_CATEGORY_RDSEED, SN_FORM_EXCLUDED, entropy},
    {ZYDIS_CATEGORY_VTX, SN_FORM_EXCLUDED, hypervisor},
    {ZYDIS_CATEGORY_SGX, SN_FORM_EXCLUDED, hypervisor},
    {ZYDIS_CATEGORY_PADLOCK, SN_FORM_EXCLUDED, "encrypts with a device of another maker"},
    {ZYDIS_CATEGORY_PCONFIG, SN_FORM_EXCLUDED, hypervisor},
    {ZYDIS_CATEGORY_WAITPKG, SN_FORM_EXCLUDED, waiting},
    {ZYDIS_CATEGORY_AMX_TILE, SN_FORM_EXCLUDED, tiles},
    {ZYDIS_CATEGORY_ENQCMD, SN_FORM_EXCLUDED, queue},
    {ZYDIS_CATEGORY_UINTR, SN_FORM_EXCLUDED, user_interrupt},
};

static const rule *find(const rule *rules, size_t count, int subject) {
    for (size_t i = 0; i < count; i++) {
        if (rules[i].subject == subject)
            return &rules[i];
    }
    return NULL;
}

static bool has_vector_index(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands) {
    for (unsigned i = 0; i < instruction->operand_count; i++) {
        if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY && operands[i].mem.type == ZYDIS_MEMOP_TYPE_VSIB)
            return true;
    }
    return false;
}

static bool writes_segment(const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands) {
    for (unsigned i = 0; i < instruction->operand_count; i++) {
        if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER && (operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) &&
            ZydisRegisterGetClass(operands[i].reg.value) == ZYDIS_REGCLASS_SEGMENT)
            return true;
    }
    return false;
}

/** x87, MMX and SSE without VEX count as vectors: everything that is not state of general registers. */
static sn_form_kind kind_of(const ZydisDecodedInstruction *instruction) {
    if (instruction->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
        return SN_KIND_EVEX;
    if (instruction->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX)
        return SN_KIND_VEX;
    switch (instruction->meta.isa_ext) {
    case ZYDIS_ISA_EXT_X87:
    case ZYDIS_ISA_EXT_MMX:
    case ZYDIS_ISA_EXT_SSE:
    case ZYDIS_ISA_EXT_SSE2:
    case ZYDIS_ISA_EXT_SSE3:
    case ZYDIS_ISA_EXT_SSSE3:
    case ZYDIS_ISA_EXT_SSE4:
    case ZYDIS_ISA_EXT_SSE4A:
    case ZYDIS_ISA_EXT_AES:
    case ZYDIS_ISA_EXT_SHA:
    case ZYDIS_ISA_EXT_GFNI:
    case ZYDIS_ISA_EXT_PCLMULQDQ: return SN_KIND_LEGACY_VECTOR;
    default: return SN_KIND_GENERAL;
    }
}

void sn_form_judge(sn_form *form, const ZydisDecodedInstruction *instruction, const ZydisDecodedOperand *operands) {
    const rule *found = find(by_mnemonic, sizeof by_mnemonic / sizeof *by_mnemonic, (int)instruction->mnemonic);
    if (!found)
        found = find(by_category, sizeof by_category / sizeof *by_category, (int)instruction->meta.category);
    form->kind = kind_of(instruction);
    form->indexed = has_vector_index(instruction, operands);
    if (found) {
        form->policy = found->policy;
        form->reason = found->reason;
    } else if (instruction->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) {
        form->policy = SN_FORM_LAST;
    } else if (writes_segment(instruction, operands)) {
        form->policy = SN_FORM_EXCLUDED;
        form->reason = segment;
    }
    if (instruction->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) {
        form->policy = SN_FORM_EXCLUDED;
        form->reason = far_branch;
    }
}
