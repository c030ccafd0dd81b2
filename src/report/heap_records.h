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
typedef struct sn_heap_stack {
    uint64_t first;
    uint32_t count;
    uint32_t next; /**< with the same hash; SN_HEAP_NONE: none */
} sn_heap_stack;

/** The stacks of one or two files, each once. */
typedef struct sn_heap_stacks {
    uint32_t max_frames;
    bool ignores_allocators;
    SN_VECTOR(sn_heap_stack) items;
    SN_VECTOR(const char *) frames; /**< interned */
    sn_hash by_hash;
} sn_heap_stacks;

/** The stack of a trace of a file; SN_HEAP_NONE has one too, which says that it was not kept. */
uint32_t sn_heap_stack_of(sn_heap_stacks *stacks, const sn_heap_file *file, uint32_t trace);
void sn_heap_stacks_release(sn_heap_stacks *stacks);

/** Which blocks are listed together. */
typedef enum sn_heap_section {
    SN_HEAP_ALL, /**< of all modes but dark-matter */
    SN_HEAP_TWICE_REPORTED, SN_HEAP_UNREPORTED, SN_HEAP_ONCE_REPORTED,
    SN_HEAP_SECTIONS
} sn_heap_section;

extern const char *const sn_heap_section_names[SN_HEAP_SECTIONS];

/** Sums; of a difference, the second file less the first. */
typedef struct sn_heap_sums {
    int64_t blocks, requested, slop, usable;
} sn_heap_sums;

typedef struct sn_heap_record {
    sn_heap_section section;
    uint32_t stack, reports[2]; /**< numbers of stacks; reports may be SN_HEAP_NONE */
    sn_heap_sums sums;
    uint32_t size;              /**< first of its sizes; SN_HEAP_NONE: none */
    uint32_t next;              /**< with the same hash */
} sn_heap_record;

/** So many blocks of a record have this usable size; of a difference, more or less than before. */
typedef struct sn_heap_size {
    uint64_t usable;
    int64_t count;
    uint32_t record;
    uint32_t next; /**< of the record */
    uint32_t same_hash;
} sn_heap_size;

typedef enum sn_heap_order { SN_HEAP_BY_USABLE, SN_HEAP_BY_REQUESTED, SN_HEAP_BY_SLOP, SN_HEAP_BY_BLOCKS } sn_heap_order;

typedef struct sn_heap_records {
    sn_heap_mode mode;
    sn_heap_stacks stacks;
    SN_VECTOR(sn_heap_record) items;
    SN_VECTOR(sn_heap_size) sizes;
    SN_VECTOR(uint32_t) shown;     /**< records that the filters let through, by section and order */
    sn_heap_sums total;            /**< of all, filters or not */
    sn_hash by_hash, size_by_hash;
    SN_VECTOR(uint32_t) record_of; /**< of the blocks of the last file that was added */
    SN_VECTOR(uint32_t) blocks;    /**< with addresses: of the last file, by record */
    SN_VECTOR(uint32_t) first_block; /**< of each record, in `blocks`; one more at the end */
} sn_heap_records;

/** Add a file's blocks `sign` times (1 or -1). Records that are nothing in the end are not shown. */
void sn_heap_records_add(sn_heap_records *records, const sn_heap_file *file, int sign);

/** Choose and sort what is shown. A filter is a text that a frame must hold; behind "!" one that none may hold; "\" at the
    beginning takes the rest as it is. */
void sn_heap_records_choose(sn_heap_records *records, sn_heap_order order, const sn_texts *filters, const sn_texts *filters_out);

/** Sort the blocks of the file that was added last by record, to list addresses. */
void sn_heap_records_list_blocks(sn_heap_records *records);

void sn_heap_records_release(sn_heap_records *records);

#endif
