/**
 * @fileoverview Records of a heap file: blocks with the same stacks, added up; and the difference of two files.
 *
 * What dmd.py of Firefox calls a record: two blocks belong to one if the frames that are looked at (--max-frames, less the
 * allocation functions that --ignore-alloc-fns leaves out) are the same texts. Made by heap.c; heap_text.c and heap_json.c
 * print them, heap_page.c draws them.
 */
#ifndef SONDE_REPORT_HEAP_RECORDS_H
#define SONDE_REPORT_HEAP_RECORDS_H

#include "report/heap_file.h"
#include "sonde/tool.h"

/** Frames of a trace that are looked at: places in `frames`, innermost first. */
typedef struct sn_heapfile_stack {
    uint64_t first;
    uint32_t count;
    uint32_t next; /**< with the same hash; SN_HEAPFILE_NONE: none */
} sn_heapfile_stack;

/** The stacks of one or two files, each once. */
typedef struct sn_heapfile_stacks {
    uint32_t max_frames;
    bool ignores_allocators;
    SN_VECTOR(sn_heapfile_stack) items;
    SN_VECTOR(const char *) frames; /**< interned */
    sn_hash by_hash;
} sn_heapfile_stacks;

/** The stack of a trace of a file; SN_HEAPFILE_NONE has one too, which says that it was not kept. */
uint32_t sn_heapfile_stack_of(sn_heapfile_stacks *stacks, const sn_heapfile *file, uint32_t trace);
void sn_heapfile_stacks_release(sn_heapfile_stacks *stacks);

/** Which blocks are listed together. */
typedef enum sn_heapfile_section {
    SN_HEAPFILE_ALL, /**< of all modes but dark-matter */
    SN_HEAPFILE_TWICE_REPORTED, SN_HEAPFILE_UNREPORTED, SN_HEAPFILE_ONCE_REPORTED,
    SN_HEAPFILE_SECTIONS
} sn_heapfile_section;

extern const char *const sn_heapfile_section_names[SN_HEAPFILE_SECTIONS];

/** Sums; of a difference, the second file less the first. */
typedef struct sn_heapfile_sums {
    int64_t blocks, requested, slop, usable;
    int64_t freed, lived; /**< mode cumulative; 0 where the file does not tell */
    int64_t uses[SN_HEAPFILE_USES]; /**< if sn_heapfile.has_uses */
} sn_heapfile_sums;

typedef struct sn_heapfile_record {
    sn_heapfile_section section;
    uint32_t stack, reports[2]; /**< numbers of stacks; reports may be SN_HEAPFILE_NONE */
    sn_heapfile_sums sums;
    uint32_t size;              /**< first of its sizes; SN_HEAPFILE_NONE: none */
    uint32_t next;              /**< with the same hash */
} sn_heapfile_record;

/** So many blocks of a record have this usable size; of a difference, more or less than before. */
typedef struct sn_heapfile_size {
    uint64_t usable;
    int64_t count;
    uint32_t record;
    uint32_t next; /**< of the record */
    uint32_t same_hash;
} sn_heapfile_size;

typedef enum sn_heapfile_order {
    SN_HEAPFILE_BY_USABLE, SN_HEAPFILE_BY_REQUESTED, SN_HEAPFILE_BY_SLOP, SN_HEAPFILE_BY_BLOCKS, SN_HEAPFILE_BY_READ, SN_HEAPFILE_BY_WRITTEN,
    SN_HEAPFILE_BY_NEVER_USED
} sn_heapfile_order;

typedef struct sn_heapfile_records {
    sn_heapfile_mode mode;
    bool has_uses; /**< a file counts accesses */
    sn_heapfile_stacks stacks;
    SN_VECTOR(sn_heapfile_record) items;
    SN_VECTOR(sn_heapfile_size) sizes;
    SN_VECTOR(uint32_t) shown;     /**< records that the filters let through, by section and order */
    sn_heapfile_sums total;            /**< of all, filters or not */
    sn_hash by_hash, size_by_hash;
    SN_VECTOR(uint32_t) record_of; /**< of the blocks of the last file that was added */
    SN_VECTOR(uint32_t) blocks;    /**< with addresses: of the last file, by record */
    SN_VECTOR(uint32_t) first_block; /**< of each record, in `blocks`; one more at the end */
} sn_heapfile_records;

/** Add a file's blocks `sign` times (1 or -1). Records that are nothing in the end are not shown. */
void sn_heapfile_records_add(sn_heapfile_records *records, const sn_heapfile *file, int sign);

/** Choose and sort what is shown. A filter is a text that a frame must hold; behind "!" one that none may hold; "\" at the
    beginning takes the rest as it is. */
void sn_heapfile_records_choose(sn_heapfile_records *records, sn_heapfile_order order, const sn_texts *filters,
                                const sn_texts *filters_out);

/** Sort the blocks of the file that was added last by record, to list addresses. */
void sn_heapfile_records_list_blocks(sn_heapfile_records *records);

void sn_heapfile_records_release(sn_heapfile_records *records);

#endif
