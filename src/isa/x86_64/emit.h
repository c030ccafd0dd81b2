/**
 * @fileoverview Writing x86-64 code: the few instructions that the translator adds around the client's own.
 *
 * An emitter is a cursor into a scratch buffer that has a known final address in the code cache; it never overflows:
 * past the end it counts on and reports it (sn_emit_overflowed), and the caller starts again with a smaller block.
 * Used by jit/x86_64 only.
 */
#ifndef SONDE_ISA_X86_64_EMIT_H
#define SONDE_ISA_X86_64_EMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    SN_RAX, SN_RCX, SN_RDX, SN_RBX, SN_RSP, SN_RBP, SN_RSI, SN_RDI,
    SN_R8, SN_R9, SN_R10, SN_R11, SN_R12, SN_R13, SN_R14, SN_R15,
};

typedef struct sn_emitter {
    uint8_t *start, *cursor, *limit; /**< in the code cache itself: code is written where it will run */
    bool overflowed;
} sn_emitter;

static inline void sn_emit_bytes(sn_emitter *e, const void *bytes, unsigned count) {
    if ((uint64_t)(e->limit - e->cursor) < count) {
        e->overflowed = true;
        return;
    }
    memcpy(e->cursor, bytes, count);
    e->cursor += count;
}
static inline void sn_emit8(sn_emitter *e, uint8_t value) { sn_emit_bytes(e, &value, 1); }
static inline void sn_emit16(sn_emitter *e, uint16_t value) { sn_emit_bytes(e, &value, 2); }
static inline void sn_emit32(sn_emitter *e, uint32_t value) { sn_emit_bytes(e, &value, 4); }
static inline void sn_emit64(sn_emitter *e, uint64_t value) { sn_emit_bytes(e, &value, 8); }

/** Current address in the cache. */
static inline uint64_t sn_emit_address(const sn_emitter *e) { return (uint64_t)e->cursor; }

/** ModRM, SIB and displacement of a field of the thread's state; the segment prefix comes first. */
static inline void sn_emit_thread_operand(sn_emitter *e, unsigned reg, uint32_t offset) {
    sn_emit8(e, (uint8_t)((reg & 7) << 3 | 4));
    sn_emit8(e, 0x25);
    sn_emit32(e, offset);
}

static inline void sn_emit_thread_form(sn_emitter *e, uint8_t opcode, unsigned reg, uint32_t offset) {
    sn_emit8(e, 0x65);
    sn_emit8(e, (uint8_t)(0x48 | (reg >= 8 ? 4 : 0)));
    sn_emit8(e, opcode);
    sn_emit_thread_operand(e, reg, offset);
}

/** mov thread[offset], reg */
static inline void sn_emit_store_thread(sn_emitter *e, unsigned reg, uint32_t offset) {
    sn_emit_thread_form(e, 0x89, reg, offset);
}
/** mov reg, thread[offset] */
static inline void sn_emit_load_thread(sn_emitter *e, unsigned reg, uint32_t offset) {
    sn_emit_thread_form(e, 0x8b, reg, offset);
}
/** mov dword thread[offset], value */
static inline void sn_emit_store_thread_constant32(sn_emitter *e, uint32_t offset, uint32_t value) {
    sn_emit8(e, 0x65);
    sn_emit8(e, 0xc7);
    sn_emit_thread_operand(e, 0, offset);
    sn_emit32(e, value);
}
/** mov qword thread[offset], sign-extended value */
static inline void sn_emit_store_thread_constant(sn_emitter *e, uint32_t offset, int32_t value) {
    sn_emit_thread_form(e, 0xc7, 0, offset);
    sn_emit32(e, (uint32_t)value);
}
/** inc qword thread[offset]: leaves the carry flag alone */
static inline void sn_emit_increment_thread(sn_emitter *e, uint32_t offset) {
    sn_emit_thread_form(e, 0xff, 0, offset);
}
/** add qword thread[offset], value */
static inline void sn_emit_add_thread_constant(sn_emitter *e, uint32_t offset, int32_t value) {
    sn_emit_thread_form(e, 0x81, 0, offset);
    sn_emit32(e, (uint32_t)value);
}

