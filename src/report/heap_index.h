/**
 * @fileoverview The blocks of a scan by address: which block an address lies in.
 *
 * A table by pages of 4 KiB leads to the first block that overlaps the page, so that a look-up touches a few bytes; a search
 * by halves over
 * two million blocks misses the caches twenty times. Made by heap.c; used by all that clamps or follows pointers.
 */
#ifndef SONDE_REPORT_HEAP_INDEX_H
#define SONDE_REPORT_HEAP_INDEX_H

#include "report/heap_file.h"

enum {
    SN_HEAPFILE_PAGE_BITS = 12,
    SN_HEAPFILE_REGION_BITS = 30, /**< a table of pages is for a region of so large an alignment */
    SN_HEAPFILE_MOST_REGIONS = 4096,
};

/** A block by its address: one cache line's quarter, because each look-up in a large heap misses the cache. */
typedef struct sn_heapfile_place {
    uint64_t start;
    uint32_t size;   /**< so many bytes from there on lead to the block, at least 1; UINT32_MAX: as many as the block has */
    uint32_t number; /**< of the block in the file */
} sn_heapfile_place;

typedef struct sn_heapfile_index {
    const sn_heapfile *file;
    size_t count;
    uint64_t first, span;  /**< all blocks lie in `span` bytes from `first` on */
    sn_heapfile_place *places; /**< sorted */
    sn_hash regions;       /**< address >> SN_HEAPFILE_REGION_BITS -> table: for each page 1 + the place of its first block,
                                or 0 */
    uint64_t last_region;  /**< a look-up that begins here needs no search */
    const uint32_t *last_table;
    SN_VECTOR(uint32_t) large; /**< places of blocks whose inner pages are not in the tables */
    bool has_tables;
} sn_heapfile_index;

/** Sort the blocks. False: some have no address or overlap each other; `explanation` says so. */
bool sn_heapfile_index_make(sn_heapfile_index *index, const sn_heapfile *file, char *explanation);
void sn_heapfile_index_release(sn_heapfile_index *index);

/** Number of the block that an address lies in, or SN_HEAPFILE_NONE; behind the last byte is outside. A block of 0 bytes is taken
    to have one, so that what points to it is not lost. *start (may be NULL) is the block's address. */
uint32_t sn_heapfile_index_find(sn_heapfile_index *index, uint64_t address, uint64_t *start);

enum { SN_HEAPFILE_BATCH = 64 };

/** The same for at most SN_HEAPFILE_BATCH words, of which zeros lie in no block. Three times as fast: the memory for all is
    asked for at once. numbers[i] and starts[i] are for words[i]; starts[i] is set only where there is a block. Returns whether
    there may be any. */
bool sn_heapfile_index_find_all(sn_heapfile_index *index, const uint64_t *words, size_t count, uint32_t *numbers,
                                uint64_t *starts);

#endif
