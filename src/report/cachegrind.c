/**
 * @fileoverview The kind "cachegrind" of `sonde report`: profiles of the tool cache, and of Cachegrind itself.
 *
 * Options, reading files, adding them up; what prints is in the files that cachegrind.h names. Called by report.c.
 */
#include "report/cachegrind.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "report/cachegrind_reader.h"
#include "report/line_options.h"
#include "report/report.h"

enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_CACHEGRIND };

static int format = FORMAT_TEXT;

static const sn_option options[] = {
    SN_LINE_OPTION_MERGE,
    {"format", SN_OPTION_CHOICE, &format, "text", "text|json|cachegrind",
     "form of the report; cachegrind: a file for cg_annotate and its like"},
    SN_LINE_OPTIONS("what functions are sorted by: an event, or a sum as D1mr+D1mw",
                    "columns: up to four events or sums, separated by commas"),
    {0},
};

/** All of a file's text. Never NULL. */
static char *read_file(const char *path, size_t *size) {
    size_t room = 1 << 16;
    char *text = malloc(room);
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) {
        sn_fail(SN_STATUS_USAGE, "cannot read '%s': %s", path, strerror(errno));
    }
    *size = 0;
    while (text != NULL && !feof(stream) && !ferror(stream)) {
        *size += fread(text + *size, 1, room - *size, stream);
        if (*size == room) {
            text = realloc(text, room *= 2);
        }
    }
    if (text == NULL) {
        sn_fail(SN_STATUS_ENGINE, "out of memory");
    }
    if (ferror(stream)) {
        sn_fail(SN_STATUS_USAGE, "cannot read '%s': %s", path, strerror(errno));
    }
    fclose(stream);
    return text;
}

static void read_profile(sn_profile *profile, const char *path) {
    char explanation[SN_CACHEGRIND_EXPLANATION_SIZE];
    size_t size;
    char *text = read_file(path, &size);
    profile->path = path;
    if (!sn_cachegrind_recognises(text, size)) {
        sn_fail(SN_REPORT_DAMAGED, "'%s' is no cachegrind profile", path);
    }
    if (!sn_cachegrind_parse(profile, text, size, explanation)) {
        sn_fail(SN_REPORT_DAMAGED, "'%s', %s", path, explanation);
    }
    free(text);
}

/** Events may be in another order, but must be the same: else a sum would be of less than all. */
static void add_profile(sn_profile *sum, const sn_profile *part) {
    unsigned place[SN_PROFILE_MOST_EVENTS];
    for (unsigned i = 0; i < part->event_count; i++) {
        int event = sn_profile_event(sum, part->events[i], strlen(part->events[i]));
        if (event < 0 || part->event_count != sum->event_count) {
            sn_fail(SN_REPORT_DAMAGED, "'%s' has other events than the files before it", part->path);
        }
        place[i] = (unsigned)event;
    }
    for (size_t i = 0; i < part->rows.count; i++) {
        int64_t counts[SN_PROFILE_MOST_EVENTS];
        for (unsigned event = 0; event < part->event_count; event++) {
            counts[place[event]] = sn_profile_counts(part, i)[event];
        }
        const sn_profile_row *row = &part->rows.items[i];
        if (!sn_profile_add(sum, sn_profile_row_of(sum, row->file, row->function, row->line), counts)) {
            sn_fail(SN_REPORT_DAMAGED, "'%s': the sum of the counts is too large", part->path);
        }
    }
}

static void merge(sn_profile *sum, const char *const *files, size_t count) {
    read_profile(sum, files[0]);
    for (size_t i = 1; i < count; i++) {
        sn_profile part = {0};
        read_profile(&part, files[i]);
        add_profile(sum, &part);
        sn_profile_release(&part);
    }
    if (count > 1) {
        sum->path = NULL;
    }
}

static void print_one(const sn_profile *profile, const char *const *files, size_t count) {
    sn_profile_view view = sn_line_options_view(profile, files, count);
    bool is_written = sn_line_options_write_page(&view, NULL, -1);
    if (!is_written && format == FORMAT_JSON) {
        sn_profile_print_json(&view);
    } else if (!is_written) {
        sn_profile_print_text(&view);
    }
    sn_vector_release(&view.functions);
}

static void report_one(const char *const *files, size_t count) {
    sn_profile profile = {0};
    merge(&profile, files, count);
    sn_profile_sort(&profile);
    if (format == FORMAT_CACHEGRIND && sn_line_options_given.html == NULL) {
        sn_profile_write(&profile, stdout);
    } else {
        print_one(&profile, files, count);
    }
    sn_profile_release(&profile);
}

static void report_two(const char *const *files) {
    sn_profile before = {0}, after = {0}, difference = {0};
    read_profile(&before, files[0]);
    read_profile(&after, files[1]);
    sn_profile_sort(&before);
    sn_profile_sort(&after);
    if (format == FORMAT_TEXT) {
        sn_profile_compare_text(&before, &after, sn_line_options_given.sort, (size_t)sn_line_options_given.function_limit,
                                "Function");
    } else if (format == FORMAT_JSON) {
        sn_profile_compare_json(&before, &after, "cachegrind comparison");
    } else {
        sn_profile_subtract(&difference, &before, &after);
        sn_profile_sort(&difference);
        sn_profile_write(&difference, stdout);
    }
    sn_profile_release(&before);
    sn_profile_release(&after);
    sn_profile_release(&difference);
}

static int run(const char *const *files, size_t count) {
    sn_line_options_check(count);
    if (sn_line_options_compare(count)) {
        report_two(files);
    } else {
        report_one(files, count);
    }
    return 0;
}

const sn_report_kind sn_report_cachegrind = {
    .name = "cachegrind",
    .what = "cachegrind.out.*, written by sonde cache and by valgrind --tool=cachegrind",
    .options = options,
    .recognises = sn_cachegrind_recognises,
    .run = run,
};
