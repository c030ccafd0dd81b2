/**
 * @fileoverview Pinned registers: a stretch of a block in which two registers that its instructions leave alone hold the
 * place of a trace's next record and what is computed for it, so that appending takes a store or two. A loop of one block
 * keeps them from round to round. Per-architecture file; called by emit_block.c.
 */
#include "base/settings.h"
#include "isa/x86_64/emit_analysis.h"
#include "jit/x86_64/builder.h"

/** Registers that the instruction has to do with. */
static uint16_t touched_registers(const sn_insn *insn) {
    sn_insn exact = *insn;
    if ((insn->registers_touched & 0xff) == 0xff) sn_decode_slowly(insn->bytes, insn->length, insn->pc, &exact);
    return (uint16_t)exact.registers_touched;
}

/** Whether an instruction may stand inside a pinned stretch: copied as it is, or a conditional branch. */
static bool can_be_pinned_over(const builder *b, unsigned index) {
    const sn_insn *insn = &b->block->insns[index];
    if (insn->class == SN_INSN_CONDITIONAL || insn->class == SN_INSN_JUMP) return true;
    return insn->class == SN_INSN_PLAIN && insn->segment != SN_SEGMENT_GS && !b->block->iterations[index].present &&
           (!insn->rip_relative || !b->block->far);
}

/** What stands at an instruction's places: the trace that is appended to; -1: nothing; -2: what forbids pinning. */
static int appended_at(const builder *b, unsigned index, uint32_t *bytes) {
    const sn_analysis *analysis = &b->block->analysis;
    int trace = -1;
    for (unsigned when = 0; when < SN_WHENS; when++) {
        bool branches = false, appends = false;
        for (unsigned at = analysis->places[index][when].first; at; at = analysis->operations[at].next) {
            const sn_operation *operation = &analysis->operations[at];
            if (operation->kind == SN_OPERATION_CALL || operation->kind == SN_OPERATION_ACCESSES) return -2;
            branches |= operation->kind == SN_OPERATION_BRANCH;
            if (operation->kind != SN_OPERATION_APPENDED) continue;
            appends = true;
            *bytes += operation->size;
            if (trace < 0) trace = (int)operation->number;
        }
        if (branches && appends) return -2;
    }
    return trace;
}

/** Most bytes that a stretch may append before it stores the pointer: displacements and the map of places hold them. */
#define MOST_PENDING 0x7000

/** Whether an instruction outside the stretch could be inside too. */
static bool can_be_looped_over(const builder *b, unsigned index) {
    uint32_t bytes = 0, pinned = 1u << b->stretch.pointer | 1u << b->stretch.scratch;
    return can_be_pinned_over(b, index) && appended_at(b, index, &bytes) == -1 &&
           !(touched_registers(&b->block->insns[index]) & pinned);
}

static bool leads_back(const builder *b, unsigned index) {
    const sn_insn *insn = &b->block->insns[index];
    return insn->class == SN_INSN_CONDITIONAL && insn->target == b->block->address;
}

/** The last branch back to the block's beginning that the stretch can reach; -1: none. */
static int find_loop(const builder *b) {
    const pinned_stretch *stretch = &b->stretch;
    int found = -1;
    for (unsigned i = 0; i < stretch->first; i++)
        if (!can_be_looped_over(b, i)) return -1;
    for (unsigned i = stretch->first; i < b->block->count; i++) {
        bool inside = i < stretch->last || (i == stretch->last && !stretch->before_only);
        if (!inside && (i == stretch->last || !can_be_looped_over(b, i))) break;
        if (leads_back(b, i)) found = (int)i;
    }
    return found;
}

/** Jumps to the block's beginning stay inside the stretch, which then begins there. */
static void plan_loop(builder *b) {
    pinned_stretch *stretch = &b->stretch;
    if (!stretch->exists || b->block->checks_itself || sn_settings_current.no_links) return;
    int back = find_loop(b);
    if (back < 0) return;
    stretch->loops = true;
    stretch->first = 0;
    if ((unsigned)back > stretch->last) stretch->last = (unsigned)back;
}

