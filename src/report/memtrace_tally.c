/**
 * @fileoverview Summing up a trace. See memtrace_tally.h.
 */
#include "report/memtrace_tally.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_STRIDES = 1 << 20 };

static void count(sn_memtrace_counts *counts, const sn_memtrace_event *event) {
    counts->of[event->kind]++;
    if (event->kind != MEMTRACE_FETCH)
        counts->bytes += event->size;
}

static void find_thread(sn_memtrace_tally *tally, const sn_memtrace_event *event) {
    bool is_new;
    uint64_t *place =
        sn_hash_insert(&tally->thread_numbers, (uint64_t)event->process->id << 32 | event->thread, &is_new);
    if (is_new) {
        *place = tally->threads.count;
        *sn_vector_add(&tally->threads) = (sn_memtrace_thread_row){.process = event->process->id, .id = event->thread};
        *sn_vector_add(&tally->reuses) = tally->wanted & SN_TALLY_REUSE ? sn_reuse_new() : NULL;
    }
    tally->thread = (uint32_t)*place;
    tally->thread_id = event->thread;
    tally->thread_process = event->process;
}

static void tally_site(sn_memtrace_tally *tally, const sn_memtrace_event *event) {
    uint32_t number = event->site->number;
    while (tally->by_site.count <= number) {
        sn_vector_add(&tally->by_site);
        *sn_vector_add(&tally->sites) = NULL;
    }
    tally->sites.items[number] = event->site;
    count(&tally->by_site.items[number], event);
}

static void tally_page(sn_memtrace_tally *tally, const sn_memtrace_event *event) {
    bool is_new;
    uint64_t page = event->address / tally->page_size;
    uint64_t *place = sn_hash_insert(&tally->page_numbers, page, &is_new);
    if (is_new) {
        *place = tally->pages.count;
        *sn_vector_add(&tally->pages) = (sn_memtrace_page_row){.address = page * tally->page_size};
    }
    count(&tally->pages.items[*place].counts, event);
}

/** From one access of a place in the code to its next one in the same thread. */
static void tally_stride(sn_memtrace_tally *tally, const sn_memtrace_event *event) {
    bool is_new;
    uint64_t key = (uint64_t)tally->thread << 32 | event->site->number;
    uint64_t *last = sn_hash_insert(&tally->last_of_site, key, &is_new);
    uint64_t stride = event->address - *last;
    *last = event->address;
    if (is_new)
        return;
    tally->stride_count++;
    uint64_t *known = sn_hash_find(&tally->strides, stride);
    if (!known && sn_hash_count(&tally->strides) == MOST_STRIDES) {
        tally->strides_not_kept++;
        return;
    }
    ++*(known ? known : sn_hash_insert(&tally->strides, stride, NULL));
}

/** An access is one to each line that it touches. */
static void tally_reuse(sn_memtrace_tally *tally, const sn_memtrace_event *event) {
    uint64_t last = (event->address + (event->size ? event->size - 1 : 0)) / tally->line_size;
    for (uint64_t line = event->address / tally->line_size; line <= last; line++) {
        uint64_t distance = sn_reuse_access(tally->reuses.items[tally->thread], line);
        if (distance == SN_REUSE_NEVER)
            tally->reuse_never++;
        else
            tally->reuse[distance ? 64 - __builtin_clzll(distance) : 0]++;
    }
}

void sn_memtrace_tally_event(sn_memtrace_tally *tally, const sn_memtrace_event *event) {
    if (event->process != tally->thread_process || event->thread != tally->thread_id)
        find_thread(tally, event);
    count(&tally->total, event);
    count(&tally->threads.items[tally->thread].counts, event);
    tally_site(tally, event);
    if (event->kind == MEMTRACE_FETCH)
        return;
    ++*sn_hash_insert(&tally->sizes, event->size, NULL);
    if (tally->wanted & SN_TALLY_PAGES)
        tally_page(tally, event);
    if (tally->wanted & SN_TALLY_STRIDES)
        tally_stride(tally, event);
    if (tally->wanted & SN_TALLY_REUSE)
        tally_reuse(tally, event);
}

/* --------------------------------------------------------------------- tables */

