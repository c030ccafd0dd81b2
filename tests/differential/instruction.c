/**
 * @fileoverview Random instructions with usable operands, see instruction.h.
 *
 * The work of one try is a `draft`: the encoding, what it decodes to, and the register values that must be loaded first.
 */
#include "instruction.h"

#include <string.h>

#include "layout.h"

enum {
    STACK_POINTER = 4,
    BASE_POINTER = 5,
    MARGIN = 2048, /* bytes of an arena on both sides of an operand's start that it may reach */
    STACK_MARGIN = 1024,
    MOST_REPEATS = 24,
};

typedef struct draft {
    sn_builder *builder;
    const sn_form *form;
    sn_aim aim;
    sn_encoding fields;
    uint8_t code[40];
    ZydisDecoderContext context;
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    uint64_t registers[16]; /* when the instruction runs */
    uint32_t loaded;        /* registers that must be loaded before */
    uint32_t pinned;        /* registers whose value is settled */
    bool low_only;          /* the operand's address must fit 31 bits, because fixed stores go there */
    uint64_t target;        /* address of the (last) memory operand */
    bool relative;          /* RIP-relative: the displacement is filled in at the end */
    int vector_index;       /* vector register that needs small indices, or -1 */
} draft;

static uint32_t below(draft *work, uint32_t limit) {
    return sn_random_below(&work->builder->random, limit);
}

static bool percent(draft *work, unsigned chance) {
    return sn_random_percent(&work->builder->random, chance);
}

/* ---- the encoding ---- */

/** A random value among those of a bit set. */
static uint8_t choose(draft *work, uint8_t values) {
    uint8_t value;
    do
        value = (uint8_t)below(work, 8);
    while (!(values >> value & 1));
    return value;
}

