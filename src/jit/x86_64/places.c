/**
 * @fileoverview The map of places: what each byte of a block's code stands for, written along with it. Per-architecture file.
 *
 * Called by all that writes code of blocks.
 */
#include "jit/x86_64/builder.h"

/** Number of the instruction that the client is at; as many as there are: behind the last. */
static unsigned index_of(const builder *b, uint64_t client) {
    const sn_insn *insn = &b->block->insns[b->current];
    return b->current < b->block->count && client == insn->pc + insn->length ? b->current + 1 : b->current;
}

static void add_place(builder *b, const sn_place *row) {
    sn_place_add(b->record, row);
    b->last = *row;
    b->has_last = true;
}

static void add_analysed(builder *b, sn_place_kind kind, unsigned index, uint16_t saved, bool saved_flags) {
    if (b->pin.on) saved |= (uint16_t)(1u << b->pin.pointer | 1u << b->pin.scratch);
    sn_place row = {.analysed = {.saved = saved, .pending = b->pin.pending},
                    .offset = (uint16_t)(sn_emit_address(&b->e) - b->record->start),
                    .kind = (uint8_t)(kind | SN_PLACE_ANALYSED | (b->pin.on ? SN_PLACE_PINNED : 0)),
                    .index = (uint8_t)(index | (saved_flags ? SN_PLACE_FLAGS_SAVED : 0))};
    add_place(b, &row);
}

bool sn_builder_at_boundary(const builder *b) {
    return b->has_last && SN_PLACE_KIND(b->last.kind) == SN_PLACE_BOUNDARY &&
           b->last.offset == (uint16_t)(sn_emit_address(&b->e) - b->record->start);
}

void sn_builder_analysis_place(builder *b, uint16_t saved, bool saved_flags) {
    if (!saved && !saved_flags && sn_builder_at_boundary(b)) return; /* the row after the registers are saved comes next */
    add_analysed(b, SN_PLACE_ANALYSIS, b->current, saved, saved_flags);
}

void sn_builder_reading_place(builder *b, uint16_t saved, bool saved_flags) {
    if (sn_builder_at_boundary(b)) sn_emit_padding(&b->e, 1);
    add_analysed(b, SN_PLACE_READING, b->current, saved, saved_flags);
}

void sn_builder_storing_place(builder *b, uint16_t saved, bool saved_flags) {
    if (sn_builder_at_boundary(b)) sn_emit_padding(&b->e, 1);
    add_analysed(b, SN_PLACE_STORING, b->current, saved, saved_flags);
}

void sn_builder_place(builder *b, sn_place_kind kind, uint64_t client, uint8_t spilled) {
    /* Signals must find a system call, which may wait for them, as it was before it. */
    const sn_insn *current = &b->block->insns[b->current];
    if (b->committed && client == current->pc && (kind == SN_PLACE_VERBATIM || kind == SN_PLACE_BOUNDARY) &&
        current->class != SN_INSN_SYSCALL)
        kind = SN_PLACE_BEGUN;
    if (b->pin.on) {
        add_analysed(b, kind == SN_PLACE_VERBATIM ? SN_PLACE_BOUNDARY : kind, index_of(b, client), 0, false);
        return;
    }
    uint64_t delta = client - b->block->address;
    if ((uint64_t)(int64_t)(int32_t)delta != delta) kind = SN_PLACE_INSIDE, delta = 0;
    sn_place row = {.client = (int32_t)delta,
                    .offset = (uint16_t)(sn_emit_address(&b->e) - b->record->start),
                    .kind = (uint8_t)kind,
                    .spilled = spilled};
    if (b->has_last && kind == SN_PLACE_VERBATIM && b->last.kind == kind &&
        b->last.client + (row.offset - b->last.offset) == row.client)
        return;
    add_place(b, &row);
}
