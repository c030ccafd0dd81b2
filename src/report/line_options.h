/**
 * @fileoverview The options that reports of profiles by source line have in common: what is listed, shown and annotated, and
 * whether it becomes a page.
 *
 * For cachegrind.c and callgrind.c, of which one is run: the options are given once.
 */
#ifndef SONDE_REPORT_LINE_OPTIONS_H
#define SONDE_REPORT_LINE_OPTIONS_H

#include "report/page.h"
#include "report/text_form.h"
#include "sonde/tool.h"

typedef struct sn_line_options {
    int color;               /**< sn_color_choice */
    bool merges, annotates;
    int64_t function_limit, context;
    const char *sort, *show, *folders, *html, *page_threshold_text; /**< NULL: not given */
} sn_line_options;

extern sn_line_options sn_line_options_given;

/** Rows of a table of options; the texts say what is sorted by and what the columns are. */
#define SN_LINE_OPTION_MERGE \
    {"merge", SN_OPTION_FLAG, &sn_line_options_given.merges, "no", NULL, "report the sum of all files"}
#define SN_LINE_OPTIONS(sort_text, show_text)                                                                             \
    {"functions", SN_OPTION_NUMBER, &sn_line_options_given.function_limit, "10", NULL, "list this many functions"},       \
    {"sort", SN_OPTION_STRING, &sn_line_options_given.sort, "the first event", "EVENTS", sort_text},                      \
    {"show", SN_OPTION_STRING, &sn_line_options_given.show, "what fits", "EVENTS", show_text},                            \
    {"annotate", SN_OPTION_FLAG, &sn_line_options_given.annotates, "yes", NULL,                                           \
     "show the source lines of the functions listed"},                                                                    \
    {"context", SN_OPTION_NUMBER, &sn_line_options_given.context, "2", NULL,                                              \
     "source lines shown around each line with counts"},                                                                  \
    {"sources", SN_OPTION_STRING, &sn_line_options_given.folders, "", "FOLDERS",                                          \
     "where sources are looked for that are not where they were compiled (separated by colons)"},                         \
    {"html", SN_OPTION_STRING, &sn_line_options_given.html, "none", "FILE",                                               \
     "write a page for browsers instead, with pictures"},                                                                 \
    {"page-threshold", SN_OPTION_STRING, &sn_line_options_given.page_threshold_text, "0.01", "PERCENT",                   \
     "leave out of the page what is less, where there is much"},                                                          \
    {"color", SN_OPTION_CHOICE, &sn_line_options_given.color, "auto", "auto|yes|no", "mark what is large; auto: on a terminal"}

/** What is wrong with them for so many files ends the run with one line. */
void sn_line_options_check(size_t file_count);

/** Whether two files are to be compared. */
bool sn_line_options_compare(size_t file_count);

/** The view of a profile that they ask for. Its `functions` are to be released. */
sn_profile_view sn_line_options_view(const sn_profile *profile, const char *const *files, size_t count);

/** Write the page if one is asked for; `graph` and `chosen` as in sn_page_request. Returns whether it was. */
bool sn_line_options_write_page(const sn_profile_view *view, const sn_call_graph *graph, int64_t chosen);

#endif
