/**
 * @file sonde/cachegrind.h
 * A writer of profiles in Cachegrind's format, which cg_annotate, cg_diff, cg_merge, KCachegrind and `sonde report` read:
 * any events, counted by source file, function and line.
 *
 * Writes to a stream as it is called, in this order: descriptions, the command, the events, lines, the summary. Line ends
 * inside of names are written as spaces.
 */
#ifndef SONDE_CACHEGRIND_H
#define SONDE_CACHEGRIND_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#pragma GCC visibility push(default)

#ifdef __cplusplus
extern "C" {
#endif

/** A profile being written. Set up by sn_cachegrind_begin(); the members are the writer's own. */
typedef struct sn_cachegrind {
    FILE *stream;
    size_t event_count;
    const char *file, *function; /**< of the line before */
} sn_cachegrind;

void sn_cachegrind_begin(sn_cachegrind *profile, FILE *stream);
/** Any number of times: what is shown above a report, as "D1 cache: 32768 B, 64 B, 8-way associative". */
void sn_cachegrind_description(sn_cachegrind *profile, const char *text);
/** The words of the command line, once. */
void sn_cachegrind_command(sn_cachegrind *profile, size_t count, const char *const *words);
/** Names without white space, once. */
void sn_cachegrind_events(sn_cachegrind *profile, size_t count, const char *const *names);
/** A line's counts, one an event. NULL for an unknown file or function, 0 for an unknown line. Lines of one function that
    come one behind the other make the file small; `file` and `function` must live until the next call. */
void sn_cachegrind_line(sn_cachegrind *profile, const char *file, const char *function, unsigned line,
                        const int64_t *counts);
/** The sums of all lines, once, at the end. */
void sn_cachegrind_summary(sn_cachegrind *profile, const int64_t *counts);

#ifdef __cplusplus
}
#endif

#pragma GCC visibility pop
#endif
