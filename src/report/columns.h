/**
 * @fileoverview The columns of a report: single events, or sums of events that belong together (D1mr+D1mw).
 *
 * One column is what rows are sorted by and is shown as a number; all are shown as shares of the total. Made by
 * cachegrind.c of the options; used by all that print.
 */
#ifndef SONDE_REPORT_COLUMNS_H
#define SONDE_REPORT_COLUMNS_H

#include "report/profile.h"

enum { SN_MOST_COLUMNS = 4 };

typedef struct sn_column {
    const char *title; /**< interned */
    uint64_t events;   /**< bit N: event N */
} sn_column;

typedef struct sn_columns {
    sn_column sort;
    sn_column shown[SN_MOST_COLUMNS];
    unsigned count;
} sn_columns;

/** Columns as --show= and --sort= say (NULL: not given). What is wrong with them ends the run with one line. */
sn_columns sn_columns_choose(const sn_profile *profile, const char *show, const char *sort);

int64_t sn_column_value(const sn_column *column, const int64_t *counts);

/** Share of the total in per cent; 0 where the total is 0. */
double sn_column_share(const sn_column *column, const int64_t *counts, const int64_t *totals);

/** Sort functions by a column, the largest first; by their names where it is equal. */
void sn_columns_sort_functions(sn_profile_functions *functions, const sn_column *column);

#endif
