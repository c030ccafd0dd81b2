/**
 * @fileoverview Writing x86-64 code, continued: the instructions that analysis code is lowered to.
 *
 * Used by jit/x86_64/lower.c only.
 */
#ifndef SONDE_ISA_X86_64_EMIT_ANALYSIS_H
#define SONDE_ISA_X86_64_EMIT_ANALYSIS_H

#include "isa/x86_64/emit.h"

/** ModRM, SIB and displacement of [base + displacement]. */
static inline void sn_emit_based(sn_emitter *e, unsigned reg, unsigned base, int32_t displacement) {
    bool zero = displacement == 0 && (base & 7) != SN_RBP, small = displacement == (int8_t)displacement;
    unsigned mode = zero ? 0 : small ? 0x40 : 0x80;
    sn_emit8(e, (uint8_t)(mode | (reg & 7) << 3 | (base & 7)));
    if ((base & 7) == SN_RSP) sn_emit8(e, 0x24);
    if (zero) return;
    if (small) sn_emit8(e, (uint8_t)displacement);
    else sn_emit32(e, (uint32_t)displacement);
}

static inline void sn_emit_rex(sn_emitter *e, bool wide, unsigned reg, unsigned index, unsigned base) {
    sn_emit8(e, (uint8_t)(0x40 | wide << 3 | (reg >= 8) << 2 | (index >= 8) << 1 | (base >= 8)));
}

/** reg = zero-extended size bytes at [base + displacement] */
static inline void sn_emit_load(sn_emitter *e, unsigned reg, unsigned base, int32_t displacement, unsigned size) {
    sn_emit_rex(e, size == 8, reg, 0, base);
    if (size < 4) sn_emit8(e, 0x0f);
    sn_emit8(e, size >= 4 ? 0x8b : size == 2 ? 0xb7 : 0xb6);
    sn_emit_based(e, reg, base, displacement);
}

/** reg = zero-extended size bytes at [base + index + displacement]; index is not the stack pointer */
static inline void sn_emit_load_at_sum(sn_emitter *e, unsigned reg, unsigned base, unsigned index, int32_t displacement, unsigned size) {
    bool zero = displacement == 0 && (base & 7) != SN_RBP, small = displacement == (int8_t)displacement;
    sn_emit_rex(e, size == 8, reg, index, base);
    if (size < 4) sn_emit8(e, 0x0f);
    sn_emit8(e, size >= 4 ? 0x8b : size == 2 ? 0xb7 : 0xb6);
    sn_emit8(e, (uint8_t)((zero ? 0 : small ? 0x40 : 0x80) | (reg & 7) << 3 | 4));
    sn_emit8(e, (uint8_t)((index & 7) << 3 | (base & 7)));
    if (zero) return;
    if (small) sn_emit8(e, (uint8_t)displacement);
    else sn_emit32(e, (uint32_t)displacement);
}

/** test dword thread[offset], bits */
static inline void sn_emit_test_thread(sn_emitter *e, uint32_t offset, uint32_t bits) {
    sn_emit8(e, 0x65);
    sn_emit8(e, 0xf7);
    sn_emit_thread_operand(e, 0, offset);
    sn_emit32(e, bits);
}

static inline void sn_emit_store(sn_emitter *e, unsigned reg, unsigned base, int32_t displacement, unsigned size) {
    if (size == 2) sn_emit8(e, 0x66);
    sn_emit_rex(e, size == 8, reg, 0, base);
    sn_emit8(e, size == 1 ? 0x88 : 0x89);
    sn_emit_based(e, reg, base, displacement);
}

/** Store a constant; for 8 bytes it is sign-extended. */
static inline void sn_emit_store_constant(sn_emitter *e, unsigned base, int32_t displacement, int32_t value, unsigned size) {
    if (size == 2) sn_emit8(e, 0x66);
    sn_emit_rex(e, size == 8, 0, 0, base);
    sn_emit8(e, size == 1 ? 0xc6 : 0xc7);
    sn_emit_based(e, 0, base, displacement);
    if (size == 1) sn_emit8(e, (uint8_t)value);
    else if (size == 2) sn_emit16(e, (uint16_t)value);
    else sn_emit32(e, (uint32_t)value);
}

