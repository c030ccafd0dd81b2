/**
 * @fileoverview Files that the user names for what Sonde writes: opening, and the tool's report (--output=).
 *
 * Owns the report's descriptor and stream. sn_output(), which hands out the stream, is declared in sonde/tool.h.
 */
#ifndef SONDE_BASE_REPORT_FILE_H
#define SONDE_BASE_REPORT_FILE_H

#include <stdbool.h>
#include <stddef.h>

/** Open the file that `template` (filename.h) names, for appending; emptied unless this Sonde follows an execve, in which
    case the program before wrote there. The name goes to name[0..size). Returns the descriptor, or -1 with the
    reason in *wrong. */
int sn_report_file_open(const char *template, unsigned sequence, char *name, size_t size, const char **wrong);

/** Open what --output names, so that a file that can't be written stops the run before it starts. Without --output does
    nothing. */
void sn_output_open(void);

/** Let what this thread prints to sn_output() go to `descriptor`, from byte `at` on, instead. False if there is no memory. */
bool sn_output_divert(int descriptor, long at);
/** As before; returns whether everything was written. */
bool sn_output_divert_end(void);

/** Write what was printed so far; returns whether that could be done. */
bool sn_output_flush(void);

/** The tool has ended: write the report, if there is any. Returns whether everything was written; says so in one line if
    not. It stays open: other threads print until an execve succeeds, or all of them when it fails. */
bool sn_output_complete(void);

/** In a forked child: what the parent had not written yet is the parent's. A name with %p gives the child a file of its
    own. */
void sn_output_after_fork(void);

/** Whether the tool's output is a record of what happens (sn_output_is_record()), not a report. */
bool sn_output_holds_record(void);

#endif
