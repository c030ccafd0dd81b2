/**
 * @fileoverview One call-graph profile as text: totals, functions, trees, callers and callees. See callgrind.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/call_tree.h"
#include "report/text_form.h"

static double share_of(const sn_call_view *view, double cost) {
    double total = (double)sn_call_view_total(view);
    return total == 0 ? 0 : 100 * cost / total;
}

/** Counts of calls in 9 columns: those that are longer with a unit. */
static void print_count(uint64_t count) {
    static const char units[] = " kMGTPE";
    char text[SN_NUMBER_SIZE];
    unsigned unit = 0;
    double scaled = (double)count;
    if (count < 10000000) {
        printf(" %9s", sn_form_number((int64_t)count, text));
        return;
    }
    for (; scaled >= 999.5 && units[unit + 1] != '\0'; unit++) {
        scaled /= 1000;
    }
    printf(" %7.1f %c", scaled, units[unit]);
}

/** `name (file)` in what is left of the line behind `used` columns. */
static void print_name(const sn_call_view *view, sn_call_node node, unsigned used) {
    char name[1200], text[1600];
    const char *shown = sn_call_graph_name(view->graph, node, name, sizeof name);
    if (!sn_call_graph_is_cycle(view->graph, node)) {
        const sn_call_function *function = &view->profile->functions.items[node];
        bool has_file = strcmp(function->file, "???") != 0;
        snprintf(text, sizeof text, "%.1100s (%.300s)", name, sn_form_base_name(has_file ? function->file : function->object));
        shown = text;
    }
    sn_form_print(shown, SN_REPORT_WIDTH - used, SN_FORM_CUT_END);
}

/* ---------------------------------------------------------------------- the flat list */

enum { FLAT_WIDTH = 1 + 13 + 7 + 7 + 10 + 2 };

static void print_flat_row(const sn_call_view *view, sn_call_node node) {
    char number[SN_NUMBER_SIZE];
    int64_t self = sn_call_view_self(view, node), inclusive = sn_call_view_inclusive(view, node);
    double share = share_of(view, (double)(view->is_by_inclusive ? inclusive : self));
    putchar(sn_form_begin_line(share));
    printf("%13s ", sn_form_number(view->is_by_inclusive ? inclusive : self, number));
    sn_form_print_share(share_of(view, (double)self), self == 0);
    putchar(' ');
    sn_form_print_share(share_of(view, (double)inclusive), inclusive == 0);
    uint64_t called;
    print_count(__builtin_add_overflow(view->graph->called[node], view->graph->recursions[node], &called) ? UINT64_MAX : called);
    printf("  ");
    print_name(view, node, FLAT_WIDTH);
    sn_form_end_line(share);
}

static void print_flat(const sn_call_view *view) {
    printf("\n%14.13s %6s %6s %9s  Function\n", view->lines.columns.sort.title, "self", "incl", "calls");
    for (size_t i = 0; i < view->order_count && i < view->lines.function_limit; i++) {
        print_flat_row(view, view->order[i]);
    }
    if (view->order_count > view->lines.function_limit) {
        printf("  (%zu more; --functions=N lists more)\n", view->order_count - view->lines.function_limit);
    }
}

/* ---------------------------------------------------------------------------- trees */

enum { TREE_WIDTH = 1 + 13 + 7 + 10 + 2, MOST_INDENT = 24 };

static void print_tree_row(const sn_call_view *view, const sn_call_tree_row *row) {
    char number[SN_NUMBER_SIZE];
    double share = share_of(view, row->cost);
    unsigned used = TREE_WIDTH, indent = row->depth < MOST_INDENT ? row->depth : MOST_INDENT;
    putchar(sn_form_begin_line(share));
    printf("%13s ", sn_form_number((int64_t)(row->cost + 0.5), number));
    sn_form_print_share(share, row->cost == 0);
    if (row->calls >= 0.5) { /* shared out along several paths, it may be less than one */
        print_count((uint64_t)(row->calls + 0.5));
    } else {
        printf(" %9s", "");
    }
    used += (unsigned)printf("  %*s", (int)indent, "") - 2;
    if (row->depth > MOST_INDENT) {
        used += (unsigned)printf("[%u] ", row->depth);
    }
    if (row->is_repeated) {
        used += (unsigned)printf("(again) ");
    }
    print_name(view, row->node, used);
    sn_form_end_line(share);
}

static void print_tree(const sn_call_view *view) {
    sn_call_tree tree = sn_call_tree_make(view);
    bool is_bottom_up = view->tree == SN_CALL_TREE_BOTTOM_UP;
    printf("\n%14.13s %6s %9s  %s\n", view->lines.columns.sort.title, "", "calls",
           is_bottom_up ? "Bottom-up: below each function its callers"
                        : "Top-down: below each function what it calls");
    for (size_t i = 0; i < tree.rows.count; i++) {
        print_tree_row(view, &tree.rows.items[i]);
    }
    if (tree.rows.count == 0) {
        printf("  (nothing has a share of %g %%; --threshold=0 shows all)\n", view->threshold);
    }
    if (tree.is_cut) {
        printf("  (cut behind %zu lines)\n", tree.rows.count);
    }
    sn_call_tree_release(&tree);
}

