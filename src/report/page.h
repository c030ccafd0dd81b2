/**
 * @fileoverview A profile as a page for browsers: one file that holds all it needs. docs/pictures.md says what it shows.
 *
 * The page's script is bundled when Sonde is built (src/report/page); page_form.c holds it, page.c puts a profile into it.
 * Called by the kinds cachegrind and callgrind for --html=.
 */
#ifndef SONDE_REPORT_PAGE_H
#define SONDE_REPORT_PAGE_H

#include "report/callgrind.h"

/** The page without a profile; size 0 if Sonde was built without npm. */
const char *sn_page_form(size_t *size);

/** The mark in the form that a profile takes the place of. */
#define SN_PAGE_MARK "@SONDE-DATA@"

/** Check the options --html= (NULL: not given) and --page-threshold= before a large profile is read for nothing. What is wrong,
    and a build without the page, ends the run with one line, status 2. */
void sn_page_check(const char *html, const char *threshold, size_t file_count, bool merges);

typedef struct sn_page_request {
    const char *path;            /**< of the page */
    const sn_profile_view *view; /**< of the lines: files, events, folders of sources; its profile is sorted */
    const sn_call_graph *graph;  /**< with cycles; NULL: a profile without calls */
    int64_t chosen;              /**< function that it shows at first; -1: the whole program */
    double threshold;            /**< per cent of every total; what is less is left out where there is much */
} sn_page_request;

/** Write the page. What cannot be written ends the run with one line. */
void sn_page_write(const sn_page_request *request);

#endif