static void random_prefixes(draft *work) {
    static const uint8_t segments[] = {0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65, 0x64, 0x65};
    sn_encoding *fields = &work->fields;
    if (work->form->memory ? percent(work, 12) : percent(work, 3))
        fields->prefixes[fields->prefix_count++] = segments[below(work, 8)];
    if (work->form->memory ? percent(work, 8) : percent(work, 2))
        fields->prefixes[fields->prefix_count++] = 0x67;
    if (work->form->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
        return;
    if (work->form->memory && percent(work, 15))
        fields->prefixes[fields->prefix_count++] = 0xf0;
    if (!work->form->prefix && percent(work, 3))
        fields->prefixes[fields->prefix_count++] = percent(work, 50) ? 0xf2 : 0xf3;
}

/** Displacement of four bytes: small, or anything when the base register can make up for it. */
static void random_displacement(draft *work, bool stack) {
    int32_t small = (int32_t)below(work, 512) - 256;
    if (stack || percent(work, 60))
        memcpy(work->fields.tail, &small, 4);
    else if (percent(work, 10))
        memset(work->fields.tail, 0, 4);
}

static void random_memory(draft *work) {
    sn_encoding *fields = &work->fields;
    uint8_t mod = (uint8_t)below(work, 3), rm = (uint8_t)below(work, 8);
    if (percent(work, 10)) {
        mod = 0;
        rm = 5; /* RIP-relative */
    } else if (percent(work, 15)) {
        rm = 4;
    }
    if (work->form->indexed)
        rm = 4;
    fields->modrm = (uint8_t)(mod << 6 | rm);
    fields->has_sib = rm == 4;
    fields->sib = (uint8_t)sn_random_next(&work->builder->random);
    if (fields->has_sib && percent(work, 15)) {
        fields->sib = (uint8_t)((fields->sib & 0xf8) | 5); /* no base with mod 0 */
        fields->modrm &= percent(work, 70) ? 0x3f : 0xff;
    }
    fields->base_high = percent(work, 40);
    fields->index_high = percent(work, 40);
    random_displacement(work, fields->has_sib && (fields->sib & 7) == 4 && !fields->base_high);
}

static void random_registers(draft *work) {
    const sn_form *form = work->form;
    sn_encoding *fields = &work->fields;
    bool vector = form->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY;
    if (form->register_values == 0xff)
        fields->register_high = percent(work, 35);
    if (form->operand_values == 0xff && !form->memory)
        fields->base_high = percent(work, 35);
    if (vector) {
        fields->source = (uint8_t)(percent(work, 20) ? 0 : below(work, 16));
        fields->short_vex = percent(work, 60);
    }
    if (form->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) {
        fields->register_top = percent(work, 30);
        fields->source_top = percent(work, 30);
        if (!form->memory)
            fields->index_high = percent(work, 30);
        fields->mask = (uint8_t)(form->maskable && percent(work, 60) ? below(work, 8) : 0);
        if (form->indexed)
            fields->mask = (uint8_t)(1 + below(work, 7));
        fields->zeroing = fields->mask && percent(work, 40);
    } else if (!vector) {
        fields->force_rex = percent(work, 20);
        if (!form->has_modrm)
            fields->base_high = percent(work, 35);
    }
}

/** A random encoding that decodes to the form. */
static bool encode(draft *work) {
    const sn_form *form = work->form;
    sn_encoding *fields = &work->fields;
    memset(fields, 0, sizeof *fields);
    for (unsigned i = 0; i < sizeof fields->tail; i += 8) {
        uint64_t value = sn_random_value(&work->builder->random);
        memcpy(fields->tail + i, &value, 8);
    }
    random_prefixes(work);
    random_registers(work);
    if (form->memory)
        random_memory(work);
    else
        fields->modrm = (uint8_t)(0xc0 | choose(work, form->operand_values));
    fields->modrm |= (uint8_t)(choose(work, form->register_values) << 3);
    return sn_form_decode(work->code, sn_form_encode(form, fields, work->code), &work->context, &work->decoded,
                          work->operands) &&
           work->context.definition == form->definition;
}

/* ---- register values ---- */

/** Hardware number of a general register, -1 for another register; 8-bit ones too, high ones as their whole. */
static int general(ZydisRegister name) {
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
    return ZydisRegisterGetClass(whole) == ZYDIS_REGCLASS_GPR64 ? ZydisRegisterGetId(whole) : -1;
}

/** Settle a register's value; false when it is settled differently, or may not be touched. */
static bool set(draft *work, unsigned reg, uint64_t value) {
    uint32_t bit = UINT32_C(1) << reg;
    if (work->registers[reg] == value) {
        work->pinned |= bit;
        return true;
    }
    if (work->pinned & bit || work->builder->forbidden & bit || reg == STACK_POINTER)
        return false;
    work->registers[reg] = value;
    work->loaded |= bit;
    work->pinned |= bit;
    return true;
}

static uint64_t segment_base(const draft *work, ZydisRegister segment) {
    const sn_start *start = &work->builder->block.start;
    if (segment == ZYDIS_REGISTER_FS)
        return start->fs_base;
    return segment == ZYDIS_REGISTER_GS ? start->gs_base : 0;
}

/** Value of an address register: as the processor takes it. */
static uint64_t address_register(const draft *work, ZydisRegister name) {
    int reg = general(name);
    if (reg < 0)
        return 0;
    uint64_t value = work->registers[reg];
    unsigned width = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, name);
    return width == 64 ? value : value & ((UINT64_C(1) << width) - 1);
}

static uint64_t effective(const draft *work, const ZydisDecodedOperand *operand) {
    uint64_t address = address_register(work, operand->mem.base) + (uint64_t)operand->mem.disp.value;
    if (operand->mem.type != ZYDIS_MEMOP_TYPE_VSIB)
        address += address_register(work, operand->mem.index) * operand->mem.scale;
    if (work->decoded.address_width == 32)
        address &= UINT32_MAX;
    return address + segment_base(work, operand->mem.segment);
}

