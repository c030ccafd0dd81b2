/**
 * @fileoverview Writing x86-64 code, continued: arithmetic and comparisons that leave the flags alone, for analysis code
 * where the client needs its flags.
 *
 * Shifts and rotations are those of BMI2 (Intel SDM volume 2: SHLX, SHRX, SARX, RORX), everything else is made of lea,
 * not, moves and jrcxz. Used by jit/x86_64/lower_operations.c only.
 */
#ifndef SONDE_ISA_X86_64_EMIT_FLAGLESS_H
#define SONDE_ISA_X86_64_EMIT_FLAGLESS_H

#include "isa/x86_64/emit_analysis.h"

/** What a shift's opcode extension (sn_emit_shift_constant) is as a VEX prefix: shlx 66, shrx F2, sarx F3. */
static inline unsigned sn_flagless_shift_prefix(unsigned extension) { return extension == 4 ? 1 : extension == 5 ? 3 : 2; }

/** to = from shifted by the register `count` modulo 64; `extension`: left 4, right 5, right signed 7 */
static inline void sn_emit_flagless_shift(sn_emitter *e, unsigned extension, unsigned to, unsigned from, unsigned count) {
    sn_emit8(e, 0xc4);
    sn_emit8(e, (uint8_t)((to >= 8 ? 0 : 0x80) | 0x40 | (from >= 8 ? 0 : 0x20) | 2));
    sn_emit8(e, (uint8_t)(0x80 | (~count & 15) << 3 | sn_flagless_shift_prefix(extension)));
    sn_emit8(e, 0xf7);
    sn_emit8(e, (uint8_t)(0xc0 | (to & 7) << 3 | (from & 7)));
}

/** movzx reg, low byte or word of reg; mov reg32, reg32 */
static inline void sn_emit_low_part(sn_emitter *e, unsigned to, unsigned from, unsigned size) {
    sn_emit_part(e, to, from, size, false);
}

/** to = second byte of a register: rorx, movzx */
static inline void sn_emit_flagless_second_byte(sn_emitter *e, unsigned to, unsigned from) {
    sn_emit8(e, 0xc4);
    sn_emit8(e, (uint8_t)((to >= 8 ? 0 : 0x80) | 0x40 | (from >= 8 ? 0 : 0x20) | 3));
    sn_emit8(e, 0xfb);
    sn_emit8(e, 0xf0);
    sn_emit8(e, (uint8_t)(0xc0 | (to & 7) << 3 | (from & 7)));
    sn_emit8(e, 8);
    sn_emit_low_part(e, to, to, 1);
}

/** A mask whose ones are side by side. */
static inline bool sn_is_flagless_mask(uint64_t mask) {
    uint64_t shifted = mask ? mask >> __builtin_ctzll(mask) : 0;
    return mask && !(shifted & (shifted + 1));
}

/** Whether it is one that needs no register for a shift's count. */
static inline bool sn_is_part_mask(uint64_t mask) { return mask == 0xff || mask == 0xffff || mask == UINT32_MAX; }

/** to = from & mask, one of sn_is_flagless_mask(); `count`: a register for counts, unless it is one of sn_is_part_mask() */
static inline void sn_emit_flagless_and(sn_emitter *e, unsigned to, unsigned from, uint64_t mask, unsigned count) {
    enum { LEFT = 4, RIGHT = 5 };
    if (sn_is_part_mask(mask)) {
        sn_emit_low_part(e, to, from, mask == 0xff ? 1 : mask == 0xffff ? 2 : 4);
        return;
    }
    unsigned below = (unsigned)__builtin_ctzll(mask), above = (unsigned)__builtin_clzll(mask);
    /* Zeros below alone go right and come back; those above go left first, and both right. */
    if (!above) {
        sn_emit_load_constant(e, count, below);
        sn_emit_flagless_shift(e, RIGHT, to, from, count);
        sn_emit_flagless_shift(e, LEFT, to, to, count);
        return;
    }
    sn_emit_load_constant(e, count, above);
    sn_emit_flagless_shift(e, LEFT, to, from, count);
    if (!below) {
        sn_emit_flagless_shift(e, RIGHT, to, to, count);
        return;
    }
    sn_emit_load_constant(e, count, above + below);
    sn_emit_flagless_shift(e, RIGHT, to, to, count);
    sn_emit_load_constant(e, count, below);
    sn_emit_flagless_shift(e, LEFT, to, to, count);
}

/** to = the bits of `from` that are set in `mask`, side by side (BMI2: pext): zero if there are none */
static inline void sn_emit_flagless_extract(sn_emitter *e, unsigned to, unsigned from, unsigned mask) {
    sn_emit8(e, 0xc4);
    sn_emit8(e, (uint8_t)((to >= 8 ? 0 : 0x80) | 0x40 | (mask >= 8 ? 0 : 0x20) | 2));
    sn_emit8(e, (uint8_t)(0x82 | (~from & 15) << 3));
    sn_emit8(e, 0xf5);
    sn_emit8(e, (uint8_t)(0xc0 | (to & 7) << 3 | (mask & 7)));
}

/** not reg */
static inline void sn_emit_complement(sn_emitter *e, unsigned reg) {
    sn_emit_rex(e, true, 0, 0, reg);
    sn_emit8(e, 0xf7);
    sn_emit8(e, (uint8_t)(0xd0 | (reg & 7)));
}

/** to = a - b; `to` is not a. Neither is the stack pointer. */
static inline void sn_emit_flagless_subtract(sn_emitter *e, unsigned to, unsigned a, unsigned b) {
    sn_emit_move(e, to, b);
    sn_emit_complement(e, to);
    sn_emit_load_indexed(e, to, a, to, 1, 1);
}

/** Jump forwards if %rcx is (or is not) zero; returns the address of the displacement. */
static inline uint64_t sn_emit_flagless_jump(sn_emitter *e, bool if_zero) {
    if (if_zero) sn_emit_bytes(e, "\xe3\x02\xeb\x05", 4); /* jrcxz over the jump over the jump */
    else sn_emit_bytes(e, "\xe3\x05", 2);
    sn_emit8(e, 0xe9);
    sn_emit32(e, 0);
    return sn_emit_address(e) - 4;
}

#endif
