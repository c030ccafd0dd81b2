/**
 * @fileoverview One profile as text: its totals, and the functions that count the most. See cachegrind.h.
 */
#include <stdio.h>
#include <string.h>

#include "report/cachegrind.h"
#include "report/text_form.h"

/** What the events of Cachegrind, of Callgrind and of their like here are, and what they are a part of. */
static const struct {
    const char *event, *whole, *what;
} known_events[] = {
    {"Ir", NULL, "instructions read"},
    {"I1mr", "Ir", "missed the first level"},
    {"I2mr", "Ir", "missed the second level"},
    {"ILmr", "Ir", "missed the last level"},
    {"Dr", NULL, "data reads"},
    {"D1mr", "Dr", "missed the first level"},
    {"D2mr", "Dr", "missed the second level"},
    {"DLmr", "Dr", "missed the last level"},
    {"Dw", NULL, "data writes"},
    {"D1mw", "Dw", "missed the first level"},
    {"D2mw", "Dw", "missed the second level"},
    {"DLmw", "Dw", "missed the last level"},
    {"Bc", NULL, "conditional branches"},
    {"Bcm", "Bc", "mispredicted"},
    {"Bi", NULL, "indirect branches"},
    {"Bim", "Bi", "mispredicted"},
    {"Ge", NULL, "bus events"},
    {"sysCount", NULL, "system calls"},
    {"sysTime", NULL, "time in system calls"},
    {"sysCpuTime", NULL, "processor time in system calls"},
};

enum { KNOWN_COUNT = sizeof known_events / sizeof *known_events };

/** Row of known_events, KNOWN_COUNT if there is none. */
static size_t known(const char *event) {
    size_t i = 0;
    while (i < KNOWN_COUNT && strcmp(known_events[i].event, event) != 0) {
        i++;
    }
    return i;
}

static void print_total(const sn_profile *profile, unsigned event) {
    char number[SN_NUMBER_SIZE];
    size_t row = known(profile->events[event]);
    const char *whole_name = row < KNOWN_COUNT ? known_events[row].whole : NULL;
    int whole = whole_name == NULL ? -1 : sn_profile_event(profile, whole_name, strlen(whole_name));
    printf("  %-6s", whole < 0 ? profile->events[event] : "");
    printf("%-6s %20s", whole < 0 ? "" : profile->events[event], sn_form_number(profile->totals[event], number));
    if (whole >= 0 && profile->totals[whole] != 0) {
        printf("  %6.2f %%", 100 * (double)profile->totals[event] / (double)profile->totals[whole]);
    } else {
        printf("  %8s", "");
    }
    const char *meaning = row < KNOWN_COUNT ? known_events[row].what : profile->meanings[event];
    if (meaning != NULL) {
        printf("  ");
        sn_form_print(meaning, SN_REPORT_WIDTH - 48, SN_FORM_CUT_END);
    }
    putchar('\n');
}

void sn_profile_print_head(const sn_profile_view *view) {
    const sn_profile *profile = view->profile;
    printf("sonde report: ");
    if (view->file_count == 1) {
        sn_form_print(view->files[0], SN_REPORT_WIDTH - 14, SN_FORM_CUT_BEGINNING);
    } else {
        printf("sum of %zu profiles", view->file_count);
    }
    printf("\n  command: ");
    sn_form_print(profile->command, SN_REPORT_WIDTH - 11, SN_FORM_CUT_END);
    putchar('\n');
    for (size_t i = 0; i < profile->descriptions.count; i++) {
        printf("  ");
        sn_form_print(profile->descriptions.items[i], SN_REPORT_WIDTH - 2, SN_FORM_CUT_END);
        putchar('\n');
    }
    printf("\nTotals\n");
    for (unsigned event = 0; event < profile->event_count; event++) {
        print_total(profile, event);
    }
}

double sn_profile_largest_share(const sn_profile_view *view, const int64_t *counts) {
    double largest = 0;
    for (unsigned i = 0; i < view->columns.count; i++) {
        double share = sn_column_share(&view->columns.shown[i], counts, view->profile->totals);
        largest = share > largest ? share : largest;
    }
    return largest;
}

double sn_profile_print_numbers(const sn_profile_view *view, const int64_t *counts) {
    char number[SN_NUMBER_SIZE];
    double largest = sn_profile_largest_share(view, counts);
    putchar(sn_form_begin_line(largest));
    printf("%13s", sn_form_number(sn_column_value(&view->columns.sort, counts), number));
    for (unsigned i = 0; i < view->columns.count; i++) {
        const sn_column *column = &view->columns.shown[i];
        putchar(' ');
        sn_form_print_share(sn_column_share(column, counts, view->profile->totals),
                            sn_column_value(column, counts) == 0);
    }
    return largest;
}

void sn_profile_print_heading(const sn_profile_view *view, const char *rest) {
    printf("%14.13s", view->columns.sort.title);
    for (unsigned i = 0; i < view->columns.count; i++) {
        printf(" %6.6s", view->columns.shown[i].title);
    }
    printf("  %s\n", rest);
}

static void print_function(const sn_profile_view *view, const sn_profile_function *function) {
    char name[1200];
    uint32_t line = view->profile->rows.items[function->first].line;
    double share = sn_profile_print_numbers(view, function->counts);
    snprintf(name, sizeof name, line == 0 ? "%.900s (%.200s)" : "%.900s (%.200s:%u)", function->function,
             sn_form_base_name(function->file), line);
    printf("  ");
    sn_form_print(name, SN_REPORT_WIDTH - SN_PROFILE_NUMBERS_WIDTH - 7 * view->columns.count - 2, SN_FORM_CUT_END);
    sn_form_end_line(share);
}

static void print_functions(const sn_profile_view *view) {
    putchar('\n');
    sn_profile_print_heading(view, "Function");
    for (size_t i = 0; i < view->functions.count && i < view->function_limit; i++) {
        print_function(view, &view->functions.items[i]);
    }
    if (view->functions.count > view->function_limit) {
        printf("  (%zu more; --functions=N lists more)\n", view->functions.count - view->function_limit);
    }
}

void sn_profile_print_text(const sn_profile_view *view) {
    sn_profile_print_head(view);
    if (view->function_limit > 0) {
        print_functions(view);
        if (view->annotates) {
            sn_profile_annotate(view);
        }
    }
}
