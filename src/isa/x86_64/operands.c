/**
 * @fileoverview sn_operands() and sn_kind_of(): an instruction as tools see it.
 *
 * Built from the decoding library's operands, in its order (the destination first), explicit ones before implicit ones.
 * What the library leaves to its reader is put right here: where pushes write, sizes that vary, elements of gathers,
 * which accesses may not happen. Addresses are those before the instruction executes. The instruction pointer is no
 * operand. Made only when a tool asks.
 */
#include <string.h>

#include "isa/isa.h"
#include "zydis.h"

typedef struct sn_listing {
    const sn_insn *insn;
    ZydisDecodedInstruction z;
    ZydisDecodedOperand from[ZYDIS_MAX_OPERAND_COUNT];
    sn_operand *to;
    unsigned capacity;
    unsigned count;
} sn_listing;

enum { NUMBER_RSP = 4, NUMBER_RBP = 5, NUMBER_RCX = 1 };

/** Numbers of SN_PLACE_CONTROL: a range for each class of register; those that are alone of their kind are in isa.h. */
enum { CONTROL_CONTROL = 16, CONTROL_DEBUG = 32, CONTROL_TILE = 48, CONTROL_BOUND = 64 };

/* ------------------------------------------------------------ kinds of instruction */

static bool is_string(const sn_listing *l) {
    return l->z.meta.category == ZYDIS_CATEGORY_STRINGOP || l->z.meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
}

/** Names a memory place without loading from it or storing to it. */
static bool is_address_only(const sn_listing *l) {
    switch (l->z.meta.category) {
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_PREFETCHWT1:
    case ZYDIS_CATEGORY_CLDEMOTE:
    case ZYDIS_CATEGORY_CLFLUSHOPT:
    case ZYDIS_CATEGORY_CLWB:
    case ZYDIS_CATEGORY_MPX: return true;
    default: break;
    }
    switch (l->z.mnemonic) {
    case ZYDIS_MNEMONIC_CLFLUSH:
    case ZYDIS_MNEMONIC_INVLPG:
    case ZYDIS_MNEMONIC_MONITOR:
    case ZYDIS_MNEMONIC_UMONITOR: return true;
    default: break;
    }
    /* gather and scatter prefetches */
    return l->z.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX && l->z.opcode_map == ZYDIS_OPCODE_MAP_0F38 &&
           (l->z.opcode == 0xc6 || l->z.opcode == 0xc7);
}

/** The area depends on what the processor has and is asked for. */
static bool varies_in_size(const sn_listing *l) {
    switch (l->z.mnemonic) {
    case ZYDIS_MNEMONIC_XSAVE:
    case ZYDIS_MNEMONIC_XSAVE64:
    case ZYDIS_MNEMONIC_XSAVEC:
    case ZYDIS_MNEMONIC_XSAVEC64:
    case ZYDIS_MNEMONIC_XSAVEOPT:
    case ZYDIS_MNEMONIC_XSAVEOPT64:
    case ZYDIS_MNEMONIC_XSAVES:
    case ZYDIS_MNEMONIC_XSAVES64:
    case ZYDIS_MNEMONIC_XRSTOR:
    case ZYDIS_MNEMONIC_XRSTOR64:
    case ZYDIS_MNEMONIC_XRSTORS:
    case ZYDIS_MNEMONIC_XRSTORS64: return true;
    default: return l->z.meta.category == ZYDIS_CATEGORY_AMX_TILE;
    }
}

/** Moves under a mask that is a vector register: each element, or nothing of it. */
static bool is_masked_move(const sn_listing *l) {
    switch (l->z.mnemonic) {
    case ZYDIS_MNEMONIC_MASKMOVQ:
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ: return true;
    default: return false;
    }
}

static bool masks_bytes(const sn_listing *l) {
    return l->z.mnemonic == ZYDIS_MNEMONIC_MASKMOVQ || l->z.mnemonic == ZYDIS_MNEMONIC_MASKMOVDQU ||
           l->z.mnemonic == ZYDIS_MNEMONIC_VMASKMOVDQU;
}

