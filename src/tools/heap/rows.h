/**
 * @fileoverview The rows of a blockList, as they are written.
 */
#ifndef HEAP_ROWS_H
#define HEAP_ROWS_H

#include "traces.h"

typedef struct heap_rows {
    FILE *file;
    heap_traces *traces;
    bool has_some;
} heap_rows;

/** `{"req": ..., "slop": ..., "alloc": ...`; the caller adds members before it ends the row. */
void heap_row_begin(heap_rows *rows, uint64_t requested, uint64_t slop, sn_context context);
void heap_row_end(heap_rows *rows);

#endif