static void plan_stretch(builder *b) {
    uint32_t free = 0xffff & ~(1u << SN_RSP), bytes = 0;
    pinned_stretch *stretch = &b->stretch;
    stretch->exists = false;
    for (unsigned i = 0; i < b->block->count; i++) {
        int trace = appended_at(b, i, &bytes);
        uint32_t left = free & ~(uint32_t)touched_registers(&b->block->insns[i]);
        bool over = can_be_pinned_over(b, i);
        bool possible = trace != -2 && (over || trace >= 0) && __builtin_popcount(left) >= 2 && bytes < MOST_PENDING;
        if (!possible && stretch->exists) break;
        if (!possible || (!stretch->exists && trace < 0)) {
            bytes = 0;
            continue;
        }
        free = left;
        if (trace < 0) continue;
        if (!stretch->exists) *stretch = (pinned_stretch){.exists = true, .first = i, .trace = (uint8_t)trace};
        stretch->last = i;
        stretch->before_only = !over;
        /* The pointer is never %rax, which saving the flags needs. */
        stretch->scratch = (uint8_t)__builtin_ctz(left);
        stretch->pointer = (uint8_t)__builtin_ctz(left & (left - 1));
        if (!over) break;
    }
}

void sn_lower_plan(builder *b) {
    plan_stretch(b);
    plan_loop(b);
}

void sn_lower_pin(builder *b) {
    if (!b->stretch.exists || b->current != b->stretch.first) return;
    unsigned pointer = b->stretch.pointer, scratch = b->stretch.scratch;
    sn_builder_analysis_place(b, 0, false);
    sn_emit_store_thread(&b->e, pointer, SAVED(pointer));
    sn_emit_store_thread(&b->e, scratch, SAVED(scratch));
    sn_emit_load_thread(&b->e, pointer, SN_THREAD_TRACES + 8u * b->stretch.trace);
    b->pin = (pinning){.on = true, .pointer = (uint8_t)pointer, .scratch = (uint8_t)scratch, .trace = b->stretch.trace};
    sn_analysis_record *record = sn_analysis_record_at(b->analysis);
    record->pinned_pointer = (uint8_t)pointer;
    record->pinned_scratch = (uint8_t)scratch;
    record->pinned_trace = b->stretch.trace;
    b->loop_start = sn_emit_address(&b->e);
}

/** Move the pointer behind what has been appended. */
static void move_pointer(builder *b) {
    if (!b->pin.pending) return;
    sn_builder_analysis_place(b, 0, false);
    sn_emit_load_sum(&b->e, b->pin.pointer, b->pin.pointer, b->pin.pending);
    b->pin.pending = 0;
    sn_builder_analysis_place(b, 0, false);
}

void sn_lower_unpin(builder *b) {
    if (!b->pin.on) return;
    unsigned pointer = b->pin.pointer;
    bool moved = b->pin.pending || b->stretch.loops;
    sn_builder_analysis_place(b, 0, false);
    move_pointer(b);
    if (moved) sn_emit_store_thread(&b->e, pointer, SN_THREAD_TRACES + 8u * b->pin.trace);
    sn_emit_load_thread(&b->e, b->pin.scratch, SAVED(b->pin.scratch));
    sn_emit_load_thread(&b->e, pointer, SAVED(pointer));
    b->pin.on = false;
}

bool sn_lower_is_loop(const builder *b, const open_exit *open) {
    return b->stretch.loops && b->pin.on && open->is_branch && leads_back(b, open->index) && !b->loop_site;
}

void sn_lower_loop_back(builder *b) {
    move_pointer(b);
    b->current = 0;
    sn_emit_align_patchable(&b->e, 1);
    sn_builder_place(b, SN_PLACE_BOUNDARY, b->block->address, NOTHING_SPILLED);
    sn_emit_jump(&b->e, b->loop_start);
    b->loop_site = (uint32_t)(sn_emit_address(&b->e) - 4);
    b->loop_tail = (uint32_t)sn_emit_address(&b->e);
    sn_lower_unpin(b);
}