static bool has_mask_register(const sn_listing *l) {
    return l->z.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX && l->z.avx.mask.reg != ZYDIS_REGISTER_NONE &&
           l->z.avx.mask.reg != ZYDIS_REGISTER_K0;
}

/** Exception types without fault suppression: lanes of the result are not lanes of what is loaded. Intel's manual has some
    in them that the library does not. */
static bool loads_as_whole(const sn_listing *l) {
    switch (l->z.mnemonic) {
    case ZYDIS_MNEMONIC_VCVTNE2PS2BF16:
    case ZYDIS_MNEMONIC_VDBPSADBW:
    case ZYDIS_MNEMONIC_VGF2P8AFFINEQB:
    case ZYDIS_MNEMONIC_VGF2P8AFFINEINVQB: return true;
    default: break;
    }
    switch (l->z.meta.exception_class) {
    case ZYDIS_EXCEPTION_CLASS_E4NF:
    case ZYDIS_EXCEPTION_CLASS_E5NF:
    case ZYDIS_EXCEPTION_CLASS_E6NF: return true;
    default: return false;
    }
}

/** Whether lanes of the memory operand are left alone where the mask register has no bit. */
static bool is_masked(const sn_listing *l, const sn_operand *operand) {
    return has_mask_register(l) && !(operand->role == SN_ROLE_READ && loads_as_whole(l));
}

