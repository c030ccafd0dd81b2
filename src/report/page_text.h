/**
 * @fileoverview Compressed text in a page: what is written into its stream ends up as base64 of a zlib stream in a file.
 *
 * Used by page_file.c alone. Text is compressed as it comes: nothing large is held.
 */
#ifndef SONDE_REPORT_PAGE_TEXT_H
#define SONDE_REPORT_PAGE_TEXT_H

#include <stdio.h>

/** A stream that compresses into `file`, which stays open. Closing it completes the text; false from ferror() or fclose()
    says that something could not be written. NULL when there is no memory. */
FILE *sn_page_text_open(FILE *file);

#endif
