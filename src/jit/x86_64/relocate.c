/**
 * @fileoverview Instructions whose memory operand cannot stay as it is: relative to the instruction pointer, and perhaps out of reach,
 * or through the second segment base, which is the engine's. Per-architecture file, a part of the emitter (emit_parts.h).
 */
#include <string.h>

#include "jit/x86_64/emit_parts.h"

static uint64_t rip_target(const sn_insn *insn) {
    int32_t displacement;
    memcpy(&displacement, insn->bytes + insn->displacement_offset, 4);
    return insn->pc + insn->length + (uint64_t)(int64_t)displacement;
}

static bool reaches(uint64_t from, uint64_t to) { return (uint64_t)(int64_t)(int32_t)(to - from) == to - from; }

/** The instruction with its displacement adjusted to where it now lies. */
static void emit_moved(builder *b, const sn_insn *insn) {
    uint8_t bytes[16];
    memcpy(bytes, insn->bytes, insn->length);
    if (insn->rip_relative) {
        int32_t displacement = (int32_t)(rip_target(insn) - (sn_emit_address(&b->e) + insn->length));
        memcpy(bytes + insn->displacement_offset, &displacement, 4);
    }
    sn_emit_bytes(&b->e, bytes, insn->length);
}

static bool is_segment_prefix(uint8_t byte) {
    return byte == 0x65 || byte == 0x64 || byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x26;
}

/** ModRM, SIB and displacement of the client's memory operand with another register field; RIP-relative adjusted so
    that the instruction may end `tail` bytes behind them. */
void sn_emit_memory_operand(builder *b, const sn_insn *insn, unsigned reg) {
    uint8_t modrm = insn->bytes[insn->modrm_offset];
    sn_emit8(&b->e, (uint8_t)((modrm & 0xc7) | (reg & 7) << 3));
    if (insn->rip_relative) {
        sn_emit32(&b->e, (uint32_t)(rip_target(insn) - (sn_emit_address(&b->e) + 4)));
        return;
    }
    unsigned from = insn->modrm_offset + 1u;
    bool has_sib = (modrm & 7) == 4;
    sn_emit_bytes(&b->e, insn->bytes + from, (unsigned)has_sib + insn->displacement_size);
}

/** EVEX counts an 8-bit displacement in units of the operand (Intel SDM volume 2, 2.7.5): the decoding library knows
    which. */
static int32_t evex_displacement(const sn_insn *insn) {
    sn_operand operands[SN_MOST_OPERANDS];
    int count = sn_operands(insn, operands, SN_MOST_OPERANDS);
    for (int i = 0; i < count; i++)
        if (operands[i].place == SN_PLACE_MEMORY) return (int32_t)operands[i].displacement;
    return 0;
}

/** Prefixes and REX for an instruction of ours that uses the client's memory operand. */
void sn_emit_memory_prefixes(builder *b, const sn_insn *insn, bool keep_segment, unsigned reg) {
    for (unsigned i = 0; i < insn->prefix_length; i++) {
        uint8_t byte = insn->bytes[i];
        if (byte == 0x67 || (keep_segment && is_segment_prefix(byte))) sn_emit8(&b->e, byte);
    }
    unsigned extension = 0; /* REX.X and REX.B of the original */
    if (insn->encoding == 0) {
        if (insn->rex_offset) extension = insn->bytes[insn->rex_offset - 1] & 3;
    } else if (insn->encoding >= 2) {
        /* VEX3 and EVEX keep them inverted in the first payload byte. */
        extension = (unsigned)(~insn->bytes[insn->opcode_offset - (insn->encoding == 3 ? 3 : 2)] >> 5) & 3;
    }
    sn_emit8(&b->e, (uint8_t)(0x48 | (reg >= 8 ? 4 : 0) | extension));
}

/** After a lea with an EVEX operand's 8-bit displacement. */
static void emit_true_displacement(builder *b, const sn_insn *insn, unsigned reg) {
    if (!b->e.overflowed) b->e.cursor[-1] = 0;
    sn_emit_add_displacement(&b->e, reg, reg, evex_displacement(insn));
}

/** lea reg, [client's operand] without its segment */
static void emit_load_address(builder *b, const sn_insn *insn, unsigned reg) {
    if (insn->rip_relative) {
        sn_emit_load_constant(&b->e, reg, rip_target(insn));
        return;
    }
    sn_emit_memory_prefixes(b, insn, false, reg);
    sn_emit8(&b->e, 0x8d);
    sn_emit_memory_operand(b, insn, reg);
    if (insn->encoding == 3 && insn->displacement_size == 1)
        /* The one byte just written is wrong: make it nothing, and add the true displacement. */
        emit_true_displacement(b, insn, reg);
}

