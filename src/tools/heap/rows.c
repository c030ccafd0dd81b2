/**
 * @fileoverview Rows. See rows.h.
 */
#include "rows.h"

#include "settings.h"

void heap_row_begin(heap_rows *rows, uint64_t requested, uint64_t slop, sn_context context) {
    fputs(rows->has_some ? ",\n  {" : "\n  {", rows->file);
    rows->has_some = true;
    fprintf(rows->file, "\"req\": %lu", requested);
    if (slop != 0) {
        fprintf(rows->file, ", \"slop\": %lu", slop);
    }
    if (context != SN_NO_CONTEXT) {
        fputs(", \"alloc\": ", rows->file);
        heap_trace_name(rows->traces, rows->file, context);
    }
}

void heap_row_end(heap_rows *rows) {
    fputc('}', rows->file);
}
