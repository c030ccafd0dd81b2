/**
 * @fileoverview Reports on profiles in Cachegrind's format: what their parts share.
 *
 * cachegrind.c takes the options and reads the files; profile_text.c, annotate.c and profile_json.c print one profile,
 * compare.c the differences of two. The kind callgrind uses the same for what it has in common.
 */
#ifndef SONDE_REPORT_CACHEGRIND_H
#define SONDE_REPORT_CACHEGRIND_H

#include "report/columns.h"
#include "report/profile.h"

/** One profile (or the sum of several), with what the options say about showing it. */
typedef struct sn_profile_view {
    const sn_profile *profile; /**< sorted */
    sn_columns columns;
    sn_profile_functions functions; /**< the largest first */
    size_t function_limit;
    bool annotates;            /**< source lines are shown */
    unsigned context;          /**< lines around each */
    const char *folders;       /**< where sources are looked for too, separated by colons; NULL */
    const char *const *files;  /**< that were read */
    size_t file_count;
} sn_profile_view;

void sn_profile_print_text(const sn_profile_view *view);
/** The top of it: files, command, descriptions, totals. */
void sn_profile_print_head(const sn_profile_view *view);
void sn_profile_print_json(const sn_profile_view *view);

/** The columns of numbers of one line: SN_PROFILE_NUMBERS_WIDTH and 7 more each. Returns the largest share among them; the
    line is to be ended by sn_form_end_line() with it. */
enum { SN_PROFILE_NUMBERS_WIDTH = 14 };
double sn_profile_print_numbers(const sn_profile_view *view, const int64_t *counts);
/** The line above such lines. */
void sn_profile_print_heading(const sn_profile_view *view, const char *rest);
/** The largest share that any of the columns has. */
double sn_profile_largest_share(const sn_profile_view *view, const int64_t *counts);

/** Open a source for reading: by its name as recorded, then behind each of the folders, as it is and without its own folders.
    path[0..size) gets where it was found; NULL when it was not. */
FILE *sn_profile_open_source(const sn_profile_view *view, const char *name, char *path, size_t size);
/** Whether a source changed after it was counted: its lines may be others. */
bool sn_profile_source_is_newer(const sn_profile_view *view, FILE *stream);

/** The source lines of the files that the listed functions are in. */
void sn_profile_annotate(const sn_profile_view *view);

/** How `after` differs from `before`, as text or JSON; both are sorted and have at least one event in common. `title` is what
    the list of functions is called, `kind` the member of that name. */
void sn_profile_compare_text(const sn_profile *before, const sn_profile *after, const char *sort, size_t limit,
                             const char *title);
void sn_profile_compare_json(const sn_profile *before, const sn_profile *after, const char *kind);

/** The difference as a profile: by function, without lines. */
void sn_profile_subtract(sn_profile *difference, const sn_profile *before, const sn_profile *after);

#endif