/** The client's instruction with its memory operand replaced by [reg], reg one of the first eight and neither the
    stack nor the frame pointer. */
static void emit_with_base(builder *b, const sn_insn *insn, unsigned reg) {
    bool segment_too = insn->segment != SN_SEGMENT_FS;
    for (unsigned i = 0; i < insn->prefix_length; i++) {
        uint8_t byte = insn->bytes[i];
        if (byte == 0x67 || (segment_too && (byte == 0x65 || byte == 0x64))) continue;
        sn_emit8(&b->e, byte);
    }
    uint8_t body[16];
    unsigned from = insn->prefix_length, length = (unsigned)insn->modrm_offset - from;
    memcpy(body, insn->bytes + from, length);
    if (insn->encoding == 0 && insn->rex_offset) body[0] &= 0xfc;
    if (insn->encoding >= 2) body[1] |= 0x60;
    sn_emit_bytes(&b->e, body, length);
    sn_emit8(&b->e, (uint8_t)((insn->bytes[insn->modrm_offset] & 0x38) | reg));
    unsigned tail = insn->immediate_size;
    sn_emit_bytes(&b->e, insn->bytes + insn->length - tail, tail);
}

/** Two registers that the instruction has nothing to do with; the first can be encoded as a base without extension. */
static bool find_scratch(const sn_insn *insn, unsigned scratch[2]) {
    sn_insn exact = *insn;
    if ((insn->registers_touched & 0xff) == 0xff) sn_decode_slowly(insn->bytes, insn->length, insn->pc, &exact);
    unsigned found = 0;
    static const uint8_t candidates[] = {SN_RAX, SN_RDX, SN_RSI, SN_RDI, SN_RBX, SN_RCX, SN_RBP, SN_R8, SN_R9, SN_R10};
    for (unsigned i = 0; i < sizeof candidates && found < 2; i++)
        if (!(exact.registers_touched >> candidates[i] & 1)) scratch[found++] = candidates[i];
    return found == 2 && scratch[0] < SN_R8 && scratch[0] != SN_RBP;
}

/** scratch = address of the client's operand in the flat address space, its second register being free for use */
void sn_emit_flat_address(builder *b, const sn_insn *insn, unsigned scratch, unsigned second) {
    emit_load_address(b, insn, scratch);
    if (insn->segment != SN_SEGMENT_GS) return;
    sn_emit_load_thread(&b->e, second, SN_THREAD_CLIENT_BASE2);
    sn_emit_add_registers(&b->e, scratch, scratch, second);
}

static void emit_through_scratch(builder *b, const sn_insn *insn) {
    unsigned scratch[2];
    if (!insn->memory || !find_scratch(insn, scratch)) {
        sn_emit_special_exit(b, insn->pc, SN_MARK_REFUSED);
        return;
    }
    uint8_t spilled = SN_SPILLED(scratch[0], scratch[1]);
    sn_builder_boundary(b, insn->pc);
    sn_emit_store_thread(&b->e, scratch[0], SPILL(0));
    sn_emit_store_thread(&b->e, scratch[1], SPILL(1));
    sn_builder_place(b, SN_PLACE_INSIDE, insn->pc, spilled);
    sn_emit_flat_address(b, insn, scratch[0], scratch[1]);
    emit_with_base(b, insn, scratch[0]);
    sn_builder_place(b, SN_PLACE_INSIDE, insn->pc + insn->length, spilled);
    sn_emit_load_thread(&b->e, scratch[1], SPILL(1));
    sn_emit_load_thread(&b->e, scratch[0], SPILL(0));
}

/** How an instruction without ModRM operand reaches memory through the second segment base. */
typedef struct implicit_access {
    uint8_t opcode;
    uint8_t escape;  /**< 0x0f, or 0 */
    uint8_t reg;     /**< the register that holds the address */
} implicit_access;

static const implicit_access implicit_accesses[] = {
    {0xa4, 0, SN_RSI}, {0xa5, 0, SN_RSI}, {0xa6, 0, SN_RSI},    {0xa7, 0, SN_RSI}, {0xac, 0, SN_RSI},
    {0xad, 0, SN_RSI}, {0xd7, 0, SN_RBX}, {0xf7, 0x0f, SN_RDI}, {0x6e, 0, SN_RSI}, {0x6f, 0, SN_RSI},
};

