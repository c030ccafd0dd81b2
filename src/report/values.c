/**
 * @fileoverview The kind "values" of `sonde report`: options, and the report as text. A row of the table in report.c. See values.h.
 */
#include "report/values.h"

#include <stdio.h>

#include "base/log.h"
#include "report/page.h"
#include "report/report.h"

static int64_t top = 10;
static const char *html;

static const sn_option options[] = {
    {"top", SN_OPTION_NUMBER, &top, "10", NULL, "findings that are printed of each kind"},
    {"html", SN_OPTION_STRING, &html, "none", "FILE", "write a page for browsers instead"},
    {0},
};

static void print_lines(const sn_values_file *file, sn_values_span lines) {
    for (uint32_t i = 0; i < lines.count; i++) printf("      %s\n", file->texts.items[lines.first + i]);
}

static void print_totals(const sn_values_file *file, sn_values_span totals) {
    for (uint32_t i = 0; i < totals.count; i++) {
        const sn_values_amount *total = &file->amounts.items[totals.first + i];
        printf("  %-42s %16lu\n", total->name, (unsigned long)total->value);
    }
}

static void print_place(const sn_values_file *file, const char *label, const sn_values_place *place) {
    if (!place->is_there) return;
    printf("   %s by %s (%s, %lu bytes)\n", label ? label : "accessed", place->instruction, place->type,
           (unsigned long)place->size);
    print_lines(file, place->context);
}

static void print_finding(const sn_values_file *file, const sn_values_list *list, uint32_t rank) {
    const sn_values_finding *finding = &file->findings.items[list->findings.first + rank];
    printf("%u. %.1f %%:", rank + 1, 100 * sn_values_share(file, list, finding));
    for (uint32_t i = 0; i < finding->amounts.count; i++) {
        const sn_values_amount *amount = &file->amounts.items[finding->amounts.first + i];
        printf("%s %lu %s", i ? "," : "", (unsigned long)amount->value, amount->name);
    }
    putchar('\n');
    if (finding->remark) printf("   %s\n", finding->remark);
    if (finding->kind) printf("   %s%s%s\n", finding->kind, finding->name ? " " : "", finding->name ? finding->name : "");
    print_lines(file, finding->context);
    for (unsigned i = 0; i < 2; i++) print_place(file, list->labels[i], &finding->places[i]);
}

static void print_text(const sn_values_file *file) {
    printf("%s: %s\n", file->tool, file->title);
    print_totals(file, file->totals);
    for (size_t i = 0; file->threads.count > 1 && i < file->threads.count; i++) {
        printf("thread %lu\n", (unsigned long)file->threads.items[i].number);
        print_totals(file, file->threads.items[i].totals);
    }
    for (size_t i = 0; i < file->lists.count; i++) {
        const sn_values_list *list = &file->lists.items[i];
        uint32_t shown = top >= 0 && (uint64_t)top < list->findings.count ? (uint32_t)top : list->findings.count;
        if (list->findings.count) printf("\n%s (%u of %lu)\n", list->title, shown, (unsigned long)list->count);
        for (uint32_t k = 0; k < shown; k++) print_finding(file, list, k);
    }
}

static int run(const char *const *files, size_t count) {
    sn_values_file file = {0};
    if (count > 1) sn_fail(SN_STATUS_USAGE, "a report on values takes one file");
    sn_page_check(html, NULL, count, false);
    sn_values_read(&file, files[0]);
    if (html != NULL) sn_values_page_write(html, &file);
    else print_text(&file);
    sn_values_release(&file);
    return 0;
}

const sn_report_kind sn_report_values = {
    .name = "values",
    .what = "reports of sonde loadspy, deadspy, redspy and zerospy, written with --format=json",
    .options = options,
    .recognises = sn_values_recognises,
    .run = run,
};