/* ---- where operands may lie ---- */

static bool in_place(uint64_t address, uint64_t start, uint64_t size, uint64_t margin) {
    return address >= start + margin && address < start + size - margin;
}

static bool usable(const draft *work, uint64_t address) {
    if (in_place(address, SN_LOW_ARENA, SN_ARENA_SIZE, MARGIN))
        return true;
    return !work->low_only && (in_place(address, SN_HIGH_ARENA, SN_ARENA_SIZE, MARGIN) ||
                               in_place(address, SN_LOW_STACK, SN_STACK_SIZE, STACK_MARGIN) ||
                               in_place(address, SN_HIGH_STACK, SN_STACK_SIZE, STACK_MARGIN));
}

/** An address that faults natively and under Sonde alike. */
static uint64_t faulting_target(draft *work) {
    uint64_t arena = percent(work, 50) ? SN_LOW_ARENA : SN_HIGH_ARENA;
    switch (below(work, 6)) {
    case 0: return arena - 1 - below(work, 4096);
    case 1: return arena + SN_ARENA_SIZE - 1 - below(work, 4); /* across the end */
    case 2: return arena + SN_ARENA_SIZE + below(work, 4096);
    case 3: return below(work, 4096);
    case 4: return SN_CONSTANTS + below(work, 4000);
    default: return UINT64_C(0x8000000000000000) | sn_random_next(&work->builder->random);
    }
}

static uint64_t pick_target(draft *work, bool low, bool near_code) {
    if (work->aim == SN_AIM_FAULT && !near_code)
        return faulting_target(work);
    bool high = near_code ? work->builder->high : !low && percent(work, 50);
    uint64_t offset = MARGIN + below(work, SN_ARENA_SIZE - 2 * MARGIN);
    bool locked = (work->decoded.attributes & ZYDIS_ATTRIB_HAS_LOCK) || work->decoded.mnemonic == ZYDIS_MNEMONIC_XCHG;
    if (locked || percent(work, 75))
        offset &= ~UINT64_C(63);
    return (high ? SN_HIGH_ARENA : SN_LOW_ARENA) + offset;
}

/** Four bytes into the displacement of the drafted instruction. */
static void patch_displacement(draft *work, ZydisDecodedOperand *operand, int32_t value) {
    memcpy(work->code + work->decoded.raw.disp.offset, &value, 4);
    operand->mem.disp.value = value;
}

/** No base: an absolute address, or an index that makes it up. */
static bool aim_without_base(draft *work, ZydisDecodedOperand *operand, uint64_t address) {
    int index = general(operand->mem.index);
    unsigned scale = operand->mem.scale;
    if (index < 0 || operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB) {
        if (work->decoded.raw.disp.size != 32)
            return false;
        if (work->decoded.address_width == 32 || address == (uint64_t)(int64_t)(int32_t)address)
            patch_displacement(work, operand, (int32_t)address);
        return effective(work, operand) == address + segment_base(work, operand->mem.segment);
    }
    if (work->decoded.raw.disp.size == 32)
        patch_displacement(work, operand, (int32_t)((uint32_t)operand->mem.disp.value & ~7u) | (int32_t)(address & (scale - 1)));
    uint64_t distance = address - (uint64_t)operand->mem.disp.value;
    if (work->decoded.address_width == 32)
        distance &= UINT32_MAX;
    return distance % scale == 0 && set(work, (unsigned)index, distance / scale);
}