static const implicit_access *find_implicit(const sn_insn *insn) {
    uint8_t first = insn->bytes[insn->opcode_offset];
    bool escaped = insn->encoding == 0 && first == 0x0f;
    uint8_t opcode = escaped ? insn->bytes[insn->opcode_offset + 1] : first;
    /* VEX moves the escape byte into the prefix; there is one such instruction here (vmaskmovdqu). */
    bool wide = escaped || insn->encoding != 0;
    for (size_t i = 0; i < sizeof implicit_accesses / sizeof *implicit_accesses; i++)
        if (implicit_accesses[i].opcode == opcode && (implicit_accesses[i].escape != 0) == wide)
            return &implicit_accesses[i];
    return NULL;
}

/** reg += base, or -= base, by way of the first register that is not reg. */
static void emit_change_base(builder *b, unsigned reg, bool add) {
    unsigned scratch = SN_RAX;
    sn_emit_store_thread(&b->e, scratch, SPILL(2));
    sn_emit_load_thread(&b->e, scratch, SN_THREAD_CLIENT_BASE2);
    if (!add) sn_emit_bytes(&b->e, "\x48\xf7\xd0", 3); /* not %rax */
    sn_emit_add_registers(&b->e, reg, reg, scratch);
    if (!add) sn_emit_add_displacement(&b->e, reg, reg, 1);
    sn_emit_load_thread(&b->e, scratch, SPILL(2));
}

/** String instructions and the like: the base is added to the address register around them. */
static void emit_with_base_added(builder *b, const sn_insn *insn, unsigned reg) {
    sn_builder_boundary(b, insn->pc);
    emit_change_base(b, reg, true);
    sn_builder_place(b, SN_PLACE_INSIDE, insn->pc, SN_BASE_ADDED(reg));
    for (unsigned i = 0; i < insn->length; i++)
        if (i >= insn->prefix_length || insn->bytes[i] != 0x65) sn_emit8(&b->e, insn->bytes[i]);
    sn_builder_inside(b, insn->pc);
    emit_change_base(b, reg, false);
}

/** mov between the accumulator and an absolute address: the same through a register. */
static void emit_absolute_move(builder *b, const sn_insn *insn) {
    uint8_t opcode = insn->bytes[insn->opcode_offset];
    uint64_t address = 0;
    memcpy(&address, insn->bytes + insn->displacement_offset, insn->displacement_size);
    sn_builder_boundary(b, insn->pc);
    sn_emit_store_thread(&b->e, SN_RCX, SPILL(0));
    sn_emit_store_thread(&b->e, SN_RDX, SPILL(1));
    sn_builder_place(b, SN_PLACE_INSIDE, insn->pc, SN_SPILLED(SN_RCX, SN_RDX));
    sn_emit_load_constant(&b->e, SN_RCX, address);
    sn_emit_load_thread(&b->e, SN_RDX, SN_THREAD_CLIENT_BASE2);
    sn_emit_add_registers(&b->e, SN_RCX, SN_RCX, SN_RDX);
    for (unsigned i = 0; i < insn->opcode_offset; i++)
        if (insn->bytes[i] != 0x65 && insn->bytes[i] != 0x67) sn_emit8(&b->e, insn->bytes[i]);
    static const uint8_t by_register[] = {0x8a, 0x8b, 0x88, 0x89};
    sn_emit8(&b->e, by_register[opcode & 3]);
    sn_emit8(&b->e, 0x01); /* (%rcx) */
    sn_builder_place(b, SN_PLACE_INSIDE, insn->pc + insn->length, SN_SPILLED(SN_RCX, SN_RDX));
    sn_emit_load_thread(&b->e, SN_RDX, SPILL(1));
    sn_emit_load_thread(&b->e, SN_RCX, SPILL(0));
}

/** Gathers and scatters: their index is a vector register. */
static bool has_vector_index(const sn_insn *insn) {
    if (insn->encoding < 2 || !insn->memory || (insn->bytes[insn->modrm_offset] & 7) != 4) return false;
    unsigned map = insn->bytes[insn->opcode_offset - (insn->encoding == 3 ? 3 : 2)] & (insn->encoding == 3 ? 7 : 31);
    uint8_t opcode = insn->bytes[insn->opcode_offset];
    bool gathers = (opcode & 0xfc) == 0x90 || (opcode & 0xfc) == 0xa0;
    return map == 2 && (gathers || (insn->encoding == 3 && (opcode == 0xc6 || opcode == 0xc7)));
}

