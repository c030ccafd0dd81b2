/**
 * @fileoverview Writes a profile in Callgrind's format (Valgrind manual, "Callgrind Format Specification"), which KCachegrind,
 * callgrind_annotate and `sonde report` read.
 */
#ifndef SONDE_TOOLS_CALLS_WRITER_H
#define SONDE_TOOLS_CALLS_WRITER_H

#include <stdio.h>

#include "profile.h"

/** What stands above the profile. */
typedef struct calls_heading {
    int part;            /**< from 1 */
    int thread;          /**< 0: all */
    const char *trigger; /**< why it was written */
} calls_heading;

void calls_write(FILE *stream, const calls_profile *profile, const calls_heading *heading);

#endif
