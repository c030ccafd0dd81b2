/**
 * @fileoverview Reads profiles in Cachegrind's format, those of other programs that write it included.
 *
 * Called by cachegrind.c. A damaged file is refused with the line and what is wrong with it; a fuzzer feeds it.
 */
#ifndef SONDE_REPORT_CACHEGRIND_READER_H
#define SONDE_REPORT_CACHEGRIND_READER_H

#include "report/profile.h"

enum { SN_CACHEGRIND_EXPLANATION_SIZE = 200 };

/** Whether a file that begins so is meant to be a profile in this format. */
bool sn_cachegrind_recognises(const char *head, size_t size);

/** Read `size` bytes of text into an empty profile. Returns false with one line, without the file's name, in
    explanation[0..SN_CACHEGRIND_EXPLANATION_SIZE); the profile must be released all the same. */
bool sn_cachegrind_parse(sn_profile *profile, const char *text, size_t size, char *explanation);

#endif