static bool aim_with_base(draft *work, ZydisDecodedOperand *operand, uint64_t address) {
    int base = general(operand->mem.base), index = general(operand->mem.index);
    uint64_t rest = address - (uint64_t)operand->mem.disp.value;
    if (index >= 0 && index == base) {
        rest = work->decoded.address_width == 32 ? rest & UINT32_MAX : rest;
        return rest % (operand->mem.scale + 1u) == 0 && set(work, (unsigned)base, rest / (operand->mem.scale + 1u));
    }
    /* An index in al (xlat) keeps its value; another is mostly made small, of either sign. */
    if (index >= 0 && ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, operand->mem.index) != 8) {
        if (!(work->pinned >> index & 1) && percent(work, 70)) {
            if (!set(work, (unsigned)index, (uint64_t)((int64_t)below(work, 128) - 64)))
                return false;
        }
        work->pinned |= UINT32_C(1) << index;
    }
    if (operand->mem.type != ZYDIS_MEMOP_TYPE_VSIB)
        rest -= address_register(work, operand->mem.index) * operand->mem.scale;
    if (work->decoded.address_width == 32)
        rest = (rest & UINT32_MAX) | (percent(work, 30) ? sn_random_next(&work->builder->random) << 32 : 0);
    return set(work, (unsigned)base, rest);
}

/** A stack operand: the base stays, the rest must be small. */
static bool aim_at_stack(draft *work, ZydisDecodedOperand *operand) {
    int index = general(operand->mem.index);
    if (operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
        return false;
    if (index >= 0 && !set(work, (unsigned)index, below(work, 16)))
        return false;
    return usable(work, effective(work, operand));
}

/** Make one memory operand point where it should. */
static bool aim_operand(draft *work, ZydisDecodedOperand *operand) {
    bool narrow = work->decoded.address_width == 32, relative = operand->mem.base == ZYDIS_REGISTER_RIP ||
                                                               operand->mem.base == ZYDIS_REGISTER_EIP;
    uint64_t segment = segment_base(work, operand->mem.segment);
    if (operand->mem.segment == ZYDIS_REGISTER_FS && !work->builder->block.start.segments)
        return false; /* thread-local storage of the C library: its address differs */
    if (relative) {
        work->relative = true;
        work->target = pick_target(work, false, true);
        return segment == 0 && usable(work, work->target) && !(narrow && work->builder->high);
    }
    if (general(operand->mem.base) == STACK_POINTER)
        return !narrow && segment == 0 && aim_at_stack(work, operand);
    if (work->aim == SN_AIM_DATA && operand->mem.type != ZYDIS_MEMOP_TYPE_VSIB && percent(work, 60) &&
        usable(work, effective(work, operand))) {
        if (general(operand->mem.base) >= 0)
            work->pinned |= UINT32_C(1) << general(operand->mem.base);
        if (general(operand->mem.index) >= 0)
            work->pinned |= UINT32_C(1) << general(operand->mem.index);
        work->target = effective(work, operand);
        return true;
    }
    bool has_base = general(operand->mem.base) >= 0;
    bool low = narrow || work->low_only || (!has_base && segment == 0);
    work->target = pick_target(work, low, false);
    uint64_t address = work->target - segment;
    if (narrow && address > UINT32_MAX)
        return false;
    return has_base ? aim_with_base(work, operand, address) : aim_without_base(work, operand, address);
}

/** After all registers are settled: does every operand lie where it may? */
static bool operands_usable(const draft *work) {
    for (unsigned i = 0; i < work->decoded.operand_count; i++) {
        const ZydisDecodedOperand *operand = &work->operands[i];
        if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY || operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
            operand->mem.base == ZYDIS_REGISTER_RIP || operand->mem.base == ZYDIS_REGISTER_EIP)
            continue;
        if (!usable(work, effective(work, operand)))
            return false;
    }
    return true;
}

