/**
 * @fileoverview Records of heap files for people. See heap.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/heap.h"
#include "report/text_form.h"

enum { ADDRESSES_SHOWN = 8, SIZES_SHOWN = 12, WHOLE_LINE = 1 << 20 };

static const char *number(int64_t value) {
    static char buffers[8][SN_NUMBER_SIZE];
    static unsigned next;
    return sn_form_number(value, buffers[next++ % 8]);
}

static double percent(int64_t part, int64_t whole) {
    return whole == 0 ? 0 : 100 * (double)part / (double)whole;
}

static const char *plural(int64_t count) {
    return count == 1 ? "" : "s";
}

void sn_heapfile_print_stack(const sn_heapfile_stacks *stacks, uint32_t number, unsigned indent) {
    const sn_heapfile_stack *stack = &stacks->items.items[number];
    for (uint32_t i = 0; i < stack->count; i++) {
        printf("%*s#%02" PRIu32 ": ", (int)indent, "", i + 1);
        sn_form_print(stacks->frames.items[stack->first + i], WHOLE_LINE, SN_FORM_CUT_END);
        putchar('\n');
    }
    if (stack->count == 0)
        printf("%*s(no frames)\n", (int)indent, "");
}

/* --------------------------------------------------------------------------- a record */

static int by_size(const void *left, const void *right) {
    const sn_heapfile_size *a = left, *b = right;
    return (a->usable < b->usable) - (a->usable > b->usable);
}

/** "4,096 x 2; 128"; of a difference, fewer than before are negative sizes, as dmd.py has it. */
static void print_sizes(const sn_heapfile_records *records, const sn_heapfile_record *record) {
    SN_VECTOR(sn_heapfile_size) sizes = {0};
    for (uint32_t i = record->size; i != SN_HEAPFILE_NONE; i = records->sizes.items[i].next)
        if (records->sizes.items[i].count != 0)
            *sn_vector_add(&sizes) = records->sizes.items[i];
    if (sizes.count > 0)
        qsort(sizes.items, sizes.count, sizeof *sizes.items, by_size);
    bool is_single = sizes.count == 1 && llabs(sizes.items[0].count) == 1;
    if (!is_single)
        printf("  block sizes: %s", sizes.count == 0 ? "(no change)" : "");
    for (size_t i = 0; i < sizes.count && i < SIZES_SHOWN && !is_single; i++) {
        const sn_heapfile_size *size = &sizes.items[i];
        printf("%s%s%s", i > 0 ? "; " : "", size->count < 0 ? "-" : "", number((int64_t)size->usable));
        if (llabs(size->count) > 1)
            printf(" x %s", number(llabs(size->count)));
    }
    if (sizes.count > SIZES_SHOWN)
        printf("; and %s more", number((int64_t)(sizes.count - SIZES_SHOWN)));
    if (!is_single)
        putchar('\n');
    sn_vector_release(&sizes);
}

static void print_addresses(const sn_heapfile_view *view, uint32_t number_of_record) {
    const sn_heapfile_records *records = view->records;
    const sn_heapfile *file = &view->files[view->file_count - 1];
    if (records->first_block.count == 0)
        return;
    uint32_t from = records->first_block.items[number_of_record], end = records->first_block.items[number_of_record + 1];
    for (uint32_t i = from; i < end && i < from + ADDRESSES_SHOWN; i++)
        printf("%s0x%" PRIx64, i == from ? "  at: " : ", ", file->blocks.items[records->blocks.items[i]].address);
    if (end - from > ADDRESSES_SHOWN)
        printf(", and %s more", number(end - from - ADDRESSES_SHOWN));
    if (end > from)
        putchar('\n');
}

/** How long blocks lived, in bytes that were allocated meanwhile: what lives for few is churn. */
static void print_lives(const sn_heapfile_sums *sums) {
    printf("  freed: %s block%s", number(sums->freed), plural(sums->freed));
    if (sums->freed > 0)
        printf(", each after %s allocated bytes on average", number(sums->lived / sums->freed));
    putchar('\n');
}