/** cmp qword [base + displacement], value */
static inline void sn_emit_compare_memory_constant(sn_emitter *e, unsigned base, int32_t displacement, int32_t value) {
    bool small = value == (int8_t)value;
    sn_emit_rex(e, true, 0, 0, base);
    sn_emit8(e, small ? 0x83 : 0x81);
    sn_emit_based(e, 7, base, displacement);
    if (small) sn_emit8(e, (uint8_t)value);
    else sn_emit32(e, (uint32_t)value);
}

/** cmp qword [base + displacement], reg */
static inline void sn_emit_compare_memory(sn_emitter *e, unsigned base, int32_t displacement, unsigned reg) {
    sn_emit_rex(e, true, reg, 0, base);
    sn_emit8(e, 0x39);
    sn_emit_based(e, reg, base, displacement);
}

/** lea reg, [base + displacement] in its shortest form */
static inline void sn_emit_load_sum(sn_emitter *e, unsigned reg, unsigned base, int32_t displacement) {
    sn_emit_rex(e, true, reg, 0, base);
    sn_emit8(e, 0x8d);
    sn_emit_based(e, reg, base, displacement);
}

/** lea reg, [base + index * scale + displacement]; index is not the stack pointer. `base` 0xff: none. */
static inline void sn_emit_load_indexed(sn_emitter *e, unsigned reg, unsigned base, unsigned index, unsigned scale,
                                        int32_t displacement) {
    unsigned log = scale == 8 ? 3 : scale == 4 ? 2 : scale == 2 ? 1 : 0;
    bool none = base == 0xff, zero = !none && displacement == 0 && (base & 7) != SN_RBP;
    bool small = !none && displacement == (int8_t)displacement;
    unsigned mode = none || zero ? 0 : small ? 0x40 : 0x80;
    sn_emit_rex(e, true, reg, index, none ? 0 : base);
    sn_emit8(e, 0x8d);
    sn_emit8(e, (uint8_t)(mode | (reg & 7) << 3 | 4));
    sn_emit8(e, (uint8_t)(log << 6 | (index & 7) << 3 | (none ? SN_RBP : base & 7)));
    if (zero) return;
    if (small) sn_emit8(e, (uint8_t)displacement);
    else sn_emit32(e, (uint32_t)displacement);
}

/** opcode to, from on 64 bits: and 21, or 09, xor 31, sub 29, cmp 39, add 01, mov 89 */
static inline void sn_emit_binary(sn_emitter *e, uint8_t opcode, unsigned to, unsigned from) {
    sn_emit_rex(e, true, from, 0, to);
    sn_emit8(e, opcode);
    sn_emit8(e, (uint8_t)(0xc0 | (from & 7) << 3 | (to & 7)));
}

/** The same with a sign-extended constant; `extension`: and 4, or 1, xor 6, sub 5, cmp 7 */
static inline void sn_emit_binary_constant(sn_emitter *e, unsigned extension, unsigned to, int32_t value) {
    sn_emit_rex(e, true, 0, 0, to);
    sn_emit8(e, 0x81);
    sn_emit8(e, (uint8_t)(0xc0 | extension << 3 | (to & 7)));
    sn_emit32(e, (uint32_t)value);
}

/** imul to, from */
static inline void sn_emit_multiply(sn_emitter *e, unsigned to, unsigned from) {
    sn_emit_rex(e, true, to, 0, from);
    sn_emit16(e, 0xaf0f);
    sn_emit8(e, (uint8_t)(0xc0 | (to & 7) << 3 | (from & 7)));
}

/** Shift by a constant; `extension`: left 4, right 5, right signed 7 */
static inline void sn_emit_shift_constant(sn_emitter *e, unsigned extension, unsigned to, unsigned count) {
    sn_emit_rex(e, true, 0, 0, to);
    sn_emit8(e, 0xc1);
    sn_emit8(e, (uint8_t)(0xc0 | extension << 3 | (to & 7)));
    sn_emit8(e, (uint8_t)count);
}