static int compare_pointers(const void *a, const void *b) {
    return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

/** Rows of one place become neighbours. Names are interned. */
static int by_function(const void *left, const void *right) {
    const sn_memtrace_row *a = left, *b = right;
    int order = compare_pointers(a->function, b->function);
    return order ? order : compare_pointers(a->module, b->module);
}

/** Code of unknown lines is one place a function. */
static int by_line(const void *left, const void *right) {
    const sn_memtrace_row *a = left, *b = right;
    int order = (a->line > b->line) - (a->line < b->line);
    if (order || !a->line)
        return order ? order : by_function(left, right);
    return compare_pointers(a->file, b->file);
}

static int compare_texts(const char *a, const char *b) {
    return strcmp(a ? a : "", b ? b : "");
}

static uint64_t weight(const sn_memtrace_counts *counts) {
    uint64_t data = sn_memtrace_data(counts);
    return data ? data + (UINT64_C(1) << 63) : counts->of[MEMTRACE_FETCH];
}

/** Most data accesses first; places without any by their fetches. */
static int by_weight(const void *left, const void *right) {
    const sn_memtrace_row *a = left, *b = right;
    uint64_t of_a = weight(&a->counts), of_b = weight(&b->counts);
    if (of_a != of_b)
        return of_a < of_b ? 1 : -1;
    int order = compare_texts(a->file, b->file);
    if (!order)
        order = (a->line > b->line) - (a->line < b->line);
    if (!order)
        order = compare_texts(a->function, b->function);
    return order ? order : compare_texts(a->module, b->module);
}

static void add_counts(sn_memtrace_counts *to, const sn_memtrace_counts *from) {
    for (unsigned i = 0; i < 4; i++)
        to->of[i] += from->of[i];
    to->bytes += from->bytes;
}

/** Lines that were inlined into a function may be of other files: those of the lowest address are named. */
static void merge(sn_memtrace_row *to, const sn_memtrace_row *from) {
    sn_memtrace_counts counts = to->counts;
    add_counts(&counts, &from->counts);
    if (from->address < to->address)
        *to = *from;
    to->counts = counts;
}

static sn_memtrace_rows rows_of(const sn_memtrace_tally *tally, int (*by_place)(const void *, const void *)) {
    sn_memtrace_rows rows = {0};
    for (size_t i = 0; i < tally->sites.count; i++) {
        const sn_memtrace_site *site = tally->sites.items[i];
        if (!site)
            continue;
        *sn_vector_add(&rows) = (sn_memtrace_row){.function = site->function,
                                                  .file = site->file,
                                                  .module = site->module,
                                                  .line = site->line,
                                                  .address = site->address,
                                                  .counts = tally->by_site.items[i]};
    }
    if (rows.count)
        qsort(rows.items, rows.count, sizeof *rows.items, by_place);
    size_t kept = 0;
    for (size_t i = 0; i < rows.count; i++) {
        if (kept && by_place(&rows.items[kept - 1], &rows.items[i]) == 0)
            merge(&rows.items[kept - 1], &rows.items[i]);
        else
            rows.items[kept++] = rows.items[i];
    }
    rows.count = kept;
    if (rows.count)
        qsort(rows.items, rows.count, sizeof *rows.items, by_weight);
    return rows;
}

sn_memtrace_rows sn_memtrace_by_function(const sn_memtrace_tally *tally) {
    return rows_of(tally, by_function);
}

sn_memtrace_rows sn_memtrace_by_line(const sn_memtrace_tally *tally) {
    return rows_of(tally, by_line);
}

static sn_memtrace_number_rows numbers_of(const sn_hash *hash, int (*order)(const void *, const void *)) {
    sn_memtrace_number_rows rows = {0};
    sn_hash_entry entry;
    for (size_t position = 0; sn_hash_next(hash, &position, &entry);)
        *sn_vector_add(&rows) = (sn_memtrace_number_row){(int64_t)entry.key, entry.value};
    if (rows.count)
        qsort(rows.items, rows.count, sizeof *rows.items, order);
    return rows;
}

static int by_number(const void *left, const void *right) {
    const sn_memtrace_number_row *a = left, *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

static int by_count(const void *left, const void *right) {
    const sn_memtrace_number_row *a = left, *b = right;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return by_number(left, right);
}

sn_memtrace_number_rows sn_memtrace_sizes(const sn_memtrace_tally *tally) {
    return numbers_of(&tally->sizes, by_number);
}

sn_memtrace_number_rows sn_memtrace_strides(const sn_memtrace_tally *tally) {
    return numbers_of(&tally->strides, by_count);
}

static int by_page_weight(const void *left, const void *right) {
    const sn_memtrace_page_row *a = left, *b = right;
    uint64_t of_a = sn_memtrace_data(&a->counts), of_b = sn_memtrace_data(&b->counts);
    if (of_a != of_b)
        return of_a < of_b ? 1 : -1;
    return (a->address > b->address) - (a->address < b->address);
}

void sn_memtrace_sort_pages(sn_memtrace_tally *tally) {
    if (tally->pages.count)
        qsort(tally->pages.items, tally->pages.count, sizeof *tally->pages.items, by_page_weight);
}

void sn_memtrace_tally_release(sn_memtrace_tally *tally) {
    for (size_t i = 0; i < tally->reuses.count; i++)
        if (tally->reuses.items[i])
            sn_reuse_free(tally->reuses.items[i]);
    sn_vector_release(&tally->reuses);
    sn_vector_release(&tally->processes);
    sn_vector_release(&tally->threads);
    sn_vector_release(&tally->pages);
    sn_vector_release(&tally->by_site);
    sn_vector_release(&tally->sites);
    sn_hash *hashes[] = {&tally->thread_numbers, &tally->page_numbers, &tally->sizes, &tally->strides,
                         &tally->last_of_site};
    for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++)
        sn_hash_release(hashes[i]);
}
