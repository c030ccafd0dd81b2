/**
 * @fileoverview Two profiles compared: how the second differs from the first, in total and by function. See cachegrind.h.
 *
 * Functions are the same when their names and files are. Events that only one of the two has are left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sonde/intern.h"
#include "base/log.h"
#include "report/cachegrind.h"
#include "report/report.h"
#include "report/text_form.h"
#include "sonde/json.h"

/** An event that both profiles have: its positions in them. */
typedef struct common_event {
    const char *name;
    unsigned before, after;
} common_event;

typedef struct changed_function {
    const char *file, *function;
    const int64_t *before, *after; /**< NULL where there is none */
} changed_function;

typedef struct comparison {
    const sn_profile *before, *after;
    common_event events[SN_PROFILE_MOST_EVENTS];
    unsigned event_count;
    sn_profile_functions before_functions, after_functions;
    SN_VECTOR(changed_function) functions;
} comparison;

static int by_name(const sn_profile_function *a, const sn_profile_function *b) {
    int order = a->file == b->file ? 0 : strcmp(a->file, b->file);
    return order != 0 ? order : a->function == b->function ? 0 : strcmp(a->function, b->function);
}

/** Both lists are in the order of names. */
static void pair_functions(comparison *comparison) {
    const sn_profile_function *before = comparison->before_functions.items, *after = comparison->after_functions.items;
    const sn_profile_function *before_end = before + comparison->before_functions.count;
    const sn_profile_function *after_end = after + comparison->after_functions.count;
    while (before < before_end || after < after_end) {
        int order = before == before_end ? 1 : after == after_end ? -1 : by_name(before, after);
        const sn_profile_function *named = order <= 0 ? before : after;
        *sn_vector_add(&comparison->functions) = (changed_function){
            .file = named->file,
            .function = named->function,
            .before = order <= 0 ? before->counts : NULL,
            .after = order >= 0 ? after->counts : NULL,
        };
        before += order <= 0;
        after += order >= 0;
    }
}

static void compare(comparison *comparison, const sn_profile *before, const sn_profile *after) {
    memset(comparison, 0, sizeof *comparison);
    comparison->before = before;
    comparison->after = after;
    for (unsigned i = 0; i < before->event_count; i++) {
        int other = sn_profile_event(after, before->events[i], strlen(before->events[i]));
        if (other >= 0) {
            comparison->events[comparison->event_count++] =
                (common_event){.name = before->events[i], .before = i, .after = (unsigned)other};
        }
    }
    if (comparison->event_count == 0) {
        sn_fail(SN_REPORT_DAMAGED, "'%s' and '%s' have no event in common", before->path, after->path);
    }
    comparison->before_functions = sn_profile_sum_functions(before);
    comparison->after_functions = sn_profile_sum_functions(after);
    pair_functions(comparison);
}

static void release(comparison *comparison) {
    sn_vector_release(&comparison->before_functions);
    sn_vector_release(&comparison->after_functions);
    sn_vector_release(&comparison->functions);
}

static int64_t count_before(const int64_t *counts, const common_event *event) {
    return counts == NULL ? 0 : counts[event->before];
}

static int64_t count_after(const int64_t *counts, const common_event *event) {
    return counts == NULL ? 0 : counts[event->after];
}

/** Counts are of 63 bits and a sign: their difference may need one more bit. It then is cut to what fits. */
static int64_t difference_of(int64_t before, int64_t after) {
    int64_t difference;
    if (__builtin_sub_overflow(after, before, &difference)) {
        return after < before ? INT64_MIN : INT64_MAX;
    }
    return difference;
}

static int64_t change_of(const changed_function *function, const common_event *event) {
    return difference_of(count_before(function->before, event), count_after(function->after, event));
}

/* ---------------------------------------------------------------------- as text */

static void print_numbers(int64_t before, int64_t after) {
    char numbers[3][SN_NUMBER_SIZE];
    int64_t difference = difference_of(before, after);
    printf(" %16s %16s ", sn_form_number(before, numbers[0]), sn_form_number(after, numbers[1]));
    char *shown = numbers[2] + 1;
    sn_form_number(difference, shown);
    if (difference > 0) {
        *--shown = '+';
    }
    printf("%16s", shown);
}

static int by_change(const void *left, const void *right, void *event) {
    const changed_function *a = left, *b = right;
    int64_t change_a = change_of(a, event), change_b = change_of(b, event);
    uint64_t size_a = change_a < 0 ? -(uint64_t)change_a : (uint64_t)change_a;
    uint64_t size_b = change_b < 0 ? -(uint64_t)change_b : (uint64_t)change_b;
    if (size_a != size_b) {
        return size_a < size_b ? 1 : -1;
    }
    int order = strcmp(a->function, b->function);
    return order != 0 ? order : strcmp(a->file, b->file);
}

static const common_event *sort_event(const comparison *comparison, const char *sort) {
    for (unsigned i = 0; i < comparison->event_count; i++) {
        if (sort == NULL || strcmp(sort, comparison->events[i].name) == 0) {
            return &comparison->events[i];
        }
    }
    sn_fail(SN_STATUS_USAGE, "--sort: the two profiles do not both have an event '%s'", sort);
}

static void print_totals(const comparison *comparison) {
    printf("%8s %16s %16s %16s\n", "Totals", "A", "B", "B - A");
    for (unsigned i = 0; i < comparison->event_count; i++) {
        const common_event *event = &comparison->events[i];
        int64_t before = comparison->before->totals[event->before], after = comparison->after->totals[event->after];
        printf("  %-6.6s", event->name);
        print_numbers(before, after);
        if (before != 0) {
            printf("  %+8.2f %%", 100 * (double)difference_of(before, after) / (double)before);
        }
        putchar('\n');
    }
}

