/**
 * @fileoverview Columns of a report: choosing and evaluating. See columns.h.
 */
#include "report/columns.h"

#include <stdlib.h>
#include <string.h>

#include "sonde/intern.h"
#include "base/log.h"

/** Shown without --show=, behind what is sorted by, as far as the profile has the events and there is room. */
static const struct {
    const char *title, *events;
} usual[] = {
    {"D1m", "D1mr+D1mw"},
    {"LLm", "ILmr+DLmr+DLmw"},
    {"Bm", "Bcm+Bim"},
};

/** The events of `text` up to `length`, separated by +; 0 if one is unknown. */
static uint64_t events_of(const sn_profile *profile, const char *text, size_t length) {
    uint64_t events = 0;
    for (const char *end = text + length;;) {
        const char *plus = memchr(text, '+', (size_t)(end - text));
        int event = sn_profile_event(profile, text, (size_t)((plus != NULL ? plus : end) - text));
        if (event < 0) {
            return 0;
        }
        events |= UINT64_C(1) << event;
        if (plus == NULL) {
            return events;
        }
        text = plus + 1;
    }
}

static sn_column column_of(const sn_profile *profile, const char *option, const char *text, size_t length) {
    uint64_t events = events_of(profile, text, length);
    if (events == 0) {
        char known[400] = "";
        for (unsigned i = 0; i < profile->event_count; i++) {
            strncat(known, i > 0 ? ", " : "", sizeof known - strlen(known) - 1);
            strncat(known, profile->events[i], sizeof known - strlen(known) - 1);
        }
        sn_fail(SN_STATUS_USAGE, "--%s: the profile has no event '%.*s'; it has %s", option, (int)length, text, known);
    }
    return (sn_column){.title = sn_intern_bytes(text, length), .events = events};
}

static void show(sn_columns *columns, sn_column column) {
    for (unsigned i = 0; i < columns->count; i++) {
        if (columns->shown[i].events == column.events) {
            return;
        }
    }
    if (columns->count < SN_MOST_COLUMNS) {
        columns->shown[columns->count++] = column;
    }
}

static void show_usual(sn_columns *columns, const sn_profile *profile) {
    show(columns, columns->sort);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        uint64_t events = events_of(profile, usual[i].events, strlen(usual[i].events));
        if (events != 0) {
            show(columns, (sn_column){.title = usual[i].title, .events = events});
        }
    }
    for (unsigned i = 0; columns->count == 1 && i < profile->event_count; i++) {
        for (unsigned event = i; event < profile->event_count; event++) {
            show(columns, (sn_column){.title = profile->events[event], .events = UINT64_C(1) << event});
        }
    }
}

sn_columns sn_columns_choose(const sn_profile *profile, const char *show_text, const char *sort) {
    sn_columns columns = {.sort = {.title = profile->events[0], .events = 1}};
    if (sort != NULL) {
        columns.sort = column_of(profile, "sort", sort, strlen(sort));
    }
    if (show_text == NULL) {
        show_usual(&columns, profile);
    }
    for (unsigned given = 0; show_text != NULL; given++) {
        size_t length = strcspn(show_text, ",");
        if (given == SN_MOST_COLUMNS) {
            sn_fail(SN_STATUS_USAGE, "--show: more than %d columns", SN_MOST_COLUMNS);
        }
        show(&columns, column_of(profile, "show", show_text, length));
        show_text = show_text[length] == '\0' ? NULL : show_text + length + 1;
    }
    return columns;
}

int64_t sn_column_value(const sn_column *column, const int64_t *counts) {
    uint64_t sum = 0; /* of several events, it may exceed what one is limited to */
    for (uint64_t left = column->events; left != 0; left &= left - 1) {
        sum += (uint64_t)counts[__builtin_ctzll(left)];
    }
    return (int64_t)sum;
}

double sn_column_share(const sn_column *column, const int64_t *counts, const int64_t *totals) {
    double total = (double)sn_column_value(column, totals);
    return total == 0 ? 0 : 100 * (double)sn_column_value(column, counts) / total;
}

static int by_value(const void *left, const void *right, void *column) {
    const sn_profile_function *a = left, *b = right;
    int64_t value_a = sn_column_value(column, a->counts), value_b = sn_column_value(column, b->counts);
    if (value_a != value_b) {
        return value_a < value_b ? 1 : -1;
    }
    int order = strcmp(a->function, b->function);
    return order != 0 ? order : strcmp(a->file, b->file);
}

void sn_columns_sort_functions(sn_profile_functions *functions, const sn_column *column) {
    if (functions->count > 0) {
        qsort_r(functions->items, functions->count, sizeof *functions->items, by_value, (void *)(uintptr_t)column);
    }
}
