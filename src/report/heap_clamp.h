/**
 * @fileoverview Clamping: every word that points into a block becomes that block's address, every other word zero.
 *
 * As dmd.py --clamp-contents of Firefox does it. Called by heap.c.
 */
#ifndef SONDE_REPORT_HEAP_CLAMP_H
#define SONDE_REPORT_HEAP_CLAMP_H

#include "report/heap_index.h"

/** What the words of blocks and roots were. */
typedef struct sn_heapfile_clamp_stats {
    uint64_t starts;  /**< pointed to the start of a block */
    uint64_t insides; /**< pointed to another byte of one */
    uint64_t others;  /**< pointed into none, and were not zero */
    uint64_t zeros;
} sn_heapfile_clamp_stats;

/** Write the file at `from` again at `to` (which may be the same name, and appears when it is whole), clamped; compressed if
    the name ends in ".gz". All but the contents is copied as it is. False: the source cannot be read, as `explanation` says.
    What cannot be written ends the run with one line. */
bool sn_heapfile_clamp(const sn_heapfile *file, sn_heapfile_index *index, const char *from, const char *to,
                       sn_heapfile_clamp_stats *stats, char *explanation);

/** Print a text, in which every hexadecimal number that lies in a block is that block's address: 0x and digits, or 8 to 16
    digits alone. What cannot be read ends the run with one line. */
void sn_heapfile_clamp_text(sn_heapfile_index *index, const char *path);

#endif
