/**
 * @fileoverview Whether a function keeps data below the stack pointer, where the System V ABI (AMD64 supplement, 3.2.2: the red zone)
 * lets functions that call none do so without moving the stack pointer. Per-architecture file.
 *
 * The code is gone through from the function's first instruction to where it ends: behind a jump or return that no branch goes over.
 */
#include <string.h>

#include "isa/isa.h"
#include "isa/x86_64/emit.h"

enum { MOST_INSTRUCTIONS = 1000, SIB = 4, WORD = 8 };

/** A function's frame: depths are bytes below the stack pointer that it begins with. */
typedef struct frame {
    int64_t depth, deepest; /**< of the stack pointer */
    int64_t pointer;        /**< of the frame pointer; -1: it is none */
    int64_t used;           /**< the deepest that is accessed by one of the two */
} frame;

static unsigned modrm_of(const sn_insn *insn) { return insn->bytes[insn->modrm_offset]; }
static unsigned opcode_of(const sn_insn *insn) { return insn->bytes[insn->opcode_offset]; }
static bool has_base_bit(const sn_insn *insn) { return insn->rex_offset && insn->bytes[insn->rex_offset - 1] & 1; }

static int64_t signed_at(const sn_insn *insn, unsigned offset, unsigned size) {
    int32_t word;
    if (size == 1) return (int8_t)insn->bytes[offset];
    memcpy(&word, insn->bytes + offset, sizeof word);
    return word;
}

/** The base register of a memory operand whose address is that and a displacement (an index may come on top): SN_RSP, SN_RBP or neither. */
static int base_of(const sn_insn *insn) {
    unsigned low = modrm_of(insn) & 7, mode = modrm_of(insn) >> 6;
    if (insn->encoding >= 2) return -1; /* VEX3 and EVEX: the bit is elsewhere */
    if (low == SIB && mode != 3) low = insn->bytes[insn->modrm_offset + 1] & 7;
    bool is_register = low == SN_RSP || (low == SN_RBP && mode != 0);
    return is_register && !has_base_bit(insn) ? (int)low : -1;
}

static void note_access(frame *f, const sn_insn *insn) {
    if (!insn->modrm_offset || !insn->memory || insn->rip_relative || insn->displacement_size == 0) return;
    int base = base_of(insn);
    int64_t below = -signed_at(insn, insn->displacement_offset, insn->displacement_size);
    if (insn->encoding == 3 || below <= 0 || base < 0) return; /* EVEX has scaled displacements */
    int64_t from = base == SN_RSP ? f->depth : f->pointer;
    if (from >= 0 && from + below > f->used) f->used = from + below;
}

/** What moves the two pointers in the ways of compilers' prologues. */
static void note_move(frame *f, const sn_insn *insn) {
    unsigned opcode = opcode_of(insn), modrm = insn->modrm_offset ? modrm_of(insn) : 0;
    bool is_plain = insn->encoding == 0 && !has_base_bit(insn);
    if (insn->encoding == 0 && opcode >= 0x50 && opcode < 0x58) f->depth += WORD;                       /* push */
    else if (insn->encoding == 0 && opcode >= 0x58 && opcode < 0x60) f->depth -= WORD;                  /* pop */
    else if (is_plain && (opcode == 0x81 || opcode == 0x83) && modrm == 0xec)                           /* sub, esp */
        f->depth += signed_at(insn, insn->length - insn->immediate_size, opcode == 0x83 ? 1 : 4);
    else if (is_plain && (opcode == 0x81 || opcode == 0x83) && modrm == 0xc4)                           /* add, esp */
        f->depth -= signed_at(insn, insn->length - insn->immediate_size, opcode == 0x83 ? 1 : 4);
    else if (is_plain && opcode == 0x89 && modrm == 0xe5) f->pointer = f->depth;                        /* mov to ebp of esp */
    else if (insn->encoding == 0 && opcode == 0xc9) f->depth = f->pointer >= 0 ? f->pointer - WORD : 0; /* leave */
    if (f->depth > f->deepest) f->deepest = f->depth;
}

static bool ends_way(const sn_insn *insn) {
    return insn->class == SN_INSN_RETURN || insn->class == SN_INSN_JUMP || insn->class == SN_INSN_JUMP_INDIRECT || insn->class == SN_INSN_UNDEFINED;
}

bool sn_uses_below_stack(const uint8_t *code, size_t size, uint64_t pc) {
    frame f = {.pointer = -1};
    uint64_t furthest = pc, end = pc + size;
    for (unsigned i = 0; i < MOST_INSTRUCTIONS && pc < end; i++) {
        sn_insn insn;
        if (!sn_decode(code + size - (end - pc), end - pc, pc, &insn)) break;
        if (insn.class == SN_INSN_CALL || insn.class == SN_INSN_CALL_INDIRECT) return false;
        note_access(&f, &insn);
        note_move(&f, &insn);
        bool branches = insn.class == SN_INSN_CONDITIONAL || insn.class == SN_INSN_LOOP || insn.class == SN_INSN_JUMP;
        if (branches && insn.target > furthest && insn.target < end) furthest = insn.target;
        pc += insn.length;
        if (ends_way(&insn) && pc > furthest) break;
        if (ends_way(&insn)) f.depth = f.deepest; /* on behind it as in the body */
    }
    return f.used > f.deepest;
}
