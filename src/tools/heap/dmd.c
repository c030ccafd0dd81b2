/**
 * @fileoverview DMD's JSON. See dmd.h. Rows of the modes live and cumulative are cells; those of dark-matter and scan are blocks.
 */
#include "dmd.h"

#include <stdlib.h>

#include "accesses.h"
#include "cells.h"
#include "modules.h"
#include "reports.h"
#include "rows.h"
#include "scan.h"
#include "traces.h"

static void write_head(FILE *file, heap_cause cause, unsigned number) {
    const char *const *words;
    int count = sn_client_arguments(&words);
    fprintf(file, "{\n \"version\": 5,\n \"invocation\": {\n  \"dmdEnvVar\": \"--mode=%s\",\n  \"mode\": \"%s\"\n },\n",
            heap_mode_names[heap_current.mode], heap_mode_names[heap_current.mode]);
    fprintf(file, " \"sonde\": {\n  \"process\": %d,\n  \"command\": [", sn_client_process());
    for (int i = 0; i < count; i++) {
        fputs(i == 0 ? "" : ", ", file);
        heap_print_string(file, words[i]);
    }
    fprintf(file, "],\n  \"cause\": \"%s\",\n  \"number\": %u\n },\n", heap_cause_names[cause], number);
}

static void write_uses(FILE *file, const heap_cell *cell) {
    fprintf(file, ", \"read\": %lu, \"written\": %lu", cell->uses.read + cell->now.read, cell->uses.written + cell->now.written);
    uint64_t never_read = cell->uses.never_read + cell->now.never_read, never_used = cell->uses.never_used + cell->now.never_used;
    if (never_read != 0) {
        fprintf(file, ", \"unread\": %lu", never_read);
    }
    if (never_used != 0) {
        fprintf(file, ", \"unused\": %lu", never_used);
    }
}

static void write_cells(heap_rows *rows, heap_cause cause) {
    uint32_t count = heap_cell_count();
    heap_accesses_of_live();
    for (uint32_t i = 1; i <= count; i++) {
        const heap_cell *cell = heap_cell_at(i);
        uint64_t blocks = heap_current.mode == HEAP_CUMULATIVE ? cell->ever
                          : cause == HEAP_PEAK ? heap_cell_peak(cell).blocks : cell->live.blocks;
        if (blocks == 0) {
            continue;
        }
        heap_row_begin(rows, cell->requested, cell->slop, cell->context);
        if (blocks != 1) {
            fprintf(rows->file, ", \"num\": %lu", blocks);
        }
        if (heap_current.mode == HEAP_CUMULATIVE && cell->freed != 0) {
            fprintf(rows->file, ", \"freed\": %lu", cell->freed);
        }
        if (heap_current.mode == HEAP_CUMULATIVE && cell->lived != 0) {
            fprintf(rows->file, ", \"lived\": %lu", cell->lived);
        }
        if (heap_current.accesses) {
            write_uses(rows->file, cell);
        }
        heap_row_end(rows);
    }
}

void heap_dmd_write(FILE *file, heap_cause cause, unsigned number) {
    heap_traces traces = heap_traces_new();
    heap_rows rows = {.file = file, .traces = &traces};
    write_head(file, cause, number);
    fputs(" \"blockList\": [", file);
    if (heap_current.mode == HEAP_SCAN) {
        heap_scan_write(&rows);
    } else if (heap_current.mode == HEAP_DARK_MATTER) {
        heap_reports_write(&rows);
    } else {
        write_cells(&rows, cause);
    }
    fputs("\n ],\n", file);
    if (heap_current.mode == HEAP_SCAN) {
        heap_scan_write_roots(file);
        heap_modules_write(file);
    }
    heap_traces_write(&traces, file);
    fputs("\n}\n", file);
}
