/**
 * @fileoverview Words of a heap file that lie in a range, found in the text, without making numbers of all the others.
 *
 * Who asks for the pointers to one block wants a few words of a hundred million. The digits that all numbers of the range begin
 * with are looked for, sixteen bytes at a time; what has them is read. Used by heap_file.c for heap_query.c.
 */
#ifndef SONDE_REPORT_HEAP_SEARCH_H
#define SONDE_REPORT_HEAP_SEARCH_H

#include "report/heap_scan.h"

/** Words in a range. */
typedef struct sn_scan_range {
    uint64_t first, span;      /**< the words in so many from `first` on */
    unsigned char digits[16];  /**< what they all begin with, in small letters; behind leading zeros */
    unsigned count;            /**< how many; fewer than 3: all words are made numbers of */
} sn_scan_range;

sn_scan_range sn_scan_range_of(uint64_t first, uint64_t span);

/** A word in the range: its number in the array, and the array's first word. */
typedef void sn_scan_found(void *data, uint64_t number, uint64_t word, uint64_t head);

/** Read an array of strings of 1 to 16 hexadecimal digits; words in the range are told, in order. Others are not looked at: what is
    wrong with them is not noticed. */
void sn_scan_search_words(sn_scan *scan, const sn_scan_range *range, sn_scan_found *found, void *data);

#endif
