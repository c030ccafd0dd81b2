/**
 * @fileoverview Blocks that the program's own accounting covers: --mode=dark-matter.
 */
#ifndef HEAP_REPORTS_H
#define HEAP_REPORTS_H

#include <sonde/heap.h>

#include "rows.h"

/** A request of <sonde/client.h> or DMD's meaning: report a block, report it as allocated, forget reports. False if it is none. */
bool heap_reports_request(sn_thread *thread, const uint64_t arguments[6], uint64_t *result);

/** The rows of all live blocks. */
void heap_reports_write(heap_rows *rows);

#endif
