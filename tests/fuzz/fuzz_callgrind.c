/**
 * @fileoverview Fuzz target: reading a hostile callgrind profile must neither crash nor hang, and what is accepted must add up;
 * trees and pages are made of it.
 *
 * Two forms of one file: with clang -fsanitize=fuzzer and -DSN_LIBFUZZER a libFuzzer target; otherwise
 * `fuzz_callgrind FIRST_SEED COUNT` makes profiles that are in order, spoils most of them, and reads all.
 * tests/test_report_callgrind.py builds and runs it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/call_tree.h"
#include "report/callgrind_reader.h"
#include "report/page.h"
#include "report/report.h"
#include "sonde/tool.h"

static unsigned long accepted, refused;

/** The page is not what is tested: its data are. */
const char *sn_page_form(size_t *size) {
    *size = strlen("<" SN_PAGE_MARK ">");
    return "<" SN_PAGE_MARK ">";
}

double sn_report_percent(const char *option, const char *text, double otherwise) {
    (void)option, (void)text;
    return otherwise;
}

static void require(int promise) {
    if (!promise) {
        abort();
    }
}

/** Lines, functions and totals are three sums of the same costs. */
static void check_sums(const sn_call_profile *profile) {
    for (unsigned event = 0; event < profile->lines.event_count; event++) {
        int64_t by_line = 0, by_function = 0;
        for (size_t i = 0; i < profile->lines.rows.count; i++) {
            by_line += sn_profile_counts(&profile->lines, i)[event];
        }
        for (uint32_t i = 0; i < profile->functions.count; i++) {
            by_function += sn_call_profile_self(profile, i)[event];
        }
        require(by_line == profile->lines.totals[event] && by_function == by_line);
    }
}

static void check_sites(const sn_call_profile *profile) {
    uint64_t by_arc = 0, by_site = 0;
    for (size_t i = 0; i < profile->arcs.count; i++) {
        const sn_call_arc *arc = &profile->arcs.items[i];
        require(arc->caller < profile->functions.count && arc->callee < profile->functions.count);
        by_arc += arc->calls;
    }
    for (size_t i = 0; i < profile->sites.count; i++) {
        require(profile->sites.items[i].arc < profile->arcs.count);
        by_site += profile->sites.items[i].calls;
    }
    require(by_arc == by_site);
}

static void check_graph(const sn_call_profile *profile, bool finds_cycles) {
    sn_call_graph graph = sn_call_graph_make(profile, finds_cycles);
    char name[64];
    require(finds_cycles || graph.cycles.count == 0);
    for (sn_call_node node = 0; node < graph.node_count; node++) {
        require(strlen(sn_call_graph_name(&graph, node, name, sizeof name)) < sizeof name);
        for (unsigned event = 0; event < profile->lines.event_count; event++) {
            require(sn_call_graph_inclusive(&graph, node)[event] >= 0);
        }
    }
    for (uint32_t i = 0; i < graph.function_count; i++) {
        for (unsigned event = 0; event < profile->lines.event_count; event++) {
            require(sn_call_graph_inclusive(&graph, i)[event] >= sn_call_profile_self(profile, i)[event]);
        }
    }
    sn_call_graph_release(&graph);
}

/** What is below a line of a tree is part of it, but for rounding. */
static void check_tree(const sn_call_view *view) {
    sn_call_tree tree = sn_call_tree_make(view);
    double left[64] = {0};
    unsigned depth = 0;
    for (size_t i = 0; i < tree.rows.count; i++) {
        const sn_call_tree_row *row = &tree.rows.items[i];
        require(row->depth < view->depth && row->depth <= depth + (i > 0) && row->node < view->graph->node_count && row->cost > 0);
        depth = row->depth;
        if (depth > 0) {
            left[depth - 1] -= row->cost;
            require(left[depth - 1] > -1e-6 * (1 + row->cost) || view->graph->cycles.count == 0);
        }
        left[depth] = row->cost;
    }
    sn_call_tree_release(&tree);
}

static void check_views(const sn_call_profile *profile, bool finds_cycles) {
    const char *const files[] = {"some"};
    sn_call_graph graph = sn_call_graph_make(profile, finds_cycles);
    sn_call_view view = {.profile = profile, .graph = &graph, .depth = 20, .threshold = 0.5};
    view.lines = (sn_profile_view){.profile = &profile->lines, .columns = sn_columns_choose(&profile->lines, NULL, NULL),
                                   .functions = sn_profile_sum_functions(&profile->lines), .files = files, .file_count = 1};
    view.tree = SN_CALL_TREE_TOP_DOWN;
    check_tree(&view);
    view.tree = SN_CALL_TREE_BOTTOM_UP;
    check_tree(&view);
    sn_page_write(&(sn_page_request){.path = "/dev/null", .view = &view.lines, .graph = finds_cycles ? &graph : NULL,
                                     .chosen = finds_cycles ? (int64_t)profile->functions.count - 1 : -1});
    sn_vector_release(&view.lines.functions);
    sn_call_graph_release(&graph);
}