/** mov reg, value by the shortest form that leaves the flags alone */
static inline void sn_emit_load_constant(sn_emitter *e, unsigned reg, uint64_t value) {
    if (value <= UINT32_MAX) {
        if (reg >= 8) sn_emit8(e, 0x41);
        sn_emit8(e, (uint8_t)(0xb8 | (reg & 7)));
        sn_emit32(e, (uint32_t)value);
    } else {
        sn_emit8(e, (uint8_t)(0x48 | (reg >= 8 ? 1 : 0)));
        sn_emit8(e, (uint8_t)(0xb8 | (reg & 7)));
        sn_emit64(e, value);
    }
}

/** mov to, from (64 bits) */
static inline void sn_emit_move(sn_emitter *e, unsigned to, unsigned from) {
    if (to == from) return;
    sn_emit8(e, (uint8_t)(0x48 | (from >= 8 ? 4 : 0) | (to >= 8 ? 1 : 0)));
    sn_emit8(e, 0x89);
    sn_emit8(e, (uint8_t)(0xc0 | (from & 7) << 3 | (to & 7)));
}

/** lea to, [base + displacement] */
static inline void sn_emit_add_displacement(sn_emitter *e, unsigned to, unsigned base, int32_t displacement) {
    sn_emit8(e, (uint8_t)(0x48 | (to >= 8 ? 4 : 0) | (base >= 8 ? 1 : 0)));
    sn_emit8(e, 0x8d);
    sn_emit8(e, (uint8_t)(0x80 | (to & 7) << 3 | (base & 7)));
    if ((base & 7) == SN_RSP) sn_emit8(e, 0x24); /* that number means "SIB follows": one without index */
    sn_emit32(e, (uint32_t)displacement);
}

/** lea to, [base + index]; index is no rsp, base no rbp or r13 */
static inline void sn_emit_add_registers(sn_emitter *e, unsigned to, unsigned base, unsigned index) {
    sn_emit8(e, (uint8_t)(0x48 | (to >= 8 ? 4 : 0) | (index >= 8 ? 2 : 0) | (base >= 8 ? 1 : 0)));
    sn_emit8(e, 0x8d);
    sn_emit8(e, (uint8_t)((to & 7) << 3 | 4));
    sn_emit8(e, (uint8_t)((index & 7) << 3 | (base & 7)));
}

/** The processor's recommended no-operations, up to 9 bytes each. */
static inline void sn_emit_padding(sn_emitter *e, unsigned count) {
    static const uint8_t forms[9][9] = {
        {0x90},
        {0x66, 0x90},
        {0x0f, 0x1f, 0x00},
        {0x0f, 0x1f, 0x40, 0x00},
        {0x0f, 0x1f, 0x44, 0x00, 0x00},
        {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
        {0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
        {0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
        {0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
    };
    while (count) {
        unsigned now = count > 9 ? 9 : count;
        sn_emit_bytes(e, forms[now - 1], now);
        count -= now;
    }
}

/** Pad so that the 4 bytes after `lead` more bytes do not cross a cache line: they can then be patched with one store
    while other threads run them (Intel SDM volume 3, 9.1.1: accesses within a cache line are atomic). */
static inline void sn_emit_align_patchable(sn_emitter *e, unsigned lead) {
    unsigned in_line = (unsigned)((sn_emit_address(e) + lead) & 63);
    if (in_line > 60) sn_emit_padding(e, 64 - in_line);
}

/** Store a displacement so that the 4 bytes at `field` reach `target`. */
static inline void sn_patch_displacement(uint64_t field, uint64_t target) {
    __atomic_store_n((uint32_t *)field, (uint32_t)(target - (field + 4)), __ATOMIC_RELEASE);
}

/** jmp target */
static inline void sn_emit_jump(sn_emitter *e, uint64_t target) {
    sn_emit8(e, 0xe9);
    sn_emit32(e, (uint32_t)(target - (sn_emit_address(e) + 4)));
}

#endif