/** Shift by %cl; same extensions */
static inline void sn_emit_shift_by_count(sn_emitter *e, unsigned extension, unsigned to) {
    sn_emit_rex(e, true, 0, 0, to);
    sn_emit8(e, 0xd3);
    sn_emit8(e, (uint8_t)(0xc0 | extension << 3 | (to & 7)));
}

/** xchg a, b */
static inline void sn_emit_exchange(sn_emitter *e, unsigned a, unsigned b) { sn_emit_binary(e, 0x87, a, b); }

/** A conditional jump forwards; returns the address of its displacement. */
static inline uint64_t sn_emit_jump_if(sn_emitter *e, unsigned condition) {
    sn_emit8(e, 0x0f);
    sn_emit8(e, (uint8_t)(0x80 | condition));
    sn_emit32(e, 0);
    return sn_emit_address(e) - 4;
}

/** rdfsbase reg */
static inline void sn_emit_read_first_base(sn_emitter *e, unsigned reg) {
    sn_emit8(e, 0xf3);
    sn_emit_rex(e, true, 0, 0, reg);
    sn_emit16(e, 0xae0f);
    sn_emit8(e, (uint8_t)(0xc0 | (reg & 7)));
}

/** mov reg32, reg32: clears the upper half */
static inline void sn_emit_truncate(sn_emitter *e, unsigned reg) {
    sn_emit_rex(e, false, reg, 0, reg);
    sn_emit8(e, 0x89);
    sn_emit8(e, (uint8_t)(0xc0 | (reg & 7) << 3 | (reg & 7)));
}

/** reg = zero-extended size bytes of a general register; `second`: its second byte (changes the flags) */
static inline void sn_emit_part(sn_emitter *e, unsigned reg, unsigned from, unsigned size, bool second) {
    if (second) {
        /* %ah and its kin cannot be named together with the other eight registers. */
        sn_emit_binary(e, 0x89, reg, from);
        sn_emit_rex(e, true, reg, 0, reg);
        sn_emit16(e, 0xb70f); /* movzx reg, reg16 */
        sn_emit8(e, (uint8_t)(0xc0 | (reg & 7) << 3 | (reg & 7)));
        sn_emit_shift_constant(e, 5, reg, 8);
        return;
    }
    if (size == 8) {
        sn_emit_binary(e, 0x89, reg, from);
        return;
    }
    sn_emit_rex(e, false, size == 4 ? from : reg, 0, size == 4 ? reg : from);
    if (size == 4) {
        sn_emit8(e, 0x89);
        sn_emit8(e, (uint8_t)(0xc0 | (from & 7) << 3 | (reg & 7)));
        return;
    }
    sn_emit8(e, 0x0f);
    sn_emit8(e, size == 2 ? 0xb7 : 0xb6);
    sn_emit8(e, (uint8_t)(0xc0 | (reg & 7) << 3 | (from & 7)));
}

/** kmovq reg, mask (VEX.L0.F2.0F.W1 93), or with AVX-512F alone kmovw (VEX.L0.0F.W0 93) */
static inline void sn_emit_read_mask(sn_emitter *e, unsigned reg, unsigned mask, bool wide) {
    sn_emit8(e, 0xc4);
    sn_emit8(e, (uint8_t)((reg >= 8 ? 0x61 : 0xe1)));
    sn_emit8(e, wide ? 0xfb : 0x78);
    sn_emit8(e, 0x93);
    sn_emit8(e, (uint8_t)(0xc0 | (reg & 7) << 3 | mask));
}

/** reg32 = low four bytes of a vector register: movd, with EVEX for the upper sixteen */
static inline void sn_emit_read_vector(sn_emitter *e, unsigned reg, unsigned vector) {
    if (vector >= 16) {
        sn_emit8(e, 0x62);
        sn_emit8(e, (uint8_t)((vector & 8 ? 0 : 0x80) | 0x40 | (reg >= 8 ? 0 : 0x20) | 1));
        sn_emit16(e, 0x087d);
    } else {
        sn_emit8(e, 0x66);
        sn_emit_rex(e, false, vector, 0, reg);
        sn_emit8(e, 0x0f);
    }
    sn_emit8(e, 0x7e);
    sn_emit8(e, (uint8_t)(0xc0 | (vector & 7) << 3 | (reg & 7)));
}

