/**
 * @fileoverview --debug-dump-block: a block's client code, what is inserted, and the emitted code, to the log.
 */
#include <stdio.h>

#include "base/log.h"
#include "isa/isa.h"
#include "jit/translate.h"

static const char *const place_names[] = {"verbatim", "boundary", "inside", "indirect", "analysis", "reading",
                                          "begun", "after syscall"};

static void line(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void line(const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text - 1, format, arguments);
    va_end(arguments);
    if (size < 0) return;
    if ((size_t)size > sizeof text - 2) size = sizeof text - 2;
    text[size] = '\n';
    sn_log_write(text, (size_t)size + 1);
}

static void dump_client(const sn_block *block) {
    char text[128];
    for (unsigned i = 0; i < block->count; i++) {
        const sn_insn *insn = &block->insns[i];
        line("  %12lx  %s%s", (unsigned long)insn->pc,
             sn_disassemble(insn->bytes, insn->length, insn->pc, text, sizeof text),
             block->followed[i] ? "   (followed)" : "");
        if (block->taken[i].amount) line("                  taken: counter %u += %u", block->taken[i].counter,
                                         block->taken[i].amount);
        if (block->iterations[i].present) line("                  iterations: counter %u, empty %u",
                                               block->iterations[i].iterations, block->iterations[i].empty);
    }
}

static void dump_emitted(const sn_block_record *record) {
    char text[128];
    const sn_place *shown = NULL;
    for (uint64_t at = record->start; at < (uint64_t)record->start + record->size;) {
        const sn_place *place = sn_place_of(record, at);
        if (place != shown) line("  -- %s, client %lx", place_names[SN_PLACE_KIND(place->kind)],
                                 (unsigned long)sn_place_client(record, place));
        shown = place;
        sn_insn insn;
        if (!sn_decode((const uint8_t *)at, (uint64_t)record->start + record->size - at, at, &insn)) break;
        line("  %12lx  %s", (unsigned long)at, sn_disassemble(insn.bytes, insn.length, at, text, sizeof text));
        at += insn.length;
    }
}

void sn_dump_block(const sn_block *block, uint32_t number) {
    const sn_block_record *record = sn_block_record_at(number);
    line("block %u at %lx, %u instructions%s", number, (unsigned long)record->client, record->instructions,
         record->checks_itself ? ", checks itself" : "");
    dump_client(block);
    for (unsigned i = 0; i < block->entry_count; i++)
        line("  entry: counter %u += %u", block->entry[i].counter, block->entry[i].amount);
    char text[160];
    for (unsigned i = 1; i < block->analysis.operation_count; i++)
        line("  %s", sn_operation_text(&block->analysis, &block->analysis.operations[i], text, sizeof text));
    line("  emitted, entry %x:", record->entry);
    dump_emitted(record);
}
