/**
 * @fileoverview Reports on traces of memory accesses: what memtrace.c asks the printers for.
 */
#ifndef SONDE_REPORT_MEMTRACE_H
#define SONDE_REPORT_MEMTRACE_H

#include "report/memtrace_tally.h"

/** What is shown: one table, or a summary. The order is that of the choices of --view=. */
typedef enum sn_memtrace_view {
    SN_VIEW_SUMMARY,
    SN_VIEW_TRACE,
    SN_VIEW_FUNCTIONS,
    SN_VIEW_LINES,
    SN_VIEW_PAGES,
    SN_VIEW_STRIDES,
    SN_VIEW_REUSE,
} sn_memtrace_view;

typedef struct sn_memtrace_report {
    sn_memtrace_view view;
    const char *file;
    const char *wrong;         /**< with the file, or NULL */
    size_t limit;              /**< rows of a table */
    sn_memtrace_tally *tally;
} sn_memtrace_report;

void sn_memtrace_print_text(const sn_memtrace_report *report);
void sn_memtrace_print_json(const sn_memtrace_report *report);

/** The trace itself, as lines in Lackey's form or as one JSON document, access by access. Returns what is wrong with the
    file, or NULL. */
const char *sn_memtrace_print_lines(sn_memtrace_reader *reader, FILE *stream);
const char *sn_memtrace_print_events(sn_memtrace_reader *reader, FILE *stream, const char *file);

#endif