/** A gather through the second segment base: that base, plus the client's base register, becomes the base. */
static void emit_gather(builder *b, const sn_insn *insn) {
    unsigned scratch[2];
    if (!find_scratch(insn, scratch)) {
        sn_emit_special_exit(b, insn->pc, SN_MARK_REFUSED);
        return;
    }
    uint8_t modrm = insn->bytes[insn->modrm_offset], sib = insn->bytes[insn->modrm_offset + 1];
    bool no_base = (modrm & 0xc0) == 0 && (sib & 7) == SN_RBP;
    unsigned extended = ~insn->bytes[insn->opcode_offset - (insn->encoding == 3 ? 3 : 2)] >> 5 & 1;
    unsigned base = (sib & 7u) | (extended ? 8u : 0u);
    uint8_t spilled = SN_SPILLED(scratch[0], scratch[1]);
    sn_builder_boundary(b, insn->pc);
    sn_emit_store_thread(&b->e, scratch[0], SPILL(0));
    sn_emit_store_thread(&b->e, scratch[1], SPILL(1));
    sn_builder_place(b, SN_PLACE_INSIDE, insn->pc, spilled);
    sn_emit_load_thread(&b->e, scratch[0], SN_THREAD_CLIENT_BASE2);
    if (!no_base) {
        sn_emit_move(&b->e, scratch[1], base);
        sn_emit_add_registers(&b->e, scratch[0], scratch[0], scratch[1]);
    }
    for (unsigned i = 0; i < insn->length; i++) {
        uint8_t byte = insn->bytes[i];
        if (i < insn->prefix_length && (byte == 0x65 || byte == 0x67)) continue;
        if (i == insn->opcode_offset - (insn->encoding == 3 ? 3u : 2u)) byte |= 0x20; /* no extension of the base */
        if (i == insn->modrm_offset && no_base) byte = (uint8_t)((byte & 0x3f) | 0x80);
        if (i == insn->modrm_offset + 1u) byte = (uint8_t)((byte & 0xf8) | scratch[0]);
        sn_emit8(&b->e, byte);
    }
    sn_builder_place(b, SN_PLACE_INSIDE, insn->pc + insn->length, spilled);
    sn_emit_load_thread(&b->e, scratch[1], SPILL(1));
    sn_emit_load_thread(&b->e, scratch[0], SPILL(0));
}

static void emit_relocated(builder *b, const sn_insn *insn) {
    const implicit_access *implicit = insn->memory ? NULL : find_implicit(insn);
    bool absolute = insn->encoding == 0 && (insn->bytes[insn->opcode_offset] & 0xfc) == 0xa0;
    if (has_vector_index(insn)) emit_gather(b, insn);
    else if (implicit) emit_with_base_added(b, insn, implicit->reg);
    else if (!insn->memory && absolute) emit_absolute_move(b, insn);
    else emit_through_scratch(b, insn);
}

/** lea computes an address without its segment. */
static bool is_load_address(const sn_insn *insn) {
    return insn->encoding == 0 && insn->bytes[insn->opcode_offset] == 0x8d;
}

bool sn_builder_can_stay(const builder *b, const sn_insn *insn) {
    if (insn->segment == SN_SEGMENT_GS && !is_load_address(insn)) return false;
    /* 32 bytes of slack: a block is not longer than the distance that this could be wrong by. */
    return !insn->rip_relative || reaches(sn_emit_address(&b->e) + 32, rip_target(insn));
}

static bool pops_flags(const sn_insn *insn) {
    enum { POP_FLAGS = 0x9d };
    return insn->encoding == 0 && insn->bytes[insn->opcode_offset] == POP_FLAGS;
}

/** The instruction may set the trap flag, whose first trap comes behind the next one: where that is must be known. */
static void emit_pop_flags(builder *b, const sn_insn *insn) {
    uint64_t next = insn->pc + insn->length;
    sn_builder_boundary(b, insn->pc);
    sn_emit_store_thread_constant32(&b->e, SN_THREAD_STEPPED_TO, (uint32_t)next);
    sn_emit_store_thread_constant32(&b->e, SN_THREAD_STEPPED_TO + 4, (uint32_t)(next >> 32));
    sn_emit_bytes(&b->e, insn->bytes, insn->length);
}

void sn_emit_plain(builder *b, const sn_insn *insn) {
    if (pops_flags(insn)) {
        emit_pop_flags(b, insn);
    } else if (sn_builder_can_stay(b, insn)) {
        sn_builder_place(b, SN_PLACE_VERBATIM, insn->pc, NOTHING_SPILLED);
        emit_moved(b, insn);
    } else {
        emit_relocated(b, insn);
    }
}
