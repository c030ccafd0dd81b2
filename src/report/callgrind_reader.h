/**
 * @fileoverview Reads profiles in Callgrind's format, those of other programs that write it included.
 *
 * Called by callgrind.c. A damaged file is refused with the line and what is wrong with it; a fuzzer feeds it. The format is
 * that of the page "Callgrind Format Specification" of Valgrind's manual; what it leaves open is done as callgrind_annotate
 * does it.
 */
#ifndef SONDE_REPORT_CALLGRIND_READER_H
#define SONDE_REPORT_CALLGRIND_READER_H

#include <stdio.h>

#include "report/call_profile.h"

enum { SN_CALLGRIND_EXPLANATION_SIZE = 200 };

/** Whether a file that begins so is meant to be a profile in this format. */
bool sn_callgrind_recognises(const char *head, size_t size);

/** Read a stream to its end into an empty profile: all its parts together, derived events included. Returns false with one
    line, without the file's name, in explanation[0..SN_CALLGRIND_EXPLANATION_SIZE), or with explanation[0] zero and errno
    set when reading failed; the profile must be released all the same. */
bool sn_callgrind_parse(sn_call_profile *profile, FILE *stream, char *explanation);

#endif
