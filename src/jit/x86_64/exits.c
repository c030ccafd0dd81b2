/**
 * @fileoverview Ways out of a block: jumps that are linked later, what runs where a branch is taken, the stubs that name the exit;
 * and patching them. Per-architecture file, a part of the emitter (emit_parts.h).
 */
#include "jit/cache.h"
#include "jit/layout.h"
#include "jit/runtime.h"
#include "jit/translate.h"
#include "jit/x86_64/emit_parts.h"

/** Padding before a patchable field, if it needs any. */
void sn_builder_align_patchable(builder *b, unsigned lead, uint64_t client) {
    if (((sn_emit_address(&b->e) + lead) & 63) <= 60) return;
    sn_builder_inside(b, client);
    sn_emit_align_patchable(&b->e, lead);
}

/** The displacement that was just emitted (4 bytes before the cursor) leads out of the block by an exit. */
void sn_builder_open_exit(builder *b, uint32_t number, sn_counter_use taken) {
    open_exit *open = &b->open[b->open_count++];
    *open = (open_exit){.index = b->current, .variant = b->variant, .pin = b->pin};
    open->number = number;
    sn_exit_record *exit = sn_exit_record_at(number);
    exit->goes_back = exit->target <= b->block->insns[b->current].pc;
    open->field = sn_emit_address(&b->e) - 4;
    open->taken = taken;
}

/** `client`: where the client is when the jump is reached. Returns the exit's number. */
uint32_t sn_emit_jump_to_client(builder *b, uint64_t client, uint64_t target) {
    uint32_t number = sn_exit_new(b->number, target);
    sn_lower_leave_pinned(b, number);
    sn_builder_align_patchable(b, 1, client);
    sn_builder_boundary(b, client);
    sn_emit8(&b->e, 0xe9);
    sn_emit32(&b->e, 0);
    sn_builder_open_exit(b, number, (sn_counter_use){0, 0});
    return number;
}

/** mov $number, exit; jmp out */
static void leave_with(builder *b, uint32_t number) {
    sn_emit_store_thread_constant32(&b->e, SN_THREAD_EXIT, number);
    sn_builder_inside(b, b->block->address);
    sn_emit_jump(&b->e, sn_runtime_address(sn_runtime_exit));
}

/** An exit that the dispatcher treats specially: never linked. */
void sn_emit_special_exit(builder *b, uint64_t client, uint32_t marker) {
    uint32_t number = sn_exit_new(b->number, client);
    sn_exit_record_at(number)->stub = marker;
    sn_builder_boundary(b, client);
    leave_with(b, number);
}

/** No boundary, where a signal could arrive: what was done in front of the instruction would be done again. */
uint64_t sn_emit_exit_to_full(builder *b) {
    uint32_t number = sn_exit_new(b->number, b->block->insns[b->current].pc);
    sn_exit_record *exit = sn_exit_record_at(number);
    exit->to_full = true;
    exit->index = (uint8_t)b->current;
    sn_builder_analysis_place(b, 0, false);
    sn_emit_align_patchable(&b->e, 1);
    uint64_t jump = sn_emit_address(&b->e);
    sn_emit8(&b->e, 0xe9);
    sn_emit32(&b->e, 0);
    exit->stub = (uint32_t)sn_emit_address(&b->e);
    exit->site = exit->stub - sizeof(int32_t);
    sn_emit_store_thread_constant32(&b->e, SN_THREAD_EXIT, number);
    sn_emit_jump(&b->e, sn_runtime_address(sn_runtime_exit));
    return jump;
}

/* ----------------------------------------------------------------------- edges, stubs */

static bool has_edge_code(const builder *b, const open_exit *open) {
    return open->taken.amount || open->pin.on ||
           (open->is_branch && sn_builder_first(b, open->index, SN_WHEN_TAKEN));
}

/** What runs where a branch is taken, before the block is left: returns the displacement that leads on. */
static uint64_t emit_edge(builder *b, const open_exit *open) {
    const sn_exit_record *exit = sn_exit_record_at(open->number);
    uint64_t edge = sn_emit_address(&b->e);
    b->current = open->index;
    b->pin = open->pin;
    if (open->is_branch) sn_lower_place(b, open->index, SN_WHEN_TAKEN);
    if (open->taken.amount) sn_emit_taken_counter(b, open->taken, sn_flags_live_at(exit->target));
    sn_lower_leave_pinned(b, open->number);
    if (b->e.overflowed) return open->field;
    sn_patch_displacement(open->field, edge);
    sn_builder_align_patchable(b, 1, exit->target);
    sn_builder_boundary(b, exit->target);
    sn_emit8(&b->e, 0xe9);
    sn_emit32(&b->e, 0);
    return sn_emit_address(&b->e) - 4;
}

/** What a displacement leads to until it is linked: the code of the edge, naming the exit, leaving. */
void sn_emit_stubs(builder *b) {
    for (unsigned i = 0; i < b->open_count; i++) {
        open_exit *open = &b->open[i];
        sn_exit_record *exit = sn_exit_record_at(open->number);
        b->variant = open->variant;
        uint64_t field = has_edge_code(b, open) ? emit_edge(b, open) : open->field;
        if (b->e.overflowed) return;
        exit->site = (uint32_t)field;
        exit->stub = (uint32_t)sn_emit_address(&b->e);
        sn_patch_displacement(field, exit->stub);
        sn_builder_boundary(b, exit->target);
        leave_with(b, open->number);
    }
}

/* ---------------------------------------------------------------------------- patching */

void sn_patch_site(uint64_t site, uint64_t target) { sn_patch_displacement(site, target); }

/**
 * Seven bytes become a five-byte jump while other threads may run them: first a breakpoint, whose handler tries again,
 * then the rest, then the first byte (the order of the Linux kernel's text_poke_bp).
 */
void sn_patch_indirect(uint64_t site, unsigned version) {
    uint8_t *code = (uint8_t *)site;
    if (code[0] == 0xe9) return;
    size_t room;
    uint8_t *stub = sn_cache_cursor(&room);
    sn_emitter e = {.start = stub, .cursor = stub, .limit = stub + room};
    sn_emit_store_thread_constant(&e, SN_THREAD_BRANCH_SITE, (int32_t)site);
    if (version) sn_emit_add_displacement(&e, BRANCH_REGISTER, BRANCH_REGISTER, -(int32_t)SN_TABLE_DISTANCE);
    sn_emit_jump(&e, sn_runtime_address(sn_runtime_lookup));
    if (e.overflowed) return; /* it faults again until the cache was emptied */
    sn_cache_commit(e.cursor);
    int32_t displacement = (int32_t)((uint64_t)stub - (site + 5));
    __atomic_store_n(&code[0], 0xcc, __ATOMIC_SEQ_CST);
    for (unsigned i = 0; i < 4; i++)
        __atomic_store_n(&code[1 + i], (uint8_t)((uint32_t)displacement >> 8 * i), __ATOMIC_SEQ_CST);
    __atomic_store_n(&code[0], 0xe9, __ATOMIC_SEQ_CST);
}