/** What was done to the blocks. Bytes that are hardly read or written again and again stand out by their number for each byte. */
static void print_uses(const sn_heapfile_sums *sums) {
    double size = sums->requested != 0 ? (double)sums->requested : 1;
    printf("  read: %s bytes (%.2f for each byte), written: ", number(sums->uses[SN_HEAPFILE_READ]),
           (double)sums->uses[SN_HEAPFILE_READ] / size);
    printf("%s (%.2f)\n", number(sums->uses[SN_HEAPFILE_WRITTEN]), (double)sums->uses[SN_HEAPFILE_WRITTEN] / size);
    if (sums->uses[SN_HEAPFILE_NEVER_READ] != 0)
        printf("  never read: %s block%s, ", number(sums->uses[SN_HEAPFILE_NEVER_READ]), plural(sums->uses[SN_HEAPFILE_NEVER_READ]));
    if (sums->uses[SN_HEAPFILE_NEVER_READ] != 0)
        printf("%s of them not written either\n", sums->uses[SN_HEAPFILE_NEVER_USED] != 0
                                                      ? number(sums->uses[SN_HEAPFILE_NEVER_USED]) : "none");
}

static void print_record(const sn_heapfile_view *view, size_t place, size_t of, uint32_t number_of_record, int64_t before,
                         const sn_heapfile_sums *section) {
    const sn_heapfile_records *records = view->records;
    const sn_heapfile_record *record = &records->items.items[number_of_record];
    int64_t whole = records->total.usable, with = before + record->sums.usable;
    printf("\nRecord %s of %s: %s bytes in %s block%s (%s requested, %s slop)\n", number((int64_t)place), number((int64_t)of),
           number(record->sums.usable), number(record->sums.blocks), plural(record->sums.blocks),
           number(record->sums.requested), number(record->sums.slop));
    printf("  %.2f %% of the heap, %.2f %% with those before\n", percent(record->sums.usable, whole), percent(with, whole));
    if (record->section != SN_HEAPFILE_ALL)
        printf("  %.2f %% of %s, %.2f %% with those before\n", percent(record->sums.usable, section->usable),
               sn_heapfile_section_names[record->section], percent(with, section->usable));
    if (records->mode == SN_HEAPFILE_CUMULATIVE && record->sums.freed != 0)
        print_lives(&record->sums);
    if (records->has_uses)
        print_uses(&record->sums);
    print_sizes(records, record);
    print_addresses(view, number_of_record);
    printf("  allocated at\n");
    sn_heapfile_print_stack(&records->stacks, record->stack, 4);
    for (unsigned i = 0; i < 2 && record->reports[i] != SN_HEAPFILE_NONE; i++) {
        printf("  reported %sat\n", i > 0 ? "again " : "");
        sn_heapfile_print_stack(&records->stacks, record->reports[i], 4);
    }
}

/* -------------------------------------------------------------------------- sections */

static void add(sn_heapfile_sums *to, const sn_heapfile_sums *sums) {
    to->blocks += sums->blocks;
    to->requested += sums->requested;
    to->slop += sums->slop;
    to->usable += sums->usable;
}

/** Print the shown records of a section; returns their sums. */
static sn_heapfile_sums print_section(const sn_heapfile_view *view, sn_heapfile_section section) {
    const sn_heapfile_records *records = view->records;
    sn_heapfile_sums sums = {0};
    size_t first = 0, end;
    while (first < records->shown.count && records->items.items[records->shown.items[first]].section < section)
        first++;
    for (end = first; end < records->shown.count && records->items.items[records->shown.items[end]].section == section; end++)
        add(&sums, &records->items.items[records->shown.items[end]].sums);
    if (section != SN_HEAPFILE_ALL)
        printf("\n%s blocks\n", section == SN_HEAPFILE_UNREPORTED      ? "Unreported"
                                : section == SN_HEAPFILE_ONCE_REPORTED ? "Once-reported" : "Twice-reported");
    if (end == first)
        printf("\n  no %sblocks\n", section == SN_HEAPFILE_ALL ? "" : "such ");
    int64_t before = 0;
    for (size_t i = first; i < end && i - first < view->limit; i++) {
        print_record(view, i - first + 1, end - first, records->shown.items[i], before, &sums);
        before += records->items.items[records->shown.items[i]].sums.usable;
    }
    if (end - first > view->limit)
        printf("\n  and %s more records\n", number((int64_t)(end - first - view->limit)));
    return sums;
}

