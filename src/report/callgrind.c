/**
 * @fileoverview The kind "callgrind" of `sonde report`: profiles of the tool calls, and of Callgrind itself.
 *
 * Options, reading files, adding them up; what prints is in the files that callgrind.h names. Called by report.c.
 */
#include "report/callgrind.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/options.h"
#include "report/callgrind_reader.h"
#include "report/line_options.h"
#include "report/report.h"

enum { FORMAT_TEXT, FORMAT_JSON };
enum { BY_SELF, BY_INCLUSIVE };

static int format = FORMAT_TEXT, by = BY_SELF, tree_kind = SN_CALL_TREE_NONE;
static bool finds_cycles = true;
static int64_t depth = 20;
static const char *threshold_text, *function_pattern;

static const sn_option options[] = {
    SN_LINE_OPTION_MERGE,
    {"format", SN_OPTION_CHOICE, &format, "text", "text|json", "form of the report"},
    {"tree", SN_OPTION_CHOICE, &tree_kind, "none", "none|top-down|bottom-up",
     "show a call tree: below each function what it calls, or who calls it"},
    {"function", SN_OPTION_STRING, &function_pattern, "none", "NAME",
     "callers and callees of this function (* and ? stand for anything), or, with --tree, its tree"},
    {"depth", SN_OPTION_NUMBER, &depth, "20", NULL, "levels of the tree"},
    {"threshold", SN_OPTION_STRING, &threshold_text, "1", "PERCENT", "leave out of the tree what is less"},
    {"by", SN_OPTION_CHOICE, &by, "self", "self|inclusive", "what functions are sorted by and compared by"},
    {"cycles", SN_OPTION_FLAG, &finds_cycles, "yes", NULL, "take functions that call each other as one"},
    SN_LINE_OPTIONS("what is shown and sorted by: an event, or a sum as D1mr+D1mw",
                    "columns of the source lines: up to four"),
    {0},
};

static void check_options(size_t file_count) {
    if (depth < 1 || depth > 1000) {
        sn_fail(SN_STATUS_USAGE, "--depth must be from 1 to 1000");
    }
    sn_report_percent("threshold", threshold_text, 1);
    sn_line_options_check(file_count);
    if (sn_line_options_compare(file_count) && (tree_kind != SN_CALL_TREE_NONE || function_pattern != NULL)) {
        sn_fail(SN_STATUS_USAGE, "--tree and --function are for one profile, or for the sum of several by --merge");
    }
}

/** Another file may be of another kind than the first. */
static void check_kind(FILE *stream, const char *path) {
    char head[SN_REPORT_HEAD_SIZE];
    size_t size = fread(head, 1, sizeof head, stream);
    if (!ferror(stream) && !sn_callgrind_recognises(head, size)) {
        sn_fail(SN_REPORT_DAMAGED, "'%s' is no callgrind profile", path);
    }
    if (ferror(stream) || fseek(stream, 0, SEEK_SET) != 0) {
        sn_fail(SN_STATUS_USAGE, "cannot read '%s': %s", path, strerror(errno));
    }
}

static void read_profile(sn_call_profile *profile, const char *path) {
    char explanation[SN_CALLGRIND_EXPLANATION_SIZE];
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) {
        sn_fail(SN_STATUS_USAGE, "cannot read '%s': %s", path, strerror(errno));
    }
    check_kind(stream, path);
    profile->lines.path = path;
    profile->keeps_instructions = sn_line_options_given.html != NULL;
    if (!sn_callgrind_parse(profile, stream, explanation)) {
        if (explanation[0] == '\0') {
            sn_fail(SN_STATUS_USAGE, "cannot read '%s': %s", path, strerror(errno));
        }
        sn_fail(SN_REPORT_DAMAGED, "'%s', %s", path, explanation);
    }
    if (profile->is_unproven) {
        sn_message("'%s' has neither a summary nor totals: whether it is complete cannot be told", path);
    }
    fclose(stream);
}

static void merge(sn_call_profile *sum, const char *const *files, size_t count) {
    char explanation[SN_CALLGRIND_EXPLANATION_SIZE];
    read_profile(sum, files[0]);
    for (size_t i = 1; i < count; i++) {
        sn_call_profile part = {0};
        read_profile(&part, files[i]);
        if (!sn_call_profile_add(sum, &part, explanation, sizeof explanation)) {
            sn_fail(SN_REPORT_DAMAGED, "'%s': %s", files[i], explanation);
        }
        sn_call_profile_release(&part);
    }
    if (count > 1) {
        sum->lines.path = NULL;
    }
}

/* ---------------------------------------------------------------- what is to be shown */

