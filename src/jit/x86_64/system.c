/**
 * @fileoverview System calls, and instructions that read or write the segment bases. Per-architecture file, a part of the emitter
 * (emit_parts.h).
 */
#include "jit/cache.h"
#include "jit/runtime.h"
#include "jit/x86_64/emit_parts.h"

static void emit_store_pc(builder *b, uint64_t client) {
    if (client <= INT32_MAX) {
        sn_emit_store_thread_constant(&b->e, SN_THREAD_PC, (int32_t)client);
    } else {
        sn_emit_load_constant(&b->e, SN_RCX, client);
        sn_emit_store_thread(&b->e, SN_RCX, SN_THREAD_PC);
    }
}

/**
 * %rcx and %r11 are free: the system call overwrites them. Passed through unless the table says otherwise. EFAULT may
 * be the engine's doing (a watched page): then it looks again.
 */
void sn_emit_system_call(builder *b, unsigned index) {
    const sn_insn *insn = &b->block->insns[index];
    uint64_t next = insn->pc + insn->length;
    sn_builder_boundary(b, insn->pc);
    sn_emit_bytes(&b->e, "\x0f\xb7\xc8", 3); /* movzwl %ax, %ecx */
    sn_builder_inside(b, insn->pc);
    sn_emit_bytes(&b->e, "\x0f\xb6\x89", 3); /* movzbl table(%rcx), %ecx */
    sn_emit32(&b->e, (uint32_t)sn_syscall_table_address());
    sn_emit_bytes(&b->e, "\xe3\x00", 2); /* jrcxz pass */
    uint8_t *pass = b->e.cursor;
    emit_store_pc(b, next);
    sn_emit_jump(&b->e, sn_runtime_address(sn_runtime_syscall));
    if (!b->e.overflowed) pass[-1] = (uint8_t)(b->e.cursor - pass);
    sn_emit_store_thread(&b->e, SN_RAX, SN_THREAD_LAST_SYSCALL);
    sn_builder_boundary(b, insn->pc);
    sn_emit_bytes(&b->e, "\x0f\x05", 2);
    sn_builder_place(b, SN_PLACE_AFTER_SYSCALL, next, NOTHING_SPILLED);
    sn_emit_bytes(&b->e, "\x48\x8d\x48\x0e", 4); /* lea 14(%rax), %rcx */
    sn_builder_inside(b, next);
    sn_emit_bytes(&b->e, "\xe3\x02\xeb\x00", 4); /* jrcxz over the jump */
    uint8_t *good = b->e.cursor;
    emit_store_pc(b, next);
    sn_emit_jump(&b->e, sn_runtime_address(sn_runtime_bad_address));
    if (!b->e.overflowed) good[-1] = (uint8_t)(b->e.cursor - good);
    sn_emit_load_constant(&b->e, SN_RCX, next);
}

/* -------------------------------------------------------- segment base instructions */

void sn_emit_segment_base(builder *b, unsigned index) {
    const sn_insn *insn = &b->block->insns[index];
    uint8_t modrm = insn->bytes[insn->modrm_offset];
    bool second = modrm >> 3 & 1;
    if (!second) {
        sn_emit_plain(b, insn);
        return;
    }
    uint8_t rex = insn->rex_offset ? insn->bytes[insn->rex_offset - 1] : 0;
    unsigned reg = (modrm & 7u) | (rex & 1 ? 8u : 0u);
    bool wide = rex & 8, write = insn->class == SN_INSN_WRITE_SEGMENT_BASE;
    sn_builder_boundary(b, insn->pc);
    if (write && !wide) {
        sn_emit_store_thread_constant(&b->e, SN_THREAD_CLIENT_BASE2, 0);
        sn_builder_inside(b, insn->pc);
    }
    sn_emit8(&b->e, 0x65);
    if (wide || reg >= 8) sn_emit8(&b->e, (uint8_t)(0x40 | (wide ? 8 : 0) | (reg >= 8 ? 4 : 0)));
    sn_emit8(&b->e, write ? 0x89 : 0x8b);
    sn_emit_thread_operand(&b->e, reg, SN_THREAD_CLIENT_BASE2);
}