static void print_dark_matter_line(const char *title, const sn_heapfile_sums *sums, const sn_heapfile_sums *total) {
    printf("  %-16s %16s bytes (%6.2f %%) in %12s blocks (%6.2f %%)\n", title, number(sums->usable),
           percent(sums->usable, total->usable), number(sums->blocks), percent(sums->blocks, total->blocks));
}

static void print_sections(const sn_heapfile_view *view) {
    const sn_heapfile_sums *total = &view->records->total;
    sn_heapfile_sums of[SN_HEAPFILE_SECTIONS];
    if (view->records->mode != SN_HEAPFILE_DARK_MATTER) {
        sn_heapfile_sums sums = print_section(view, SN_HEAPFILE_ALL);
        printf("\nTotal: %s bytes in %s block%s (%s requested, %s slop)\n", number(sums.usable), number(sums.blocks),
               plural(sums.blocks), number(sums.requested), number(sums.slop));
        if (view->records->has_uses)
            print_uses(total);
        if (sums.blocks != total->blocks || sums.usable != total->usable)
            printf("  of %s bytes in %s block%s without the filters\n", number(total->usable), number(total->blocks),
                   plural(total->blocks));
        return;
    }
    for (sn_heapfile_section section = SN_HEAPFILE_TWICE_REPORTED; section < SN_HEAPFILE_SECTIONS; section++)
        of[section] = print_section(view, section);
    printf("\nTotal\n");
    print_dark_matter_line("all", total, total);
    print_dark_matter_line("unreported", &of[SN_HEAPFILE_UNREPORTED], total);
    print_dark_matter_line("once-reported", &of[SN_HEAPFILE_ONCE_REPORTED], total);
    print_dark_matter_line("twice-reported", &of[SN_HEAPFILE_TWICE_REPORTED], total);
}

/* ----------------------------------------------------------------------------- leaks */

static void print_leaks(const sn_heapfile_view *view) {
    const sn_heapfile_leaks *leaks = view->leaks;
    printf("\nLeaks\n");
    for (unsigned verdict = 0; verdict < SN_HEAPFILE_VERDICTS; verdict++) {
        printf("  %-52s %16s bytes in %s block%s\n", sn_heapfile_verdict_meanings[verdict],
               number((int64_t)leaks->totals[verdict].bytes), number((int64_t)leaks->totals[verdict].blocks),
               plural((int64_t)leaks->totals[verdict].blocks));
    }
    for (size_t i = 0; i < leaks->rows.count; i++) {
        const sn_heapfile_leak_row *row = &leaks->rows.items[i];
        if (row->verdict == SN_HEAPFILE_REACHABLE)
            continue;
        printf("\n%s: %s bytes in %s block%s\n", sn_heapfile_verdict_meanings[row->verdict], number((int64_t)row->sums.bytes),
               number((int64_t)row->sums.blocks), plural((int64_t)row->sums.blocks));
        sn_heapfile_print_stack(&view->records->stacks, view->records->items.items[row->record].stack, 4);
    }
}

static void print_origin(const sn_heapfile *file) {
    if (file->command != NULL) {
        printf("  command: ");
        sn_form_print(file->command, WHOLE_LINE, SN_FORM_CUT_END);
        putchar('\n');
    }
    if (file->cause != NULL) {
        printf("  written at: ");
        sn_form_print(file->cause, WHOLE_LINE, SN_FORM_CUT_END);
        putchar('\n');
    }
}

static void print_head(const sn_heapfile_view *view) {
    for (size_t i = 0; i < view->file_count; i++) {
        const sn_heapfile *file = &view->files[i];
        printf("%s%s\n", view->file_count == 1 ? "sonde report: " : i == 0 ? "sonde report: before: " : "               after: ",
               view->paths[i]);
        printf("  mode %s", sn_heapfile_mode_names[file->mode]);
        if (file->options != NULL) {
            printf(", options ");
            sn_form_print(file->options, WHOLE_LINE, SN_FORM_CUT_END);
        }
        putchar('\n');
        print_origin(file);
    }
}

void sn_heapfile_print_text(const sn_heapfile_view *view) {
    print_head(view);
    print_sections(view);
    if (view->leaks != NULL)
        print_leaks(view);
}
