/**
 * @fileoverview The kind "contexts" of `sonde report`: options, and reading the file. See contexts.h. Called by report.c.
 */
#include "report/contexts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "report/report.h"
#include "report/text_form.h"

enum { FORMAT_TEXT, FORMAT_JSON };

static int format = FORMAT_TEXT, color = SN_COLOR_AUTO, tree = SN_CONTEXTS_TREE_TOP_DOWN;
static int64_t depth = 50, stacks = 0;
static const char *sort, *threshold_text;

static const sn_option options[] = {
    {"format", SN_OPTION_CHOICE, &format, "text", "text|json", "form of the report"},
    {"tree", SN_OPTION_CHOICE, &tree, "top-down", "none|top-down|bottom-up",
     "show a call tree: below each function what it calls, or who calls it"},
    {"depth", SN_OPTION_NUMBER, &depth, "50", NULL, "levels of the tree"},
    {"threshold", SN_OPTION_STRING, &threshold_text, "1", "PERCENT", "leave out of the tree what is less"},
    {"stacks", SN_OPTION_NUMBER, &stacks, "0", NULL, "show so many single stacks, with lines"},
    {"sort", SN_OPTION_STRING, &sort, "the first event", "EVENT", "what is shown and sorted by"},
    {"color", SN_OPTION_CHOICE, &color, "auto", "auto|yes|no", "mark what is large; auto: on a terminal"},
    {0},
};

static void check_options(size_t file_count) {
    if (file_count > 1) {
        sn_fail(SN_STATUS_USAGE, "%zu files: files of contexts are reported one by one", file_count);
    }
    if (depth < 1 || depth > 1000) {
        sn_fail(SN_STATUS_USAGE, "--depth must be from 1 to 1000");
    }
    if (stacks < 0) {
        sn_fail(SN_STATUS_USAGE, "--stacks must not be negative");
    }
}

static unsigned chosen_event(const sn_contexts_file *file) {
    for (unsigned event = 0; sort != NULL && event < file->event_count; event++) {
        if (strcmp(file->events[event], sort) == 0) {
            return event;
        }
    }
    if (sort != NULL) {
        sn_fail(SN_STATUS_USAGE, "--sort: '%s' has no event '%s'", file->path, sort);
    }
    return 0;
}

static void read_file(sn_contexts_file *file, const char *path) {
    char explanation[SN_CONTEXTS_EXPLANATION_SIZE];
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) {
        sn_fail(SN_STATUS_USAGE, "cannot read '%s': %s", path, strerror(errno));
    }
    file->path = path;
    if (!sn_contexts_parse(file, stream, explanation)) {
        if (explanation[0] == '\0') {
            sn_fail(SN_STATUS_USAGE, "cannot read '%s': %s", path, strerror(errno));
        }
        sn_fail(SN_REPORT_DAMAGED, "'%s', %s", path, explanation);
    }
    fclose(stream);
}

static int run(const char *const *files, size_t count) {
    sn_contexts_file file = {0};
    check_options(count);
    sn_form_choose_color(color);
    double threshold = sn_report_percent("threshold", threshold_text, 1);
    read_file(&file, files[0]);
    sn_contexts_view view = {.file = &file, .event = chosen_event(&file), .tree = (sn_contexts_tree_kind)tree,
                             .depth = (unsigned)depth, .threshold = threshold, .stacks = (size_t)stacks};
    if (format == FORMAT_JSON) {
        sn_contexts_print_json(&view);
    } else {
        sn_contexts_print_text(&view);
    }
    sn_contexts_release(&file);
    return 0;
}

const sn_report_kind sn_report_contexts = {
    .name = "contexts",
    .what = "calling contexts, written by tools that use <sonde/context_file.h>",
    .options = options,
    .recognises = sn_contexts_recognises,
    .run = run,
};