static void print_changes(const comparison *comparison, const common_event *event, size_t limit, const char *title) {
    size_t changed = 0;
    printf("\n %16.16s %16s %16s  %s\n", event->name, "", "", title);
    for (size_t i = 0; i < comparison->functions.count; i++) {
        const changed_function *function = &comparison->functions.items[i];
        if (change_of(function, event) == 0 || changed++ >= limit) {
            continue;
        }
        char name[600];
        print_numbers(count_before(function->before, event), count_after(function->after, event));
        snprintf(name, sizeof name, "%s (%s)", function->function, sn_form_base_name(function->file));
        printf("  ");
        sn_form_print(name, SN_REPORT_WIDTH - 53, SN_FORM_CUT_END);
        putchar('\n');
    }
    if (changed > limit) {
        printf("  (%zu more; --functions=N lists more)\n", changed - limit);
    }
    if (changed == 0) {
        printf("  (no function has changed)\n");
    }
}

void sn_profile_compare_text(const sn_profile *before, const sn_profile *after, const char *sort, size_t limit,
                             const char *title) {
    comparison comparison;
    compare(&comparison, before, after);
    const common_event *event = sort_event(&comparison, sort);
    printf("sonde report: two profiles compared\n  A: ");
    sn_form_print(before->path, SN_REPORT_WIDTH - 5, SN_FORM_CUT_BEGINNING);
    printf("\n     ");
    sn_form_print(before->command, SN_REPORT_WIDTH - 5, SN_FORM_CUT_END);
    printf("\n  B: ");
    sn_form_print(after->path, SN_REPORT_WIDTH - 5, SN_FORM_CUT_BEGINNING);
    printf("\n     ");
    sn_form_print(after->command, SN_REPORT_WIDTH - 5, SN_FORM_CUT_END);
    printf("\n\n");
    print_totals(&comparison);
    if (limit > 0) {
        qsort_r(comparison.functions.items, comparison.functions.count, sizeof *comparison.functions.items, by_change,
                (void *)(uintptr_t)event);
        print_changes(&comparison, event, limit, title);
    }
    release(&comparison);
}

/* ---------------------------------------------------------------------- as JSON */

static void write_side(sn_json *json, const char *name, const comparison *comparison, const int64_t *counts,
                       int64_t (*count_of)(const int64_t *counts, const common_event *event)) {
    sn_json_object(json, name);
    for (unsigned i = 0; i < comparison->event_count; i++) {
        sn_json_signed(json, comparison->events[i].name, count_of(counts, &comparison->events[i]));
    }
    sn_json_close(json);
}

static void write_change(sn_json *json, const char *name, const comparison *comparison, const int64_t *before,
                         const int64_t *after) {
    sn_json_object(json, name);
    for (unsigned i = 0; i < comparison->event_count; i++) {
        const common_event *event = &comparison->events[i];
        sn_json_signed(json, event->name, difference_of(count_before(before, event), count_after(after, event)));
    }
    sn_json_close(json);
}

static void write_numbers(sn_json *json, const comparison *comparison, const int64_t *before, const int64_t *after) {
    write_side(json, "before", comparison, before, count_before);
    write_side(json, "after", comparison, after, count_after);
    write_change(json, "change", comparison, before, after);
}

void sn_profile_compare_json(const sn_profile *before, const sn_profile *after, const char *kind) {
    comparison comparison;
    sn_json json;
    compare(&comparison, before, after);
    sn_json_begin(&json, stdout);
    sn_json_object(&json, NULL);
    sn_json_string(&json, "kind", kind);
    sn_json_array(&json, "files");
    sn_json_string(&json, NULL, before->path);
    sn_json_string(&json, NULL, after->path);
    sn_json_close(&json);
    sn_json_object(&json, "totals");
    write_numbers(&json, &comparison, before->totals, after->totals);
    sn_json_close(&json);
    sn_json_array(&json, "functions");
    for (size_t i = 0; i < comparison.functions.count; i++) {
        const changed_function *function = &comparison.functions.items[i];
        sn_json_object(&json, NULL);
        sn_json_string(&json, "function", function->function);
        sn_json_string(&json, "file", function->file);
        write_numbers(&json, &comparison, function->before, function->after);
        sn_json_close(&json);
    }
    sn_json_close(&json);
    sn_json_close(&json);
    sn_json_finish(&json);
    release(&comparison);
}

/* ------------------------------------------------------------------- as a profile */

void sn_profile_subtract(sn_profile *difference, const sn_profile *before, const sn_profile *after) {
    comparison comparison;
    char text[5000];
    compare(&comparison, before, after);
    const sn_profile *sides[] = {before, after};
    for (size_t i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "%s: %s", i == 0 ? "Subtracted" : "From", sides[i]->path);
        *sn_vector_add(&difference->descriptions) = sn_intern(text);
    }
    difference->command = after->command;
    difference->event_count = comparison.event_count;
    for (unsigned i = 0; i < comparison.event_count; i++) {
        difference->events[i] = comparison.events[i].name;
    }
    for (size_t i = 0; i < comparison.functions.count; i++) {
        const changed_function *function = &comparison.functions.items[i];
        int64_t counts[SN_PROFILE_MOST_EVENTS];
        for (unsigned event = 0; event < comparison.event_count; event++) {
            counts[event] = change_of(function, &comparison.events[event]);
        }
        if (!sn_profile_add(difference, sn_profile_row_of(difference, function->file, function->function, 0), counts)) {
            sn_fail(SN_REPORT_DAMAGED, "the difference of '%s' and '%s' has numbers that are too large", before->path,
                    after->path);
        }
    }
    release(&comparison);
}
