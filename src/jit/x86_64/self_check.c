/**
 * @fileoverview Blocks that compare the client's code with what they were made of when they are entered: for code that changes often.
 * Per-architecture file, a part of the emitter (emit_parts.h).
 */
#include <string.h>

#include "jit/x86_64/emit_parts.h"

/** Compare one piece of client code of 8, 4, 2 or 1 bytes; leave by the exit if it differs. Uses %rax and %rcx. */
static void emit_check_piece(builder *b, uint64_t client, const uint8_t *bytes, unsigned size, uint64_t *mismatch) {
    uint64_t value = 0;
    memcpy(&value, bytes, size);
    sn_emit_load_constant(&b->e, SN_RAX, client);
    switch (size) {
    case 8: sn_emit_bytes(&b->e, "\x48\x8b\x08", 3); break; /* mov (%rax), %rcx */
    case 4: sn_emit_bytes(&b->e, "\x8b\x08", 2); break;     /* mov (%rax), %ecx */
    case 2: sn_emit_bytes(&b->e, "\x0f\xb7\x08", 3); break; /* movzwl (%rax), %ecx */
    default: sn_emit_bytes(&b->e, "\x0f\xb6\x08", 3);       /* movzbl (%rax), %ecx */
    }
    sn_emit_load_constant(&b->e, SN_RAX, -value);
    sn_emit_add_registers(&b->e, SN_RCX, SN_RCX, SN_RAX);
    sn_emit_bytes(&b->e, "\xe3\x05", 2);
    sn_emit8(&b->e, 0xe9);
    sn_emit32(&b->e, (uint32_t)*mismatch); /* a chain through the displacements, resolved at the end */
    *mismatch = sn_emit_address(&b->e) - 4;
}

void sn_emit_checks(builder *b) {
    sn_builder_place(b, SN_PLACE_INSIDE, b->block->address, SN_SPILLED(SN_RAX, SN_RCX));
    sn_emit_store_thread(&b->e, SN_RAX, SPILL(0));
    sn_emit_store_thread(&b->e, SN_RCX, SPILL(1));
    uint64_t mismatch = 0;
    for (unsigned i = 0; i < b->block->count; i++) {
        const sn_insn *insn = &b->block->insns[i];
        for (unsigned at = 0; at < insn->length;) {
            unsigned left = insn->length - at, size = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
            emit_check_piece(b, insn->pc + at, insn->bytes + at, size, &mismatch);
            at += size;
        }
    }
    sn_emit_load_thread(&b->e, SN_RAX, SPILL(0));
    sn_emit_load_thread(&b->e, SN_RCX, SPILL(1));
    sn_emit_bytes(&b->e, "\xeb\x00", 2);
    uint8_t *body = b->e.cursor;
    uint64_t stub = sn_emit_address(&b->e);
    sn_emit_load_thread(&b->e, SN_RAX, SPILL(0));
    sn_emit_load_thread(&b->e, SN_RCX, SPILL(1));
    sn_emit_special_exit(b, b->block->address, SN_MARK_CHANGED);
    if (b->e.overflowed) return;
    body[-1] = (uint8_t)(b->e.cursor - body);
    while (mismatch) {
        uint32_t next = *(uint32_t *)mismatch;
        sn_patch_displacement(mismatch, stub);
        mismatch = next;
    }
}