/* ---------------------------------------------------------------- callers and callees */

/** One line about the other end of an arc. */
typedef struct neighbour {
    uint32_t function;
    uint64_t calls;
    int64_t cost;
    bool is_internal;
} neighbour;

static int by_cost(const void *left, const void *right) {
    const neighbour *a = left, *b = right;
    return a->cost != b->cost ? (a->cost < b->cost ? 1 : -1) : (a->function > b->function) - (a->function < b->function);
}

static void print_neighbours(const sn_call_view *view, uint32_t function, bool is_callers) {
    const sn_call_graph *graph = view->graph;
    const uint32_t *first = is_callers ? graph->first_in : graph->first_out;
    const uint32_t *arcs = is_callers ? graph->in_arcs : graph->out_arcs;
    SN_VECTOR(neighbour) found = {0};
    for (uint32_t i = first[function]; i < first[function + 1]; i++) {
        const sn_call_arc *arc = &view->profile->arcs.items[arcs[i]];
        *sn_vector_add(&found) = (neighbour){
            .function = is_callers ? arc->caller : arc->callee,
            .calls = arc->calls,
            .cost = sn_column_value(&view->lines.columns.sort, sn_call_profile_arc_costs(view->profile, arcs[i])),
            .is_internal = sn_call_graph_is_internal(graph, arcs[i]),
        };
    }
    if (found.count > 0) {
        qsort(found.items, found.count, sizeof *found.items, by_cost);
    }
    printf("\n%14.13s %6s %9s  %s\n", view->lines.columns.sort.title, "", "calls", is_callers ? "Callers" : "Callees");
    for (size_t i = 0; i < found.count; i++) {
        const neighbour *row = &found.items[i];
        char number[SN_NUMBER_SIZE];
        unsigned used = TREE_WIDTH;
        printf(" %13s ", sn_form_number(row->cost, number));
        sn_form_print_share(share_of(view, (double)row->cost), row->cost == 0);
        print_count(row->calls);
        printf("  ");
        if (row->is_internal) {
            used += (unsigned)printf(row->function == function ? "(itself) " : "(cycle) ");
        }
        print_name(view, row->function, used);
        putchar('\n');
    }
    if (found.count == 0) {
        printf("  (none)\n");
    }
    sn_vector_release(&found);
}

static void print_own_cost(const sn_call_view *view, const char *what, int64_t cost) {
    char number[SN_NUMBER_SIZE];
    printf("  %-10s %20s  %6.2f %%\n", what, sn_form_number(cost, number), share_of(view, (double)cost));
}

static void print_function(const sn_call_view *view, uint32_t number) {
    const sn_call_function *function = &view->profile->functions.items[number];
    const sn_call_graph *graph = view->graph;
    char text[SN_NUMBER_SIZE], name[1200];
    printf("\nFunction: ");
    sn_form_print(function->name, SN_REPORT_WIDTH - 10, SN_FORM_CUT_END);
    printf("\n  file: ");
    sn_form_print(function->file, SN_REPORT_WIDTH - 8, SN_FORM_CUT_BEGINNING);
    printf("\n  object: ");
    sn_form_print(function->object, SN_REPORT_WIDTH - 10, SN_FORM_CUT_BEGINNING);
    putchar('\n');
    if (graph->cycle_of[number] != number) {
        printf("  in: ");
        sn_form_print(sn_call_graph_name(graph, graph->cycle_of[number], name, sizeof name), SN_REPORT_WIDTH - 6,
                      SN_FORM_CUT_END);
        putchar('\n');
    }
    print_own_cost(view, "self", sn_call_view_self(view, number));
    print_own_cost(view, "inclusive", sn_call_view_inclusive(view, number));
    printf("  %-10s %20s\n", "calls", sn_form_number((int64_t)graph->called[number], text));
    if (graph->recursions[number] > 0) {
        printf("  %-10s %20s\n", "recursive", sn_form_number((int64_t)graph->recursions[number], text));
    }
    print_neighbours(view, number, true);
    print_neighbours(view, number, false);
}

void sn_call_print_text(const sn_call_view *view) {
    sn_profile_print_head(&view->lines);
    if (view->tree != SN_CALL_TREE_NONE) {
        print_tree(view);
        return;
    }
    for (size_t i = 0; i < view->chosen.count; i++) {
        print_function(view, view->chosen.items[i]);
    }
    if (view->chosen.count == 0 && view->lines.function_limit > 0) {
        print_flat(view);
        if (view->lines.annotates) {
            sn_profile_annotate(&view->lines);
        }
    }
}