/** bt and its kin with the bit number in a register: they reach any memory around the address. */
static bool reaches_by_bit_number(const sn_listing *l) {
    switch (l->z.mnemonic) {
    case ZYDIS_MNEMONIC_BT:
    case ZYDIS_MNEMONIC_BTC:
    case ZYDIS_MNEMONIC_BTR:
    case ZYDIS_MNEMONIC_BTS: return l->from[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
    default: return false;
    }
}

/* ------------------------------------------------------------------ common fields */

static uint8_t role_of(ZydisOperandActions actions) {
    uint8_t role = 0;
    if (actions & ZYDIS_OPERAND_ACTION_MASK_READ)
        role |= SN_ROLE_READ;
    if (actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
        role |= SN_ROLE_WRITTEN;
    return role ? role : SN_ROLE_READ;
}

static bool is_float_type(ZydisElementType type) {
    return type == ZYDIS_ELEMENT_TYPE_FLOAT16 || type == ZYDIS_ELEMENT_TYPE_FLOAT32 ||
           type == ZYDIS_ELEMENT_TYPE_FLOAT64 || type == ZYDIS_ELEMENT_TYPE_FLOAT80;
}

/** Elements of bits (flags, masks, condition numbers) are one element here. */
static void set_elements(sn_operand *operand, const ZydisDecodedOperand *from) {
    operand->size = from->size / 8u;
    operand->element_size = (uint16_t)(from->element_size / 8u);
    operand->element_count = from->element_count;
    if (from->element_size % 8 || !from->element_size || !from->element_count) {
        operand->element_size = (uint16_t)operand->size;
        operand->element_count = 1;
    }
}

static sn_operand *add(sn_listing *l) {
    if (l->count == l->capacity)
        return NULL;
    sn_operand *operand = &l->to[l->count++];
    memset(operand, 0, sizeof *operand);
    operand->reg = operand->base = operand->index = SN_NO_REGISTER;
    return operand;
}

static sn_operand *add_from(sn_listing *l, const ZydisDecodedOperand *from) {
    sn_operand *operand = add(l);
    if (!operand)
        return NULL;
    const ZydisOperandActions certain = ZYDIS_OPERAND_ACTION_READ | ZYDIS_OPERAND_ACTION_WRITE;
    operand->role = role_of(from->actions);
    operand->is_explicit = from->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN;
    operand->is_conditional = from->actions && !(from->actions & certain);
    operand->is_float = is_float_type(from->element_type);
    set_elements(operand, from);
    return operand;
}

/* ----------------------------------------------------------------------- registers */

typedef struct sn_register_place {
    ZydisRegisterClass class;
    uint8_t place;
    uint8_t first; /**< number of the class's register 0 */
} sn_register_place;

static const sn_register_place register_places[] = {
    {ZYDIS_REGCLASS_X87, SN_PLACE_X87, 0},
    {ZYDIS_REGCLASS_MMX, SN_PLACE_X87, 0},
    {ZYDIS_REGCLASS_XMM, SN_PLACE_VECTOR, 0},
    {ZYDIS_REGCLASS_YMM, SN_PLACE_VECTOR, 0},
    {ZYDIS_REGCLASS_ZMM, SN_PLACE_VECTOR, 0},
    {ZYDIS_REGCLASS_MASK, SN_PLACE_MASK, 0},
    {ZYDIS_REGCLASS_TMM, SN_PLACE_CONTROL, CONTROL_TILE},
    {ZYDIS_REGCLASS_SEGMENT, SN_PLACE_CONTROL, SN_CONTROL_SEGMENTS},
    {ZYDIS_REGCLASS_CONTROL, SN_PLACE_CONTROL, CONTROL_CONTROL},
    {ZYDIS_REGCLASS_DEBUG, SN_PLACE_CONTROL, CONTROL_DEBUG},
    {ZYDIS_REGCLASS_BOUND, SN_PLACE_CONTROL, CONTROL_BOUND},
};

/** Control registers without a class; SN_NO_REGISTER for others. The library has one name for both words of the x87 unit. */
static uint8_t single_control_register(ZydisRegister reg) {
    switch (reg) {
    case ZYDIS_REGISTER_X87CONTROL: return SN_CONTROL_X87_CONTROL;
    case ZYDIS_REGISTER_X87STATUS: return SN_CONTROL_X87_STATUS;
    case ZYDIS_REGISTER_MXCSR: return SN_CONTROL_VECTOR;
    case ZYDIS_REGISTER_XCR0: return SN_CONTROL_ENABLED_STATE;
    default: return SN_NO_REGISTER;
    }
}

static void set_register(sn_operand *operand, ZydisRegister reg) {
    int number = sn_zydis_general_register(reg);
    operand->place = SN_PLACE_CONTROL;
    if (number >= 0) {
        operand->place = SN_PLACE_GENERAL;
        operand->reg = (uint8_t)number;
        operand->displacement = reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH;
        return;
    }
    operand->reg = single_control_register(reg);
    ZydisRegisterClass class = ZydisRegisterGetClass(reg);
    if (class == ZYDIS_REGCLASS_FLAGS)
        operand->place = SN_PLACE_FLAGS;
    for (unsigned i = 0; i < sizeof register_places / sizeof register_places[0]; i++) {
        if (register_places[i].class == class) {
            operand->place = register_places[i].place;
            operand->reg = (uint8_t)(register_places[i].first + ZydisRegisterGetId(reg));
        }
    }
}

/** The instruction pointer, and the mask register 0 that stands for no mask. */
static bool is_no_operand(const ZydisDecodedOperand *from) {
    return ZydisRegisterGetClass(from->reg.value) == ZYDIS_REGCLASS_IP ||
           (from->encoding == ZYDIS_OPERAND_ENCODING_MASK && from->reg.value == ZYDIS_REGISTER_K0);
}

/** The library has moves of the x87 unit's control and status word write the status word, all of them. */
static void correct_x87_word(const sn_listing *l, sn_operand *operand) {
    bool is_control = l->z.mnemonic == ZYDIS_MNEMONIC_FLDCW || l->z.mnemonic == ZYDIS_MNEMONIC_FNSTCW;
    bool is_store = l->z.mnemonic == ZYDIS_MNEMONIC_FNSTCW || l->z.mnemonic == ZYDIS_MNEMONIC_FNSTSW;
    if (is_control) operand->reg = SN_CONTROL_X87_CONTROL;
    if (is_store) operand->role = SN_ROLE_READ;
}

static void add_register(sn_listing *l, const ZydisDecodedOperand *from) {
    if (is_no_operand(from))
        return;
    sn_operand *operand = add_from(l, from);
    if (!operand)
        return;
    set_register(operand, from->reg.value);
    if (l->z.meta.category == ZYDIS_CATEGORY_NOP || l->z.meta.category == ZYDIS_CATEGORY_WIDENOP)
        operand->role = SN_ROLE_ADDRESS; /* named, and neither read nor written */
    if (from->reg.value == ZYDIS_REGISTER_X87STATUS)
        correct_x87_word(l, operand);
    if (l->z.mnemonic == ZYDIS_MNEMONIC_XLAT)
        operand->role = SN_ROLE_BOTH; /* al is index and result */
    if (operand->place == SN_PLACE_VECTOR && (operand->role & SN_ROLE_WRITTEN) && has_mask_register(l))
        operand->is_conditional = true;
}

/** A register that the library hides inside an address: the index of a gather, the row distance of a tile. */
static void add_address_register(sn_listing *l, ZydisRegister reg) {
    sn_operand *operand = add(l);
    if (!operand)
        return;
    operand->role = SN_ROLE_READ;
    operand->is_explicit = true;
    operand->size = (uint32_t)ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, reg) / 8u;
    set_register(operand, reg);
    operand->element_size = (uint16_t)operand->size;
    if (operand->place == SN_PLACE_VECTOR) /* the opcode's lowest bit tells 4-byte from 8-byte indices */
        operand->element_size = l->z.opcode & 1 ? 8 : 4;
    operand->element_count = (uint16_t)(operand->size / operand->element_size);
}

/* -------------------------------------------------------------------------- memory */

static uint8_t address_register(ZydisRegister reg) {
    int number = sn_zydis_general_register(reg);
    return number < 0 ? SN_NO_REGISTER : (uint8_t)number;
}

static void set_address(const sn_listing *l, sn_operand *operand, const ZydisDecodedOperand *from) {
    const ZydisDecodedOperandMem *memory = &from->mem;
    operand->base = address_register(memory->base);
    operand->index = address_register(memory->index);
    operand->scale = operand->index == SN_NO_REGISTER ? 0 : memory->scale;
    operand->displacement = memory->disp.value;
    if (memory->base == ZYDIS_REGISTER_RIP || memory->base == ZYDIS_REGISTER_EIP)
        operand->displacement += (int64_t)(l->insn->pc + l->insn->length);
    if (memory->base == ZYDIS_REGISTER_EIP)
        operand->displacement &= 0xffffffff;
    if (memory->segment == ZYDIS_REGISTER_FS)
        operand->segment = SN_SEGMENT_FS;
    else if (memory->segment == ZYDIS_REGISTER_GS)
        operand->segment = SN_SEGMENT_GS;
}

/** Stores to where a register operand says, not to what its own bytes say. */
static bool stores_to_register_operand(const sn_listing *l) {
    switch (l->z.mnemonic) {
    case ZYDIS_MNEMONIC_MOVDIR64B:
    case ZYDIS_MNEMONIC_ENQCMD:
    case ZYDIS_MNEMONIC_ENQCMDS: return true;
    default: return false;
    }
}

/** Pushes write below the stack pointer, and pop computes its own address after the stack pointer has moved. */
static void adjust_stack(const sn_listing *l, sn_operand *operand) {
    if (operand->base != NUMBER_RSP || stores_to_register_operand(l))
        return;
    if (!operand->is_explicit && operand->role == SN_ROLE_WRITTEN)
        operand->displacement -= operand->size;
    else if (operand->is_explicit && l->z.mnemonic == ZYDIS_MNEMONIC_POP)
        operand->displacement += operand->size;
}

/** As many elements as both the data and the indices have room for. */
static void set_gather_size(const sn_listing *l, sn_operand *operand) {
    unsigned index_size = l->z.opcode & 1 ? 8 : 4;
    unsigned wider = operand->element_size > index_size ? operand->element_size : index_size;
    operand->element_count = (uint16_t)(l->z.avx.vector_length / 8u / wider);
    operand->size = (uint32_t)operand->element_size * operand->element_count;
    operand->is_conditional = true;
}

static void set_special_size(const sn_listing *l, sn_operand *operand, const ZydisDecodedOperand *from) {
    if (from->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
        set_gather_size(l, operand);
    if (masks_bytes(l)) {
        operand->element_size = 1;
        operand->element_count = (uint16_t)operand->size;
    }
    if (l->z.mnemonic == ZYDIS_MNEMONIC_XLAT) { /* one of 256 bytes: al is no index register */
        operand->size = operand->element_count = 256;
        operand->is_conditional = true;
    }
    if ((varies_in_size(l) && l->z.mnemonic != ZYDIS_MNEMONIC_LDTILECFG &&
         l->z.mnemonic != ZYDIS_MNEMONIC_STTILECFG) || reaches_by_bit_number(l)) {
        operand->size = 0;
        operand->element_count = 0;
        operand->element_size = varies_in_size(l) ? 1 : operand->element_size;
        operand->is_conditional = true;
    }
    if (operand->role == SN_ROLE_ADDRESS)
        operand->size = operand->element_size = operand->element_count = 0;
}

static void add_memory(sn_listing *l, const ZydisDecodedOperand *from) {
    sn_operand *operand = add_from(l, from);
    if (!operand)
        return;
    operand->place = SN_PLACE_MEMORY;
    if (from->mem.type == ZYDIS_MEMOP_TYPE_AGEN || is_address_only(l))
        operand->role = SN_ROLE_ADDRESS;
    else if (is_masked_move(l) || is_masked(l, operand) || l->insn->repeated)
        operand->is_conditional = true;
    set_address(l, operand, from);
    bool tile_rows = l->z.meta.category == ZYDIS_CATEGORY_AMX_TILE;
    if (tile_rows) {
        operand->index = SN_NO_REGISTER;
        operand->scale = 0;
    }
    adjust_stack(l, operand);
    set_special_size(l, operand, from);
    if (from->mem.type == ZYDIS_MEMOP_TYPE_VSIB || (tile_rows && from->mem.index != ZYDIS_REGISTER_NONE))
        add_address_register(l, from->mem.index);
}

/* ---------------------------------------------------------------------- immediates */

static void add_immediate(sn_listing *l, const ZydisDecodedOperand *from) {
    sn_operand *operand = add_from(l, from);
    if (!operand)
        return;
    operand->place = SN_PLACE_IMMEDIATE;
    operand->immediate = from->imm.value.s;
    if (from->imm.is_relative)
        operand->immediate += (int64_t)(l->insn->pc + l->insn->length);
}

/* -------------------------------------------------------------------- whole lists */

static void add_operand(sn_listing *l, const ZydisDecodedOperand *from) {
    switch (from->type) {
    case ZYDIS_OPERAND_TYPE_REGISTER: add_register(l, from); break;
    case ZYDIS_OPERAND_TYPE_MEMORY: add_memory(l, from); break;
    case ZYDIS_OPERAND_TYPE_IMMEDIATE: add_immediate(l, from); break;
    default: break; /* far pointers: not in 64-bit mode */
    }
}

static void add_operands(sn_listing *l, bool hidden) {
    for (unsigned i = 0; i < l->z.operand_count; i++)
        if ((l->from[i].visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN) == hidden)
            add_operand(l, &l->from[i]);
}

/** An implicit general register in the list, added when it is not there. */
static void require_general(sn_listing *l, uint8_t number, uint8_t role) {
    sn_operand *operand = NULL;
    for (unsigned i = 0; i < l->count; i++)
        if (l->to[i].place == SN_PLACE_GENERAL && l->to[i].reg == number && !l->to[i].is_explicit)
            operand = &l->to[i];
    if (!operand)
        operand = add(l);
    if (!operand)
        return;
    operand->place = SN_PLACE_GENERAL;
    operand->reg = number;
    operand->role = role;
    operand->is_conditional = l->insn->repeated;
    operand->size = operand->element_size = 8;
    operand->element_count = 1;
}

/** The library lists the pointers of some string instructions only. */
static void complete_string(sn_listing *l) {
    unsigned count = l->count;
    for (unsigned i = 0; i < count; i++)
        if (l->to[i].place == SN_PLACE_MEMORY && l->to[i].base != SN_NO_REGISTER)
            require_general(l, l->to[i].base, SN_ROLE_BOTH);
    if (l->insn->repeated)
        require_general(l, NUMBER_RCX, SN_ROLE_BOTH);
}

/** enter at a nesting level pushes the frame pointers of the levels around it: those it reads, and its own. */
static void complete_enter(sn_listing *l) {
    unsigned level = l->insn->bytes[l->insn->length - 1] & 31;
    if (level == 0)
        return;
    for (unsigned i = 0; i < l->count; i++) {
        sn_operand *operand = &l->to[i];
        if (operand->place == SN_PLACE_MEMORY && operand->base == NUMBER_RSP) {
            operand->element_count = (uint16_t)(level + 1);
            operand->size = operand->element_count * (uint32_t)operand->element_size;
            operand->displacement = -(int64_t)operand->size;
        }
    }
    sn_operand *frames = level > 1 ? add(l) : NULL;
    if (!frames)
        return;
    frames->role = SN_ROLE_READ;
    frames->place = SN_PLACE_MEMORY;
    frames->base = NUMBER_RBP;
    frames->element_size = (uint16_t)(l->z.operand_width / 8u);
    frames->element_count = (uint16_t)(level - 1);
    frames->size = frames->element_count * (uint32_t)frames->element_size;
    frames->displacement = -(int64_t)frames->size;
}

int sn_operands(const sn_insn *insn, sn_operand *operands, unsigned capacity) {
    sn_listing l = {.insn = insn, .to = operands, .capacity = capacity};
    if (!sn_zydis_decode(insn->bytes, insn->length, &l.z, l.from))
        return -1;
    add_operands(&l, false);
    add_operands(&l, true);
    if (is_string(&l))
        complete_string(&l);
    if (l.z.mnemonic == ZYDIS_MNEMONIC_ENTER)
        complete_enter(&l);
    return (int)l.count;
}

sn_instruction_kind sn_kind_of(const sn_insn *insn) {
    static const uint8_t kinds[] = {
        [SN_INSN_PLAIN] = SN_KIND_OTHER,
        [SN_INSN_JUMP] = SN_KIND_JUMP,
        [SN_INSN_CONDITIONAL] = SN_KIND_CONDITIONAL,
        [SN_INSN_LOOP] = SN_KIND_CONDITIONAL,
        [SN_INSN_CALL] = SN_KIND_CALL,
        [SN_INSN_JUMP_INDIRECT] = SN_KIND_JUMP_INDIRECT,
        [SN_INSN_CALL_INDIRECT] = SN_KIND_CALL_INDIRECT,
        [SN_INSN_RETURN] = SN_KIND_RETURN,
        [SN_INSN_FAR_BRANCH] = SN_KIND_JUMP_INDIRECT,
        [SN_INSN_SYSCALL] = SN_KIND_SYSCALL,
        [SN_INSN_INTERRUPT] = SN_KIND_TRAP,
        [SN_INSN_BREAKPOINT] = SN_KIND_TRAP,
        [SN_INSN_UNDEFINED] = SN_KIND_TRAP,
        [SN_INSN_TRANSACTION_BEGIN] = SN_KIND_OTHER,
        [SN_INSN_READ_SEGMENT_BASE] = SN_KIND_OTHER,
        [SN_INSN_WRITE_SEGMENT_BASE] = SN_KIND_OTHER,
        [SN_INSN_WRITE_SEGMENT] = SN_KIND_OTHER,
    };
    return (sn_instruction_kind)kinds[insn->class];
}
