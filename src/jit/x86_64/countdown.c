/**
 * @fileoverview Where the code has two versions (jit/versions.h): what counts the instructions down that a thread has left in
 * one of them, and leaves the block when there are none. Per-architecture file, a part of the emitter (emit_parts.h).
 *
 * Where flags are dead it is a subtraction and a branch that is hardly ever taken. A block is counted when it begins, up to
 * the first branch that is expected to be taken.
 */
#include "jit/thread_offsets.h"
#include "jit/translate.h"
#include "jit/versions.h"
#include "jit/x86_64/emit_parts.h"

/** The code may not come between an instruction that delays traps and the next one. */
static bool is_possible_at(const builder *b, unsigned index) {
    return index == 0 || !sn_delays_trap(&b->block->insns[index - 1]);
}

sn_countdown_place sn_builder_find_countdown_place(const builder *b) {
    /* In the middle of a block with analysis code, what was counted and told of it would have to be put right. */
    unsigned last = 0;
    while (!b->analysis && last + 1 < b->block->count && !sn_insn_leaves_block(&b->block->insns[last])) last++;
    for (unsigned i = 0; i <= last; i++)
        if (!(b->live_flags[i] & SN_FLAGS_ARITHMETIC) && is_possible_at(b, i)) return (sn_countdown_place){i, true};
    return (sn_countdown_place){0, false};
}

/** How many instructions of the block mostly run: up to the branch that closes a loop. */
static int32_t expected_instructions(const sn_block *block) {
    for (unsigned i = 0; i < block->count; i++)
        if (sn_branch_goes_back(block, i)) return (int32_t)i + 1;
    return (int32_t)block->count;
}

/** Which part of what is left the block counts down: blocks that run one after the other should not wait for each other. */
static uint32_t left_of(const builder *b) { return SN_THREAD_LEFT + 8 * (b->number % SN_THREAD_LEFT_PARTS); }

/** From here on the client's branch register is where branches save it. */
static void branch_register_place(builder *b, uint64_t client) {
    if (b->analysis) sn_builder_analysis_place(b, 1u << BRANCH_REGISTER, false);
    else sn_builder_place(b, SN_PLACE_INSIDE, client, SN_SPILLED(SN_BRANCH_SPILLED, SN_NOTHING_SPILLED));
}

/** A head, in the version in which all blocks count, counts once more. */
static bool counts_twice(const builder *b) { return b->block->is_head && b->block->version == SN_VERSION_COUNTED; }

/** Without a flag: the upper half of what is left is all ones when it is below 0. */
static uint64_t emit_by_register(builder *b, uint64_t client, int32_t amount) {
    sn_emit_store_thread(&b->e, BRANCH_REGISTER, SN_THREAD_BRANCH_SPILL);
    branch_register_place(b, client);
    if (counts_twice(b)) {
        sn_emit_load_thread(&b->e, BRANCH_REGISTER, SN_THREAD_PASSED);
        sn_emit_add_displacement(&b->e, BRANCH_REGISTER, BRANCH_REGISTER, amount);
        sn_emit_store_thread(&b->e, BRANCH_REGISTER, SN_THREAD_PASSED);
    }
    sn_emit_load_thread(&b->e, BRANCH_REGISTER, left_of(b));
    sn_emit_add_displacement(&b->e, BRANCH_REGISTER, BRANCH_REGISTER, -amount);
    sn_emit_store_thread(&b->e, BRANCH_REGISTER, left_of(b));
    sn_emit_bytes(&b->e, "\x65\x8b\x0c\x25", 4); /* mov left + 4, %ecx */
    sn_emit32(&b->e, left_of(b) + 4);
    sn_emit_bytes(&b->e, "\x8d\x49\x01", 3); /* lea 1(%rcx), %ecx */
    sn_emit_bytes(&b->e, "\xe3\x02\xeb\x05\xe9", 5); /* jrcxz over the next jump; jmp over the last one; jmp out */
    sn_emit32(&b->e, 0);
    uint64_t field = sn_emit_address(&b->e) - 4;
    sn_emit_load_thread(&b->e, BRANCH_REGISTER, SN_THREAD_BRANCH_SPILL);
    return field;
}

void sn_emit_countdown(builder *b, const sn_countdown_place *where) {
    uint64_t client = b->block->insns[where->index].pc;
    int32_t amount = expected_instructions(b->block);
    b->countdown = (countdown){.index = where->index, .by_flags = where->by_flags, .pin = b->pin};
    sn_builder_inside(b, client);
    if (!where->by_flags) {
        b->countdown.field = emit_by_register(b, client, amount);
        return;
    }
    if (counts_twice(b)) sn_emit_add_thread_constant(&b->e, SN_THREAD_PASSED, amount);
    sn_emit_add_thread_constant(&b->e, left_of(b), -amount);
    sn_emit_bytes(&b->e, "\x0f\x88", 2); /* js out */
    sn_emit32(&b->e, 0);
    b->countdown.field = sn_emit_address(&b->e) - 4;
}

void sn_emit_countdown_stub(builder *b) {
    uint64_t client = b->block->insns[b->countdown.index].pc;
    if (b->e.overflowed) return;
    sn_patch_displacement(b->countdown.field, sn_emit_address(&b->e));
    b->current = b->countdown.index;
    b->pin = b->countdown.pin;
    if (!b->countdown.by_flags) {
        branch_register_place(b, client);
        sn_emit_load_thread(&b->e, BRANCH_REGISTER, SN_THREAD_BRANCH_SPILL);
    }
    sn_builder_inside(b, client);
    sn_lower_unpin(b);
    sn_emit_special_exit(b, client, SN_MARK_DUE);
}
