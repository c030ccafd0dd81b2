/**
 * @fileoverview The log (one "sonde: ..." line a message), the tool's report file, and the end of a run that can't start.
 *
 * Owns two descriptors (see descriptor.h): a copy of standard error made before the client could close it, and the file
 * that --log-file names. Every line is one write(2), from a buffer on the stack: lines of several threads and processes
 * do not mix, and all that is declared here may be called where malloc may not, signal handlers included.
 * sn_message() and sn_fail() are declared in sonde/tool.h.
 */
#ifndef SONDE_BASE_LOG_H
#define SONDE_BASE_LOG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "sonde/tool.h"

/** Exit statuses of Sonde itself; docs/exit-status.md. */
enum {
    SN_STATUS_FAILURE = 1,        /**< the client ended, but a report could not be written */
    SN_STATUS_USAGE = 2,          /**< unknown tool or option, bad value, unwritable output file */
    SN_STATUS_NOT_EXECUTABLE = 126,
    SN_STATUS_NOT_FOUND = 127,
    SN_STATUS_ENGINE = 125,       /**< the engine itself failed */
};

/** Open the log as --log-file says, else a copy of standard error. Ends the run with one line when it can't. */
void sn_log_open(void);

/** The log's descriptor; -1 if standard error was closed at the start. */
int sn_log_descriptor(void);

/** In a forked child: when the name given to --log-file holds %p, the child gets a log of its own. */
void sn_log_after_fork(void);

/** A message that is written only with at least `level` times -v. */
void sn_verbose(unsigned level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** The engine found itself in a state that it can't be in: one line with Sonde's version, the client address (0 if it
    is not known) and how to report it. Does not end the process: the caller lets the tool write its report first. */
void sn_log_engine_failure(unsigned long client_address, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Bytes to the log as they are: for dumps. */
void sn_log_write(const char *text, size_t size);

#endif
