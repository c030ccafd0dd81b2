/**
 * @fileoverview Reports. See reports.h.
 *
 * What is reported of a block stands in its `word`: the contexts of at most two reports, and for each of them whether it was made
 * when the block was allocated; those stay when reports are forgotten. (Firefox, memory/replace/dmd: Report, ReportOnAlloc,
 * ClearReports.)
 */
#include "reports.h"

#include <pthread.h>
#include <sonde/client.h>
#include <sonde/vector.h>
#include <stdlib.h>
#include <string.h>

#define CONTEXT_BITS 28 /* of which there are no more */
#define CONTEXT_MASK ((UINT64_C(1) << CONTEXT_BITS) - 1)
#define ON_ALLOCATION(report) (UINT64_C(1) << (2 * CONTEXT_BITS + (report)))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /**< of all words; held for some instructions */

static sn_context report_of(uint64_t word, unsigned report) {
    return (sn_context)(word >> report * CONTEXT_BITS & CONTEXT_MASK);
}

static void report(sn_thread *thread, uint64_t address, bool on_allocation) {
    sn_heap_block *block = sn_heap_at(address);
    if (block == NULL) {
        return;
    }
    sn_context context = sn_context_of(thread);
    pthread_mutex_lock(&lock);
    unsigned number = report_of(block->word, 0) != SN_NO_CONTEXT;
    if (report_of(block->word, number) == SN_NO_CONTEXT) {
        block->word |= (uint64_t)context << number * CONTEXT_BITS | (on_allocation ? ON_ALLOCATION(number) : 0);
    }
    pthread_mutex_unlock(&lock);
}

/** Keep what was reported on allocation: it is the first then, since nothing can have come before. */
static void forget(sn_heap_block *block, void *data) {
    (void)data;
    block->word = block->word & ON_ALLOCATION(0) ? (block->word & CONTEXT_MASK) | ON_ALLOCATION(0) : 0;
}

bool heap_reports_request(sn_thread *thread, const uint64_t arguments[6], uint64_t *result) {
    switch (arguments[0]) {
    case SN_REQUEST_HEAP_REPORT:
        report(thread, arguments[1], false);
        break;
    case SN_REQUEST_HEAP_REPORT_ON_ALLOCATION:
        report(thread, arguments[1], true);
        break;
    case SN_REQUEST_HEAP_CLEAR_REPORTS:
        sn_heap_visit(forget, NULL);
        break;
    default:
        return false;
    }
    *result = 0;
    return true;
}

/* --------------------------------------------------------------------------------------------------- writing */

/** Blocks that agree in all that is written. */
typedef struct group {
    uint64_t requested, slop, reports;
    sn_context context;
} group;

typedef SN_VECTOR(group) group_list;

static void note(sn_heap_block *block, void *data) {
    *sn_vector_add((group_list *)data) = (group){block->requested, block->usable - block->requested,
                                         block->word & (CONTEXT_MASK << CONTEXT_BITS | CONTEXT_MASK), block->context};
}

static int compare(const void *left, const void *right) {
    const group *a = left, *b = right;
    if (a->context != b->context) {
        return a->context < b->context ? -1 : 1;
    }
    if (a->reports != b->reports) {
        return a->reports < b->reports ? -1 : 1;
    }
    if (a->requested != b->requested) {
        return a->requested < b->requested ? -1 : 1;
    }
    return a->slop < b->slop ? -1 : a->slop > b->slop;
}

static void write_group(heap_rows *rows, const group *written, size_t blocks) {
    heap_row_begin(rows, written->requested, written->slop, written->context);
    if (blocks != 1) {
        fprintf(rows->file, ", \"num\": %zu", blocks);
    }
    for (unsigned i = 0; i < 2 && report_of(written->reports, i) != SN_NO_CONTEXT; i++) {
        fputs(i == 0 ? ", \"reps\": [" : ", ", rows->file);
        heap_trace_name(rows->traces, rows->file, report_of(written->reports, i));
    }
    fputs(written->reports != 0 ? "]" : "", rows->file);
    heap_row_end(rows);
}

void heap_reports_write(heap_rows *rows) {
    group_list list = {0};
    sn_heap_visit(note, &list);
    if (list.count != 0) {
        qsort(list.items, list.count, sizeof *list.items, compare);
    }
    for (size_t i = 0, first = 0; i < list.count; i++) {
        if (i + 1 == list.count || compare(&list.items[i], &list.items[i + 1]) != 0) {
            write_group(rows, &list.items[i], i + 1 - first);
            first = i + 1;
        }
    }
    sn_vector_release(&list);
}