static int by_cost(const void *left, const void *right, void *data) {
    const sn_call_view *view = data;
    sn_call_node a = *(const sn_call_node *)left, b = *(const sn_call_node *)right;
    int64_t cost_a = view->is_by_inclusive ? sn_call_view_inclusive(view, a) : sn_call_view_self(view, a);
    int64_t cost_b = view->is_by_inclusive ? sn_call_view_inclusive(view, b) : sn_call_view_self(view, b);
    if (cost_a != cost_b) {
        return cost_a < cost_b ? 1 : -1;
    }
    bool is_cycle = sn_call_graph_is_cycle(view->graph, a) || sn_call_graph_is_cycle(view->graph, b);
    int order = is_cycle ? 0
                         : strcmp(view->profile->functions.items[a].name, view->profile->functions.items[b].name);
    return order != 0 ? order : (a > b) - (a < b);
}

static void put_in_order(sn_call_view *view) {
    view->order_count = view->is_by_inclusive ? view->graph->node_count : view->graph->function_count;
    view->order = calloc(view->order_count + 1, sizeof *view->order);
    if (view->order == NULL) {
        sn_fail(SN_STATUS_ENGINE, "out of memory");
    }
    for (size_t i = 0; i < view->order_count; i++) {
        view->order[i] = (sn_call_node)i;
    }
    qsort_r(view->order, view->order_count, sizeof *view->order, by_cost, view);
}

/** By the whole name; Callgrind's recursion levels ("name'2") are found by the name too. */
static bool is_chosen(const char *name) {
    if (fnmatch(function_pattern, name, 0) == 0 || strcmp(function_pattern, name) == 0) {
        return true;
    }
    size_t length = strlen(function_pattern);
    return strncmp(name, function_pattern, length) == 0 && name[length] == '\'' &&
           strspn(name + length + 1, "0123456789") == strlen(name + length + 1);
}

static void choose_functions(sn_call_view *view) {
    for (size_t i = 0; i < view->order_count && function_pattern != NULL; i++) {
        if (!sn_call_graph_is_cycle(view->graph, view->order[i]) &&
            is_chosen(view->profile->functions.items[view->order[i]].name)) {
            *sn_vector_add(&view->chosen) = view->order[i];
        }
    }
    if (function_pattern == NULL || view->chosen.count > 0) {
        return;
    }
    sn_suggestion suggestion = sn_suggestion_for(function_pattern, strlen(function_pattern));
    for (size_t i = 0; i < view->profile->functions.count; i++) {
        sn_suggestion_offer(&suggestion, view->profile->functions.items[i].name);
    }
    if (suggestion.best != NULL) {
        sn_fail(SN_STATUS_USAGE, "--function: the profile has no function '%s'; did you mean '%s'?", function_pattern,
                suggestion.best);
    }
    sn_fail(SN_STATUS_USAGE, "--function: the profile has no function '%s'", function_pattern);
}

static void print_one(const sn_call_profile *profile, const char *const *files, size_t count) {
    bool draws = sn_line_options_given.html != NULL; /* a page draws no loops */
    sn_call_graph graph = sn_call_graph_make(profile, finds_cycles || draws);
    sn_call_view view = {
        .profile = profile,
        .graph = &graph,
        .lines = sn_line_options_view(&profile->lines, files, count),
        .is_by_inclusive = by == BY_INCLUSIVE,
        .tree = (sn_call_tree_kind)tree_kind,
        .depth = (unsigned)depth,
        .threshold = sn_report_percent("threshold", threshold_text, 1),
    };
    put_in_order(&view);
    choose_functions(&view);
    int64_t chosen = view.chosen.count > 0 ? (int64_t)view.chosen.items[0] : -1;
    bool is_written = sn_line_options_write_page(&view.lines, &graph, chosen);
    if (!is_written && format == FORMAT_JSON) {
        sn_call_print_json(&view);
    } else if (!is_written) {
        sn_call_print_text(&view);
    }
    free(view.order);
    sn_vector_release(&view.chosen);
    sn_vector_release(&view.lines.functions);
    sn_call_graph_release(&graph);
}

static void report_one(const char *const *files, size_t count) {
    sn_call_profile profile = {0};
    merge(&profile, files, count);
    sn_profile_sort(&profile.lines);
    print_one(&profile, files, count);
    sn_call_profile_release(&profile);
}

static void report_two(const char *const *files) {
    sn_call_profile profiles[2] = {0};
    sn_call_graph graphs[2];
    for (size_t i = 0; i < 2; i++) {
        read_profile(&profiles[i], files[i]);
        graphs[i] = sn_call_graph_make(&profiles[i], finds_cycles);
    }
    sn_call_compare(&graphs[0], &graphs[1], by == BY_INCLUSIVE, sn_line_options_given.sort,
                    (size_t)sn_line_options_given.function_limit, format == FORMAT_JSON);
    for (size_t i = 0; i < 2; i++) {
        sn_call_graph_release(&graphs[i]);
        sn_call_profile_release(&profiles[i]);
    }
}

static int run(const char *const *files, size_t count) {
    check_options(count);
    if (sn_line_options_compare(count)) {
        report_two(files);
    } else {
        report_one(files, count);
    }
    return 0;
}

const sn_report_kind sn_report_callgrind = {
    .name = "callgrind",
    .what = "callgrind.out.*, written by sonde calls and by valgrind --tool=callgrind",
    .options = options,
    .recognises = sn_callgrind_recognises,
    .run = run,
};
