/**
 * @fileoverview `sonde report` on heap files: what is shared by the files that print.
 *
 * heap.c has the options and reads files; heap_text.c and heap_json.c print records, heap_query.c answers questions about
 * blocks, heap_page.c writes the page.
 */
#ifndef SONDE_REPORT_HEAP_H
#define SONDE_REPORT_HEAP_H

#include <stdio.h>

#include "report/heap_graph.h"
#include "report/heap_records.h"
#include "sonde/json.h"

/** What is printed of one file, or of the difference of two. */
typedef struct sn_heapfile_view {
    const char *const *paths;
    const sn_heapfile *files; /**< one or two; records are of both, blocks of the last */
    size_t file_count;
    const sn_heapfile_records *records;
    size_t limit;              /**< records of each section in text */
    const sn_heapfile_leaks *leaks; /**< NULL: the file has no roots, or it was not asked for */
} sn_heapfile_view;

void sn_heapfile_print_text(const sn_heapfile_view *view);
void sn_heapfile_print_json(const sn_heapfile_view *view);

/** Print the frames of a stack: one a line, numbered from 1. */
void sn_heapfile_print_stack(const sn_heapfile_stacks *stacks, uint32_t stack, unsigned indent);
/** Write them as an array of texts. */
void sn_heapfile_write_stack(sn_json *json, const char *name, const sn_heapfile_stacks *stacks, uint32_t stack);
/** Write an address as a text, with 0x. */
void sn_heapfile_write_address(sn_json *json, const char *name, uint64_t address);

/** Open a file for another reading. What is wrong ends the run with one line. */
int sn_heapfile_open(const char *path);

#endif