/**
 * Store the low `size` bytes (4, 8, 16, 32 or 64) of a vector register at [base + displacement], by the oldest encoding
 * that can name it: movd, movq, movdqu; vmovdqu; vmovd, vmovq, vmovdqu32 with EVEX.
 */
static inline void sn_emit_store_vector(sn_emitter *e, unsigned vector, unsigned base, int32_t displacement, unsigned size) {
    bool scalar = size < 16;
    if (vector >= 16 || size == 64) {
        unsigned length = size == 64 ? 2 : size == 32 ? 1 : 0;
        sn_emit8(e, 0x62);
        sn_emit8(e, (uint8_t)((vector & 8 ? 0 : 0x80) | 0x40 | (base >= 8 ? 0 : 0x20) | (vector & 16 ? 0 : 0x10) | 1));
        /* vmovd/vmovq 66.0F 7E (W chooses), vmovdqu32 F3.0F.W0 7F */
        sn_emit8(e, (uint8_t)(0x7c | (scalar ? 1 : 2) | (size == 8 ? 0x80 : 0)));
        sn_emit8(e, (uint8_t)(0x08 | length << 5));
        sn_emit8(e, scalar ? 0x7e : 0x7f);
        /* EVEX scales one-byte displacements: always four bytes here */
        sn_emit8(e, (uint8_t)(0x80 | (vector & 7) << 3 | (base & 7)));
        if ((base & 7) == SN_RSP) sn_emit8(e, 0x24);
        sn_emit32(e, (uint32_t)displacement);
        return;
    }
    if (size == 32) {
        sn_emit8(e, 0xc4);
        sn_emit8(e, (uint8_t)((vector & 8 ? 0 : 0x80) | 0x40 | (base >= 8 ? 0 : 0x20) | 1));
        sn_emit8(e, 0x7e); /* VEX.256.F3.0F.WIG 7F */
        sn_emit8(e, 0x7f);
        sn_emit_based(e, vector, base, displacement);
        return;
    }
    sn_emit8(e, scalar ? 0x66 : 0xf3);
    sn_emit_rex(e, size == 8, vector, 0, base);
    sn_emit8(e, 0x0f);
    sn_emit8(e, scalar ? 0x7e : 0x7f);
    sn_emit_based(e, vector, base, displacement);
}

/** reg = zero-extended size bytes of thread[offset] */
static inline void sn_emit_load_thread_part(sn_emitter *e, unsigned reg, uint32_t offset, unsigned size) {
    sn_emit8(e, 0x65);
    sn_emit_rex(e, size == 8, reg, 0, 0);
    if (size < 4) sn_emit8(e, 0x0f);
    sn_emit8(e, size >= 4 ? 0x8b : size == 2 ? 0xb7 : 0xb6);
    sn_emit_thread_operand(e, reg, offset);
}

/** thread[offset] = the low size bytes of reg */
static inline void sn_emit_store_thread_part(sn_emitter *e, unsigned reg, uint32_t offset, unsigned size) {
    sn_emit8(e, 0x65);
    if (size == 2) sn_emit8(e, 0x66);
    sn_emit_rex(e, size == 8, reg, 0, 0);
    sn_emit8(e, size == 1 ? 0x88 : 0x89);
    sn_emit_thread_operand(e, reg, offset);
}

/** mov between a register (opcode 0x8b: it is loaded, 0x89: stored) and thread[offset + 8 * index]; `index` is not %rsp. */
static inline void sn_emit_thread_element(sn_emitter *e, unsigned opcode, unsigned reg, unsigned index, uint32_t offset) {
    sn_emit8(e, 0x65);
    sn_emit8(e, 0x48 | (reg & 8) >> 1 | (index & 8) >> 2);
    sn_emit8(e, opcode);
    sn_emit8(e, (reg & 7) << 3 | 4);
    sn_emit8(e, 0xc0 | (index & 7) << 3 | 5); /* scale 8, no base: a displacement of 4 bytes */
    sn_emit32(e, offset);
}

#endif
