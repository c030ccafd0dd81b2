/**
 * @fileoverview Sums of a trace for people. See memtrace.h.
 */
#include <inttypes.h>
#include <string.h>

#include "report/memtrace.h"
#include "report/text_form.h"

static const char *const kind_names[] = {
    [MEMTRACE_FETCH] = "instructions", [MEMTRACE_LOAD] = "loads", [MEMTRACE_STORE] = "stores",
    [MEMTRACE_MODIFY] = "modifies"};

static void print_number(uint64_t number, int width) {
    char text[SN_NUMBER_SIZE];
    printf("%*s", width, sn_form_number((int64_t)number, text));
}

static double share(uint64_t part, uint64_t whole) {
    return whole ? 100 * (double)part / (double)whole : 0;
}

/* --------------------------------------------------------------------- totals */

static void print_command(const sn_memtrace_process *process) {
    printf("  process %" PRIu32 ": ", process->id);
    unsigned left = SN_REPORT_WIDTH - 20;
    for (size_t i = 0; i < process->arguments.count && left > 1; i++) {
        unsigned used = sn_form_print(process->arguments.items[i], left, SN_FORM_CUT_END);
        left -= used < left ? used : left;
        if (left > 1 && i + 1 < process->arguments.count) {
            putchar(' ');
            left--;
        }
    }
    putchar('\n');
}

static void print_totals(const sn_memtrace_report *report) {
    const sn_memtrace_tally *tally = report->tally;
    printf("sonde report: %s\n", report->file);
    for (size_t i = 0; i < tally->processes.count && i < 1 + report->limit; i++)
        print_command(tally->processes.items[i]);
    printf("\nAccesses\n");
    for (unsigned kind = MEMTRACE_LOAD; kind <= MEMTRACE_MODIFY; kind++) {
        printf("  %-14s", kind_names[kind]);
        print_number(tally->total.of[kind], 20);
        putchar('\n');
    }
    printf("  %-14s", "all");
    print_number(sn_memtrace_data(&tally->total), 20);
    putchar('\n');
    printf("  %-14s", "bytes");
    print_number(tally->total.bytes, 20);
    putchar('\n');
    if (tally->total.of[MEMTRACE_FETCH]) {
        printf("  %-14s", "instructions");
        print_number(tally->total.of[MEMTRACE_FETCH], 20);
        putchar('\n');
    }
}

static void print_sizes(const sn_memtrace_report *report) {
    sn_memtrace_number_rows rows = sn_memtrace_sizes(report->tally);
    printf("\nBy size in bytes\n");
    for (size_t i = 0; i < rows.count && i < report->limit; i++) {
        printf("  %-14" PRId64, rows.items[i].number);
        print_number(rows.items[i].count, 20);
        putchar('\n');
    }
    if (rows.count > report->limit)
        printf("  and %zu more\n", rows.count - report->limit);
    sn_vector_release(&rows);
}

static void print_counts_head(const char *title) {
    printf("\n%15s %15s %15s  %s\n", "Loads", "Stores", "Modifies", title);
}

static void print_counts(const sn_memtrace_counts *counts) {
    print_number(counts->of[MEMTRACE_LOAD], 15);
    putchar(' ');
    print_number(counts->of[MEMTRACE_STORE], 15);
    putchar(' ');
    print_number(counts->of[MEMTRACE_MODIFY], 15);
    printf("  ");
}

static void print_threads(const sn_memtrace_report *report) {
    const sn_memtrace_tally *tally = report->tally;
    if (tally->threads.count < 2)
        return;
    print_counts_head("Thread");
    for (size_t i = 0; i < tally->threads.count && i < report->limit; i++) {
        print_counts(&tally->threads.items[i].counts);
        printf("%" PRIu32 "\n", tally->threads.items[i].id);
    }
    if (tally->threads.count > report->limit)
        printf("%48s and %zu more\n", "", tally->threads.count - report->limit);
}

/* --------------------------------------------------------------------- tables */

enum { NAMES_AT = 49 };

/** The name, and, if there is room, in which file. */
static void print_function(const sn_memtrace_row *row) {
    const char *path = row->file ? row->file : row->module;
    unsigned room = SN_REPORT_WIDTH - NAMES_AT;
    room -= sn_form_print(row->function ? row->function : "?", room, SN_FORM_CUT_END);
    if (path && strlen(sn_form_base_name(path)) + 2 <= room) {
        printf("  ");
        sn_form_print(sn_form_base_name(path), room - 2, SN_FORM_CUT_END);
    }
}

static void print_line(const sn_memtrace_row *row) {
    char place[512];
    if (row->line)
        snprintf(place, sizeof place, "%s:%" PRIu32, row->file ? sn_form_base_name(row->file) : "?", row->line);
    else
        snprintf(place, sizeof place, "%s of %s", row->function ? row->function : "?",
                 row->module ? sn_form_base_name(row->module) : "?");
    sn_form_print(place, SN_REPORT_WIDTH - NAMES_AT, SN_FORM_CUT_END);
}

