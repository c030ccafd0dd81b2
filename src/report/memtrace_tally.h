/**
 * @fileoverview A trace summed up: by place in the code, thread, size, page, stride and reuse distance.
 *
 * memtrace.c feeds it with accesses; memtrace_text.c and memtrace_json.c print it.
 */
#ifndef SONDE_REPORT_MEMTRACE_TALLY_H
#define SONDE_REPORT_MEMTRACE_TALLY_H

#include "sonde/hash.h"
#include "report/memtrace_reader.h"
#include "report/memtrace_reuse.h"

/** How often, by kind: MEMTRACE_FETCH, _LOAD, _STORE, _MODIFY. */
typedef struct sn_memtrace_counts {
    uint64_t of[4];
    uint64_t bytes; /**< of data */
} sn_memtrace_counts;

static inline uint64_t sn_memtrace_data(const sn_memtrace_counts *counts) {
    return counts->of[MEMTRACE_LOAD] + counts->of[MEMTRACE_STORE] + counts->of[MEMTRACE_MODIFY];
}

/** What is to be summed: what costs time on request only. */
enum { SN_TALLY_PAGES = 1, SN_TALLY_STRIDES = 2, SN_TALLY_REUSE = 4 };

/** A row of a table by place: a function, or a line. */
typedef struct sn_memtrace_row {
    const char *function, *file, *module;
    uint32_t line;
    uint64_t address; /**< lowest of the code */
    sn_memtrace_counts counts;
} sn_memtrace_row;

typedef SN_VECTOR(sn_memtrace_row) sn_memtrace_rows;

typedef struct sn_memtrace_thread_row {
    uint32_t process, id;
    sn_memtrace_counts counts;
} sn_memtrace_thread_row;

typedef struct sn_memtrace_page_row {
    uint64_t address;
    sn_memtrace_counts counts;
} sn_memtrace_page_row;

/** A size in bytes, or a stride. */
typedef struct sn_memtrace_number_row {
    int64_t number;
    uint64_t count;
} sn_memtrace_number_row;

typedef SN_VECTOR(sn_memtrace_number_row) sn_memtrace_number_rows;

enum { SN_REUSE_BUCKETS = 65 };

typedef struct sn_memtrace_tally {
    unsigned wanted;          /**< SN_TALLY_... */
    unsigned page_size, line_size;
    sn_memtrace_counts total;
    SN_VECTOR(const sn_memtrace_process *) processes;
    SN_VECTOR(sn_memtrace_thread_row) threads;
    SN_VECTOR(sn_memtrace_page_row) pages;
    uint64_t reuse[SN_REUSE_BUCKETS]; /**< [0]: distance 0; [N]: from 2^(N-1) to below 2^N */
    uint64_t reuse_never;             /**< first accesses of a line by a thread */
    uint64_t stride_count;            /**< accesses of a place that is not accessed for the first time */
    uint64_t strides_not_kept;        /**< those of them that came when there were too many different ones */

    /* memtrace_tally.c only */
    SN_VECTOR(sn_memtrace_counts) by_site;
    SN_VECTOR(const sn_memtrace_site *) sites;
    sn_hash thread_numbers, page_numbers, sizes, strides, last_of_site;
    SN_VECTOR(sn_reuse *) reuses;     /**< one a thread */
    uint32_t thread;                  /**< number of the last event's thread in `threads` */
    uint32_t thread_id;
    const sn_memtrace_process *thread_process;
} sn_memtrace_tally;

void sn_memtrace_tally_event(sn_memtrace_tally *tally, const sn_memtrace_event *event);

/** The accesses by function or by line, the most accesses first. To be released with sn_vector_release(). */
sn_memtrace_rows sn_memtrace_by_function(const sn_memtrace_tally *tally);
sn_memtrace_rows sn_memtrace_by_line(const sn_memtrace_tally *tally);

/** Accesses by size, the smallest first; strides, the most frequent first. To be released with sn_vector_release(). */
sn_memtrace_number_rows sn_memtrace_sizes(const sn_memtrace_tally *tally);
sn_memtrace_number_rows sn_memtrace_strides(const sn_memtrace_tally *tally);

/** Put the pages in order, the most accesses first. */
void sn_memtrace_sort_pages(sn_memtrace_tally *tally);

void sn_memtrace_tally_release(sn_memtrace_tally *tally);

#endif
