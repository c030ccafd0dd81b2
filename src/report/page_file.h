/**
 * @fileoverview The file of a page: the form that the build made, and in it, in place of its mark, compressed JSON.
 *
 * Used by page.c, heap_page.c, massif_page.c and values_page.c, which write the JSON.
 */
#ifndef SONDE_REPORT_PAGE_FILE_H
#define SONDE_REPORT_PAGE_FILE_H

#include <stdio.h>

#include "sonde/json.h"

typedef struct sn_page_file {
    const char *path;
    FILE *file;
    FILE *stream;     /**< takes the JSON */
    const char *rest; /**< of the form, behind the mark */
    size_t rest_size;
} sn_page_file;

/** Begin a page, and in it the object of its data, whose members `json` then takes. What cannot be opened ends the run with one
    line. */
sn_page_file sn_page_file_begin(const char *path, sn_json *json);
/** Complete the object and the page. What could not be written ends the run with one line. */
void sn_page_file_end(sn_page_file *page, sn_json *json);

#endif