static void print_places(const sn_memtrace_report *report, sn_memtrace_rows rows, const char *title,
                         void (*print)(const sn_memtrace_row *row)) {
    size_t shown = 0, with_data = 0;
    print_counts_head(title);
    for (size_t i = 0; i < rows.count; i++) {
        if (!sn_memtrace_data(&rows.items[i].counts))
            continue;
        with_data++;
        if (shown == report->limit)
            continue;
        shown++;
        print_counts(&rows.items[i].counts);
        print(&rows.items[i]);
        putchar('\n');
    }
    if (with_data > shown)
        printf("%*sand %zu more\n", NAMES_AT, "", with_data - shown);
    sn_vector_release(&rows);
}

static void print_functions(const sn_memtrace_report *report) {
    print_places(report, sn_memtrace_by_function(report->tally), "Function", print_function);
}

static void print_lines(const sn_memtrace_report *report) {
    print_places(report, sn_memtrace_by_line(report->tally), "Line", print_line);
}

static void print_pages(const sn_memtrace_report *report) {
    sn_memtrace_tally *tally = report->tally;
    char title[64];
    sn_memtrace_sort_pages(tally);
    snprintf(title, sizeof title, "Page of %u bytes", tally->page_size);
    print_counts_head(title);
    for (size_t i = 0; i < tally->pages.count && i < report->limit; i++) {
        print_counts(&tally->pages.items[i].counts);
        printf("%#" PRIx64 "\n", tally->pages.items[i].address);
    }
    if (tally->pages.count > report->limit)
        printf("%*sand %zu more\n", NAMES_AT, "", tally->pages.count - report->limit);
}

/* ----------------------------------------------------------------- histograms */

static void print_bar(double percent) {
    char bar[41];
    unsigned length = (unsigned)(percent * 0.4 + 0.5);
    for (unsigned i = 0; i < length && i < sizeof bar - 1; i++)
        bar[i] = '#';
    bar[length < sizeof bar - 1 ? length : sizeof bar - 1] = '\0';
    printf("  %5.1f %%%s%s\n", percent, *bar ? "  " : "", bar);
}

static void print_strides(const sn_memtrace_report *report) {
    const sn_memtrace_tally *tally = report->tally;
    sn_memtrace_number_rows rows = sn_memtrace_strides(tally);
    uint64_t left = tally->stride_count;
    printf("\nStrides: from one access of a place in the code to its next one, in bytes\n");
    for (size_t i = 0; i < rows.count && i < report->limit; i++) {
        printf("  %+14" PRId64 " ", rows.items[i].number);
        print_number(rows.items[i].count, 15);
        print_bar(share(rows.items[i].count, tally->stride_count));
        left -= rows.items[i].count;
    }
    if (left) {
        printf("  %14s ", "others");
        print_number(left, 15);
        print_bar(share(left, tally->stride_count));
    }
    sn_vector_release(&rows);
}

static void print_reuse(const sn_memtrace_report *report) {
    const sn_memtrace_tally *tally = report->tally;
    uint64_t all = tally->reuse_never;
    unsigned last = 0;
    for (unsigned i = 0; i < SN_REUSE_BUCKETS; i++) {
        all += tally->reuse[i];
        last = tally->reuse[i] ? i : last;
    }
    printf("\nReuse distances: different lines of %u bytes since the thread's last access\n", tally->line_size);
    for (unsigned i = 0; i <= last; i++) {
        char range[64];
        uint64_t from = i ? UINT64_C(1) << (i - 1) : 0, to = i ? from + (from - 1) : 0;
        snprintf(range, sizeof range, from == to ? "%" PRIu64 : "%" PRIu64 "-%" PRIu64, from, to);
        printf("  %24s ", range);
        print_number(tally->reuse[i], 15);
        print_bar(share(tally->reuse[i], all));
    }
    printf("  %24s ", "first access");
    print_number(tally->reuse_never, 15);
    print_bar(share(tally->reuse_never, all));
}

/* ----------------------------------------------------------------------- views */

typedef void section(const sn_memtrace_report *report);

static section *const sections[][8] = {
    [SN_VIEW_SUMMARY] = {print_sizes, print_threads, print_functions, print_lines, print_pages, print_strides},
    [SN_VIEW_FUNCTIONS] = {print_functions},
    [SN_VIEW_LINES] = {print_lines},
    [SN_VIEW_PAGES] = {print_pages},
    [SN_VIEW_STRIDES] = {print_strides},
    [SN_VIEW_REUSE] = {print_reuse},
};

void sn_memtrace_print_text(const sn_memtrace_report *report) {
    print_totals(report);
    for (section *const *print = sections[report->view]; *print; print++)
        (*print)(report);
}