static bool aim_all(draft *work) {
    for (unsigned i = 0; i < work->decoded.operand_count; i++) {
        ZydisDecodedOperand *operand = &work->operands[i];
        if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY || operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
            continue;
        if (operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
            work->vector_index = ZydisRegisterGetId(operand->mem.index);
        if (!aim_operand(work, operand))
            return false;
    }
    return work->aim == SN_AIM_FAULT || operands_usable(work);
}

/* ---- instructions with needs of their own ---- */

static bool repeated(const draft *work) {
    return (work->decoded.attributes &
            (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
}

static bool prepare_bit_test(draft *work) {
    if (!work->form->memory || work->operands[1].type != ZYDIS_OPERAND_TYPE_REGISTER)
        return true;
    return set(work, (unsigned)general(work->operands[1].reg.value), (uint64_t)((int64_t)below(work, 256) - 128));
}

static bool prepare_divide(draft *work) {
    if (percent(work, 15))
        return true;
    return set(work, 2, 0) && set(work, 0, below(work, 200));
}

static bool prepare_cpuid(draft *work) {
    static const uint32_t leaves[] = {0, 2, 4, 7, 0x80000000, 0x80000001, 0x80000002, 0x80000003, 0x80000008};
    return set(work, 0, leaves[below(work, sizeof leaves / sizeof *leaves)]) && set(work, 1, 0);
}

static bool prepare_count_zero(draft *work) {
    return set(work, 1, 0);
}

/** The C library's own base differs from run to run. */
static bool prepare_read_base(draft *work) {
    return work->builder->block.start.segments != 0;
}

static bool prepare_enter(draft *work) {
    uint8_t *size = work->code + work->decoded.raw.imm[0].offset;
    size[0] &= 63;
    size[1] = 0;
    size[2] &= 3;
    return set(work, BASE_POINTER, (work->builder->high ? SN_HIGH_STACK : SN_LOW_STACK) + SN_STACK_SIZE / 2);
}

static bool prepare_leave(draft *work) {
    uint64_t stack = work->builder->high ? SN_HIGH_STACK : SN_LOW_STACK;
    return set(work, BASE_POINTER, stack + SN_STACK_SIZE / 2 - 8 * below(work, 32));
}

static bool prepare_xsave(draft *work) {
    return set(work, 0, 0xe7 & sn_random_next(&work->builder->random)) && set(work, 2, 0);
}

static bool prepare_low(draft *work) {
    work->low_only = true;
    return true;
}

static bool prepare_low_xsave(draft *work) {
    return prepare_low(work) && prepare_xsave(work);
}

/** popf takes arithmetic flags, direction and identification; never single-stepping or alignment checks. */
static void before_pop_flags(draft *work) {
    uint8_t code[8] = {0x48, 0xc7, 0x04, 0x24};
    uint32_t flags = ((uint32_t)sn_random_next(&work->builder->random) & 0x200cd5) | 0x202;
    memcpy(code + 4, &flags, 4);
    sn_builder_add(work->builder, code, 8);
}

static void before_load_mxcsr(draft *work) {
    uint32_t value = 0x1f80 | (below(work, 4) << 13) | (percent(work, 20) ? 0x8040 : 0) | below(work, 64);
    sn_builder_store(work->builder, work->target, 4, value);
}

static void before_load_control_word(draft *work) {
    sn_builder_store(work->builder, work->target, 2, 0x7f | below(work, 16) << 8);
}

/** Save there what is then restored: the image must be one that the processor accepts. */
static void save_image(draft *work, uint8_t extension) {
    uint8_t code[9] = {0x48, 0x0f, 0xae, (uint8_t)(4 | extension << 3), 0x25};
    memcpy(code + 5, &work->target, 4);
    sn_builder_add(work->builder, code, sizeof code);
}

static void before_fxrstor(draft *work) {
    save_image(work, 0);
}

static void before_xrstor(draft *work) {
    for (unsigned offset = 512; offset < 576; offset += 8)
        sn_builder_store(work->builder, work->target + offset, 8, 0);
    save_image(work, 4);
}

static void clear(draft *work, unsigned offset, unsigned size) {
    sn_builder_store(work->builder, work->target + offset, size, 0);
}

/** The x87 unit's last instruction's opcode and addresses: the code cache's own, and no program relies on them. */
static void after_store_environment(draft *work) {
    bool narrow = work->decoded.operand_width == 16;
    clear(work, narrow ? 6 : 12, narrow ? 2 : 4);
    if (!narrow) clear(work, 18, 2);
    clear(work, narrow ? 10 : 20, narrow ? 2 : 4);
}

static void after_fxsave(draft *work) {
    clear(work, 6, 2);
    clear(work, 8, 8);
    clear(work, 16, 8);
}

/** Which components are in use is the processor's own bookkeeping. */
static void after_xsave(draft *work) {
    after_fxsave(work);
    clear(work, 512, 8);
}

typedef struct special {
    ZydisMnemonic mnemonic;
    bool (*prepare)(draft *work); /* settles registers; before operands are aimed */
    void (*before)(draft *work);  /* adds instructions before */
    void (*after)(draft *work);   /* adds instructions behind */
} special;

static const special specials[] = {
    {ZYDIS_MNEMONIC_BT, prepare_bit_test, NULL, NULL},
    {ZYDIS_MNEMONIC_BTS, prepare_bit_test, NULL, NULL},
    {ZYDIS_MNEMONIC_BTR, prepare_bit_test, NULL, NULL},
    {ZYDIS_MNEMONIC_BTC, prepare_bit_test, NULL, NULL},
    {ZYDIS_MNEMONIC_DIV, prepare_divide, NULL, NULL},
    {ZYDIS_MNEMONIC_IDIV, prepare_divide, NULL, NULL},
    {ZYDIS_MNEMONIC_CPUID, prepare_cpuid, NULL, NULL},
    {ZYDIS_MNEMONIC_XGETBV, prepare_count_zero, NULL, NULL},
    {ZYDIS_MNEMONIC_RDPKRU, prepare_count_zero, NULL, NULL},
    {ZYDIS_MNEMONIC_RDFSBASE, prepare_read_base, NULL, NULL},
    {ZYDIS_MNEMONIC_ENTER, prepare_enter, NULL, NULL},
    {ZYDIS_MNEMONIC_LEAVE, prepare_leave, NULL, NULL},
    {ZYDIS_MNEMONIC_POPF, NULL, before_pop_flags, NULL},
    {ZYDIS_MNEMONIC_POPFQ, NULL, before_pop_flags, NULL},
    {ZYDIS_MNEMONIC_LDMXCSR, prepare_low, before_load_mxcsr, NULL},
    {ZYDIS_MNEMONIC_VLDMXCSR, prepare_low, before_load_mxcsr, NULL},
    {ZYDIS_MNEMONIC_FLDCW, prepare_low, before_load_control_word, NULL},
    {ZYDIS_MNEMONIC_FNSTENV, prepare_low, NULL, after_store_environment},
    {ZYDIS_MNEMONIC_FNSAVE, prepare_low, NULL, after_store_environment},
    {ZYDIS_MNEMONIC_FXSAVE, prepare_low, NULL, after_fxsave},
    {ZYDIS_MNEMONIC_FXSAVE64, prepare_low, NULL, after_fxsave},
    {ZYDIS_MNEMONIC_FXRSTOR, prepare_low, before_fxrstor, after_fxsave},
    {ZYDIS_MNEMONIC_FXRSTOR64, prepare_low, before_fxrstor, after_fxsave},
    {ZYDIS_MNEMONIC_XSAVE, prepare_low_xsave, NULL, after_xsave},
    {ZYDIS_MNEMONIC_XSAVE64, prepare_low_xsave, NULL, after_xsave},
    {ZYDIS_MNEMONIC_XRSTOR, prepare_low_xsave, before_xrstor, after_xsave},
    {ZYDIS_MNEMONIC_XRSTOR64, prepare_low_xsave, before_xrstor, after_xsave},
};

static const special *find_special(ZydisMnemonic mnemonic) {
    static const special none;
    for (unsigned i = 0; i < sizeof specials / sizeof *specials; i++) {
        if (specials[i].mnemonic == mnemonic)
            return &specials[i];
    }
    return &none;
}

/* ---- putting it together ---- */

/** The instruction may not write what the structure around it counts on, and seldom the stack pointer. */
static bool writes_allowed(draft *work) {
    static const ZydisMnemonic stack[] = {
        ZYDIS_MNEMONIC_PUSH,  ZYDIS_MNEMONIC_POP,   ZYDIS_MNEMONIC_PUSHF, ZYDIS_MNEMONIC_PUSHFQ, ZYDIS_MNEMONIC_POPF,
        ZYDIS_MNEMONIC_POPFQ, ZYDIS_MNEMONIC_ENTER, ZYDIS_MNEMONIC_LEAVE,
    };
    uint32_t protected = work->builder->forbidden;
    bool stack_operation = false;
    for (unsigned i = 0; i < sizeof stack / sizeof *stack; i++)
        stack_operation |= stack[i] == work->decoded.mnemonic;
    for (unsigned i = 0; i < work->decoded.operand_count; i++) {
        const ZydisDecodedOperand *operand = &work->operands[i];
        if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER || !(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
            continue;
        int reg = general(operand->reg.value);
        if (reg >= 0 && protected >> reg & 1)
            return false;
        if (reg == STACK_POINTER && !stack_operation && (work->builder->depth || !percent(work, 10)))
            return false;
    }
    return true;
}

/** vmovdqu of indices from the read-only page into the index register. */
static void load_indices(draft *work) {
    unsigned reg = (unsigned)work->vector_index, length = 0;
    uint32_t address = (uint32_t)SN_CONSTANTS + 64 * below(work, 60);
    uint8_t code[16];
    if (work->form->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) {
        code[length++] = 0x62;
        code[length++] = (uint8_t)(!(reg & 8) << 7 | 0x60 | !(reg & 16) << 4 | 1);
        code[length++] = 0xfe;
        code[length++] = 0x48;
    } else {
        code[length++] = 0xc5;
        code[length++] = (uint8_t)(!(reg & 8) << 7 | 0x7e);
    }
    code[length++] = 0x6f;
    code[length++] = (uint8_t)((reg & 7) << 3 | 4);
    code[length++] = 0x25;
    memcpy(code + length, &address, 4);
    sn_builder_add(work->builder, code, length + 4);
}

static void add_all(draft *work, const special *needs) {
    sn_builder *builder = work->builder;
    for (unsigned reg = 0; reg < 16; reg++) {
        if (work->loaded >> reg & 1)
            sn_builder_load(builder, reg, work->registers[reg]);
    }
    if (work->vector_index >= 0)
        load_indices(work);
    if (needs->before && work->aim == SN_AIM_DATA)
        needs->before(work);
    if (work->relative) {
        int32_t distance = (int32_t)(work->target - (sn_builder_here(builder) + work->decoded.length));
        memcpy(work->code + work->decoded.raw.disp.offset, &distance, 4);
    }
    sn_builder_add(builder, work->code, work->decoded.length);
    if (needs->after && work->aim == SN_AIM_DATA)
        needs->after(work);
}

bool sn_instruction_add(sn_builder *builder, const sn_form *form, sn_aim aim) {
    draft work = {.builder = builder, .form = form, .aim = aim, .vector_index = -1};
    memcpy(work.registers, builder->registers, sizeof work.registers);
    if (!encode(&work) || !writes_allowed(&work))
        return false;
    const special *needs = find_special(work.decoded.mnemonic);
    if (aim == SN_AIM_FAULT && (needs->before || needs->after))
        return false;
    if (needs->prepare && !needs->prepare(&work))
        return false;
    if (repeated(&work) && !set(&work, 1, below(&work, MOST_REPEATS)))
        return false;
    if (!aim_all(&work))
        return false;
    add_all(&work, needs);
    return true;
}
