/**
 * @fileoverview Heap dumps as pages for browsers: flame graph of records, and the blocks around one. docs/pictures.md says what
 * they show; src/report/page/heap.js reads what is written.
 */
#ifndef SONDE_REPORT_HEAP_PAGE_H
#define SONDE_REPORT_HEAP_PAGE_H

#include "report/heap_query.h"

/** Write a page of the view's records and, if `answer` is not NULL, of the blocks around the one that it is about. What cannot be
    written ends the run with one line. */
void sn_heapfile_page_write(const char *path, const sn_heapfile_view *view, const sn_heapfile_answer *answer);

#endif
