/**
 * @fileoverview `sonde report`: reads finished profiles and prints what they say.
 *
 * Each kind of profile is one row of a table in report.c. src/cli calls sn_report_command(); a kind brings its options,
 * tells its files by their first bytes, and prints.
 */
#ifndef SONDE_REPORT_REPORT_H
#define SONDE_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "sonde/tool.h"

enum {
    SN_REPORT_DAMAGED = 3,      /**< exit status: a file is no profile, is incomplete, or is of another tool */
    SN_REPORT_HEAD_SIZE = 4096, /**< of so many first bytes `recognises` sees at most */
};

/** One kind of profile. */
typedef struct sn_report_kind {
    const char *name;         /**< "cachegrind" */
    const char *what;         /**< one line for --help: which files these are */
    const sn_option *options; /**< its own; a flag may be given as --name for --name=yes */
    bool (*recognises)(const char *head, size_t size);
    /** Reports on the files (at least one; the first one was recognised). Returns the exit status. What is wrong with a
        file ends the run by sn_fail(). Standard output is flushed and checked by the caller. */
    int (*run)(const char *const *files, size_t count);
} sn_report_kind;

extern const sn_report_kind sn_report_cachegrind, sn_report_callgrind, sn_report_contexts, sn_report_heap, sn_report_massif,
    sn_report_memtrace, sn_report_values;

/** The value of an option that is a share in per cent, from 0 to 100; `otherwise` if it was not given (NULL). What is wrong
    with it ends the run with one line. */
double sn_report_percent(const char *option, const char *text, double otherwise);

/** The subcommand: `words` are those behind `sonde report`, NULL-terminated. Does not return. */
_Noreturn void sn_report_command(const char *const *words);

#endif
