/**
 * @fileoverview The trace as text. See text.h and lines.h.
 */
#include "text.h"

#include <sonde/tool.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "lines.h"
#include "words.h"
#include "write.h"

enum { BUFFER = 1 << 18 };

struct memtrace_printer {
    int thread;
    const memtrace_block *block;
    unsigned position;
    unsigned fetched;   /**< instructions printed */
    unsigned completed;
    char *end;
    char buffer[BUFFER];
    memtrace_parser parser;
};

memtrace_printer *memtrace_printer_new(int thread) {
    memtrace_printer *printer = calloc(1, sizeof *printer);
    if (!printer)
        sn_fail(125, "memtrace: out of memory");
    printer->thread = thread;
    printer->end = printer->buffer;
    return printer;
}

void memtrace_printer_free(memtrace_printer *printer) {
    free(printer);
}

static void write_out(memtrace_printer *printer) {
    if (printer->end != printer->buffer)
        memtrace_write_lines(printer->thread, printer->buffer, (size_t)(printer->end - printer->buffer));
    printer->end = printer->buffer;
}

static void put_line(memtrace_printer *printer, unsigned kind, uint64_t address, uint64_t size) {
    if (printer->end + MEMTRACE_LONGEST_LINE > printer->buffer + BUFFER)
        write_out(printer);
    printer->end = memtrace_put_line(printer->end, kind, address, size);
}

/** Print the block's instructions before number `end`, as far as they are not printed yet. */
static void fetch(memtrace_printer *printer, unsigned end) {
    for (; printer->fetched < end && printer->fetched < printer->block->instruction_count; printer->fetched++) {
        const memtrace_site *site = memtrace_site_at(printer->block->fetches[printer->fetched]);
        put_line(printer, MEMTRACE_FETCH, site->address, site->size);
    }
}

static void finish_block(memtrace_printer *printer) {
    if (printer->block)
        fetch(printer, printer->completed);
    printer->block = NULL;
}

static void enter(void *data, const memtrace_block *block) {
    memtrace_printer *printer = data;
    finish_block(printer);
    printer->block = block;
    printer->position = 0;
    printer->fetched = 0;
    printer->completed = block->instruction_count;
}

static void left(void *data, unsigned completed) {
    memtrace_printer *printer = data;
    if (completed < printer->completed)
        printer->completed = completed;
}

static void print_access(memtrace_printer *printer, uint64_t address) {
    if (!printer->block || printer->position == printer->block->position_count)
        return;
    const memtrace_step *step = &printer->block->positions[printer->position++];
    const memtrace_site *site = memtrace_site_at(step->site);
    fetch(printer, step->instruction + 1u);
    if (memtrace_address_is_wanted(address, site->size))
        put_line(printer, site->kind, address, site->size);
}

static const uint64_t *addresses(void *data, const uint64_t *words, const uint64_t *end) {
    for (; words < end && !memtrace_is_mark(*words); words++)
        print_access(data, *words);
    return words;
}

static void rows(void *data, unsigned varying, const memtrace_row *rows, unsigned count) {
    memtrace_printer *printer = data;
    if (!printer->block || varying >= printer->block->varying_count)
        return;
    fetch(printer, printer->block->varying[varying].instruction + 1u);
    for (unsigned i = 0; i < count; i++) {
        uint32_t size = (uint32_t)rows[i].word;
        if (memtrace_size_is_wanted(size) && memtrace_address_is_wanted(rows[i].address, size))
            put_line(printer, (unsigned)(rows[i].word >> 32), rows[i].address, size);
    }
}

static const memtrace_sink sink = {enter, addresses, left, rows};

void memtrace_print(memtrace_printer *printer, const uint64_t *words, size_t count) {
    memtrace_parse(&printer->parser, words, count, &sink, printer);
}

void memtrace_printer_flush(memtrace_printer *printer, bool ends) {
    memtrace_end_rows(&printer->parser, &sink, printer);
    if (ends)
        finish_block(printer);
    write_out(printer);
}