/** Twice a profile is the sum of it and itself. */
static void check_addition(const sn_call_profile *profile) {
    char explanation[SN_CALLGRIND_EXPLANATION_SIZE];
    sn_call_profile sum = {.keeps_instructions = true};
    sum.lines.event_count = profile->lines.event_count;
    memcpy(sum.lines.events, profile->lines.events, sizeof sum.lines.events);
    bool fits = sn_call_profile_add(&sum, profile, explanation, sizeof explanation);
    if (fits && sn_call_profile_add(&sum, profile, explanation, sizeof explanation)) {
        for (unsigned event = 0; event < profile->lines.event_count; event++) {
            require(sum.lines.totals[event] == 2 * profile->lines.totals[event]);
        }
        sn_profile_sort(&sum.lines);
        require(sum.functions.count == profile->functions.count && sum.arcs.count == profile->arcs.count);
        require(sum.lines.rows.count == profile->lines.rows.count);
        require(sum.instructions.count == profile->instructions.count);
        check_sums(&sum);
    }
    sn_call_profile_release(&sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char explanation[SN_CALLGRIND_EXPLANATION_SIZE] = "";
    sn_call_profile profile = {.keeps_instructions = true};
    sn_callgrind_recognises((const char *)bytes, size);
    if (size == 0) { /* no stream can be made of it; sonde report tells it before it is read */
        refused++;
        return 0;
    }
    FILE *stream = fmemopen((void *)(uintptr_t)bytes, size, "r");
    if (sn_callgrind_parse(&profile, stream, explanation)) {
        accepted++;
        sn_profile_sort(&profile.lines);
        check_sums(&profile);
        check_sites(&profile);
        check_graph(&profile, true);
        check_graph(&profile, false);
        check_views(&profile, true);
        check_views(&profile, false);
        check_addition(&profile);
    } else {
        refused++;
        require(explanation[0] != '\0' && strchr(explanation, '\n') == NULL);
    }
    fclose(stream);
    sn_call_profile_release(&profile);
    return 0;
}

#ifndef SN_LIBFUZZER

#include "texts.h"

/** Positions and costs of a line. */
static void add_costs(text *to, bool has_instructions, unsigned events, int64_t *totals) {
    if (has_instructions) {
        add(to, below(3) ? "+%u " : "0x%x ", (unsigned)below(99));
    }
    add(to, below(4) == 0 ? "*" : below(2) ? "+%u" : "%u", (unsigned)below(40));
    for (uint64_t event = 0, given = below(events + 1); event < given; event++) {
        int64_t cost = (int64_t)below(1000);
        add(to, " %lld", (long long)cost);
        if (totals != NULL) {
            totals[event] += cost;
        }
    }
    add(to, "\n");
}

/** Names with a number always define it, so that any part of the file stands alone. */
static void add_name(text *to, const char *key) {
    static const char *const names[] = {"???", "main", "a b", "/x/y.c", "operator<(int)", "(below main)", "f'2"};
    unsigned name = (unsigned)below(sizeof names / sizeof *names);
    if (below(2)) {
        add(to, "%s=%s\n", key, names[name]);
    } else {
        add(to, "%s=(%u) %s\n", key, name, names[name]);
    }
}

static void add_rows(text *to, bool has_instructions, unsigned events, int64_t *totals) {
    static const char *const keys[] = {"fl", "fi", "fe", "ob", "fn", "jfi", "jfn"};
    add_name(to, "fn");
    for (uint64_t rows = below(20); rows > 0 && to->size < MOST_SIZE - 1000; rows--) {
        switch (below(5)) {
        case 0:
            add_name(to, keys[below(sizeof keys / sizeof *keys)]);
            break;
        case 1:
            if (below(2)) {
                add_name(to, below(2) ? "cob" : "cfi");
            }
            add_name(to, "cfn");
            add(to, has_instructions ? "calls=%u 0x40 7\n" : "calls=%u 7\n", (unsigned)below(9));
            add_costs(to, has_instructions, events, NULL);
            break;
        case 2:
            add(to, below(2) ? "jcnd=%u/9 " : "jump=%u ", (unsigned)below(9));
            add(to, has_instructions ? "+4 *\n" : "*\n");
            add(to, has_instructions ? "* *\n" : "*\n");
            break;
        default:
            add_costs(to, has_instructions, events, totals);
        }
    }
}

static void add_part(text *to, unsigned events, unsigned part) {
    int64_t totals[8] = {0};
    bool has_instructions = below(2);
    add(to, "version: 1\ncreator: fuzz\npid: 1\ncmd: ./a\npart: %u\ndesc: Trigger: x\n", part);
    add(to, has_instructions ? "positions: instr line\n" : "positions: line\n");
    if (below(3) == 0 && part == 1) {
        add(to, "event: Sum = E0 + %uE0 : A sum\nevent: E0 : The first\n", (unsigned)below(9));
    }
    add(to, "events:");
    for (unsigned event = 0; event < events; event++) {
        add(to, " E%u", event);
    }
    add(to, "\n\n");
    add_rows(to, has_instructions, events, totals);
    add(to, below(8) ? "totals:" : "summary:");
    for (unsigned event = 0; event < events; event++) {
        add(to, " %lld", (long long)totals[event]);
    }
    add(to, below(4) ? "\n\n" : "\n");
}

/** A profile that is in order, of a shape that the seed decides. */
static void make_good(text *to) {
    unsigned events = 1 + (unsigned)below(8), parts = 1 + (unsigned)below(3);
    memset(to, 0, sizeof *to);
    add(to, below(2) ? "# callgrind format\n" : "\n");
    for (unsigned part = 1; part <= parts && to->size < MOST_SIZE / 2; part++) {
        add_part(to, events, part);
    }
}

static const char *const pieces[] = {"fl=", "fn=(3)", "summary:", "events:", "calls=3 ", "cfn=", "\n", " ", "-", "+", "*",
                                     "18446744073709551616", "9223372036854775807", "4294967296", "0x", "jcnd=1",
                                     "event: ", "positions:", "(", "totals: 1\n"};

int main(int argument_count, char **arguments) {
    static const text_target target = {"fuzz_callgrind", make_good, pieces, sizeof pieces / sizeof *pieces};
    return run_texts(&target, argument_count, arguments);
}

#endif
