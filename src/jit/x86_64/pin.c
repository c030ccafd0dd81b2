/**
 * @fileoverview Pinned registers: a stretch of a block in which two registers that its instructions leave alone hold the
 * place of a trace's next record and what is computed for it, so that appending takes a store or two. Per-architecture file; called by emit_block.c.
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

void sn_lower_plan(builder *b) {
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
}

void sn_lower_move_pointer(builder *b) {
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
    sn_builder_analysis_place(b, 0, false);
    sn_lower_move_pointer(b);
    if (b->pin.moved) sn_emit_store_thread(&b->e, pointer, SN_THREAD_TRACES + 8u * b->pin.trace);
    sn_emit_load_thread(&b->e, b->pin.scratch, SAVED(b->pin.scratch));
    sn_emit_load_thread(&b->e, pointer, SAVED(pointer));
    b->pin.on = false;
}
