/**
 * @fileoverview A profile in memory: events counted by source file, function and line.
 *
 * Made by cachegrind_reader.c, by adding several, and read by all that print. Names are interned: equal names are equal
 * pointers. A place (file, function, line) has one row, however often the file names it; with sn_profile_append() only once
 * the profile is sorted.
 */
#ifndef SONDE_REPORT_PROFILE_H
#define SONDE_REPORT_PROFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sonde/hash.h"
#include "sonde/vector.h"

enum { SN_PROFILE_MOST_EVENTS = 64 };

typedef struct sn_profile_row {
    const char *file, *function;
    uint32_t line; /**< 0: unknown */
} sn_profile_row;

/** All zero is a valid, empty profile. */
typedef struct sn_profile {
    const char *path;                             /**< where it was read; NULL for a sum */
    SN_VECTOR(const char *) descriptions;
    const char *command;
    const char *events[SN_PROFILE_MOST_EVENTS];
    const char *meanings[SN_PROFILE_MOST_EVENTS]; /**< of events, as the file explains them; NULL where it does not */
    unsigned event_count;
    SN_VECTOR(sn_profile_row) rows;
    SN_VECTOR(int64_t) counts;                    /**< event_count of them a row */
    int64_t totals[SN_PROFILE_MOST_EVENTS];
    uint64_t magnitudes[SN_PROFILE_MOST_EVENTS];  /**< sums without signs: while they fit, every partial sum does */
    sn_hash name_numbers, place_numbers, row_numbers; /**< from names to rows: profile.c */
} sn_profile;

/** Number of the row of a place, a new one with zero counts if there was none. The names must be interned. */
size_t sn_profile_row_of(sn_profile *profile, const char *file, const char *function, uint32_t line);

static inline const int64_t *sn_profile_counts(const sn_profile *profile, size_t row) {
    return profile->counts.items + row * profile->event_count;
}

/** Add counts to a row and to the totals. Returns false, and adds nothing, if a number would get too large. */
bool sn_profile_add(sn_profile *profile, size_t row, const int64_t *counts);

/** Add counts to a row behind all others, or to the last one if that is of the same place, and to the totals: fast, for rows
    that come by the million. Not to be mixed with sn_profile_row_of(). Returns false as above. */
bool sn_profile_append(sn_profile *profile, const char *file, const char *function, uint32_t line, const int64_t *counts);

/** Position of an event by its name, or -1. */
int sn_profile_event(const sn_profile *profile, const char *name, size_t length);

/** Put the rows in the order of files, functions and lines, and make one of those of the same place. */
void sn_profile_sort(sn_profile *profile);

/** One function: its rows are first to first + count - 1 of a sorted profile. */
typedef struct sn_profile_function {
    const char *file, *function;
    size_t first, count;
    int64_t counts[SN_PROFILE_MOST_EVENTS];
} sn_profile_function;

typedef SN_VECTOR(sn_profile_function) sn_profile_functions;

/** The functions of a sorted profile, in its order. To be released with sn_vector_release(). */
sn_profile_functions sn_profile_sum_functions(const sn_profile *profile);

/** Write it in Cachegrind's format. */
void sn_profile_write(const sn_profile *profile, FILE *stream);

void sn_profile_release(sn_profile *profile);

#endif
