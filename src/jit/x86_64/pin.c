/**
 * @fileoverview Pinned registers: a stretch of a block in which two registers that its instructions leave alone hold the
 * place of a trace's next record and what is computed for it, so that appending takes a store or two.
 *
 * A stretch that begins with its block can be entered with the registers pinned already: the exits of one block, or its
 * branches back to its own beginning, are linked to such an entrance where both have pinned the same registers for the
 * same trace (jit/block.c). Behind the jump that is linked stands what gives the registers back, for all other targets.
 * Hence registers are chosen in one order everywhere. Per-architecture file; called by emit_block.c.
 */
#include "base/settings.h"
#include "isa/x86_64/emit_analysis.h"
#include "jit/translate.h"
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
            branches |= operation->kind == SN_OPERATION_BRANCH || operation->kind == SN_OPERATION_CALL_IF ||
                        operation->kind == SN_OPERATION_CHECK;
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

/** The registers in the order in which they are pinned: those that programs use least come first. The pointer is never the
    one that saving the flags needs. */
static const uint8_t pinning_order[] = {SN_R11, SN_R10, SN_R15, SN_R9, SN_R14, SN_R13, SN_R8, SN_R12,
                                        SN_RBP, SN_RBX, SN_RDI, SN_RSI, SN_RCX, SN_RDX, SN_RAX};

static void choose_registers(pinned_stretch *stretch, uint32_t left) {
    uint8_t chosen[2];
    unsigned count = 0;
    for (unsigned i = 0; count < 2; i++)
        if (left >> pinning_order[i] & 1) chosen[count++] = pinning_order[i];
    stretch->pointer = chosen[0];
    stretch->scratch = chosen[1];
}

static void plan_appending(builder *b) {
    uint32_t free = 0xffff & ~(1u << SN_RSP), bytes = 0;
    if (b->block->counts_down) free &= ~(1u << BRANCH_REGISTER); /* which counting down may need */
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
        choose_registers(stretch, left);
        if (!over) break;
    }
}

/** A call that ends the block and needs no register to push its return address. */
static bool is_last_call(const builder *b, unsigned index) {
    const sn_insn *insn = &b->block->insns[index];
    return insn->class == SN_INSN_CALL && index + 1 == b->block->count && !b->block->far && !sn_translates_alone(insn) &&
           insn->pc + insn->length <= INT32_MAX;
}

/** Whether an instruction outside the stretch could be inside too. */
static bool can_be_added(const builder *b, unsigned index) {
    uint32_t bytes = 0, pinned = 1u << b->stretch.pointer | 1u << b->stretch.scratch;
    return (can_be_pinned_over(b, index) || is_last_call(b, index)) && appended_at(b, index, &bytes) == -1 &&
           !(touched_registers(&b->block->insns[index]) & pinned);
}

/** Lengthen the stretch to the block's beginning and end, as far as every instruction on the way lets it. */
static void plan_links(builder *b) {
    pinned_stretch *stretch = &b->stretch;
    unsigned first = stretch->first;
    if (!stretch->exists || sn_settings_current.no_links) return;
    while (first > 0 && can_be_added(b, first - 1)) first--;
    if (first == 0 && !b->block->checks_itself) {
        stretch->first = 0;
        stretch->entered = true;
    }
    if (stretch->before_only && !is_last_call(b, stretch->last)) return;
    stretch->before_only = false;
    while (stretch->last + 1 < b->block->count && can_be_added(b, stretch->last + 1)) stretch->last++;
    stretch->left = stretch->last + 1 == b->block->count;
}

void sn_lower_plan(builder *b) {
    plan_appending(b);
    plan_links(b);
}

/** Which registers are pinned for which trace, as one number that is not 0. */
static uint16_t pinned_as(const builder *b) {
    return (uint16_t)(1u << 15 | (unsigned)b->stretch.trace << 8 | (unsigned)b->stretch.scratch << 4 | b->stretch.pointer);
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
    if (!b->stretch.entered) return;
    b->record->pinned_entry = (uint32_t)sn_emit_address(&b->e);
    b->record->pinned_as = pinned_as(b);
}

/** Move the pointer behind what has been appended. */
static void move_pointer(builder *b) {
    if (!b->pin.pending) return;
    sn_builder_analysis_place(b, 0, false);
    sn_emit_load_sum(&b->e, b->pin.pointer, b->pin.pointer, b->pin.pending);
    b->pin.pending = 0;
    b->pin.moved = true;
    sn_builder_analysis_place(b, 0, false);
}

void sn_lower_unpin(builder *b) {
    if (!b->pin.on) return;
    unsigned pointer = b->pin.pointer;
    bool moved = b->pin.pending || b->pin.moved || b->stretch.entered;
    sn_builder_analysis_place(b, 0, false);
    move_pointer(b);
    if (moved) sn_emit_store_thread(&b->e, pointer, SN_THREAD_TRACES + 8u * b->pin.trace);
    sn_emit_load_thread(&b->e, b->pin.scratch, SAVED(b->pin.scratch));
    sn_emit_load_thread(&b->e, pointer, SAVED(pointer));
    b->pin.on = false;
}

void sn_lower_leave_pinned(builder *b, uint32_t exit) {
    if (!b->pin.on) return;
    if (!sn_settings_current.no_links) {
        move_pointer(b);
        sn_builder_analysis_place(b, 0, false);
        sn_emit_align_patchable(&b->e, 1);
        sn_emit_jump(&b->e, sn_emit_address(&b->e) + 5);
        sn_exit_record_at(exit)->pinned_site = (uint32_t)(sn_emit_address(&b->e) - 4);
        sn_exit_record_at(exit)->pinned_as = pinned_as(b);
    }
    sn_lower_unpin(b);
}
