/**
 * @fileoverview Live blocks with their contents, and words outside of the heap that point into them: --mode=scan.
 */
#ifndef HEAP_SCAN_H
#define HEAP_SCAN_H

#include "rows.h"

/** The rows of all live blocks, in the order of their addresses. */
void heap_scan_write(heap_rows *rows);

/** The member `roots`, with a comma behind it: of what was alive when heap_scan_write() was called by this thread. */
void heap_scan_write_roots(FILE *file);

#endif
