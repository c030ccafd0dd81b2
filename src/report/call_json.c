/**
 * @fileoverview One call-graph profile as JSON. See callgrind.h; docs/report.md describes the members.
 */
#include <stdio.h>
#include <stdlib.h>

#include "report/call_tree.h"
#include "sonde/json.h"

static void write_counts(sn_json *json, const char *name, const sn_call_view *view, const int64_t *counts) {
    sn_json_object(json, name);
    for (unsigned event = 0; event < view->profile->lines.event_count; event++) {
        sn_json_signed(json, view->profile->lines.events[event], counts[event]);
    }
    sn_json_close(json);
}

static void write_identity(sn_json *json, const sn_call_view *view, uint32_t function) {
    const sn_call_function *row = &view->profile->functions.items[function];
    sn_json_string(json, "function", row->name);
    sn_json_string(json, "file", row->file);
    sn_json_string(json, "object", row->object);
}

/** The calls of one arc, line by line; sites are in the order of their arcs. */
static void write_sites(sn_json *json, const sn_call_view *view, const uint32_t *sites, size_t count) {
    sn_json_array(json, "lines");
    for (size_t i = 0; i < count; i++) {
        const sn_call_site *site = &view->profile->sites.items[sites[i]];
        sn_json_object(json, NULL);
        sn_json_string(json, "file", site->file);
        sn_json_number(json, "line", site->line);
        sn_json_number(json, "calls", site->calls);
        write_counts(json, "inclusive", view, sn_call_profile_site_costs(view->profile, sites[i]));
        sn_json_close(json);
    }
    sn_json_close(json);
}

static int by_arc(const void *left, const void *right, void *profile) {
    const sn_call_site *sites = ((const sn_call_profile *)profile)->sites.items;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return sites[a].arc != sites[b].arc ? (sites[a].arc > sites[b].arc ? 1 : -1) : (a > b) - (a < b);
}

/** Numbers of the sites by arc, and where those of each arc begin. */
typedef struct site_list {
    SN_VECTOR(uint32_t) sites, first;
} site_list;

static site_list list_sites(const sn_call_profile *profile) {
    site_list list = {0};
    for (uint32_t i = 0; i < profile->sites.count; i++) {
        *sn_vector_add(&list.sites) = i;
    }
    if (list.sites.count > 0) {
        qsort_r(list.sites.items, list.sites.count, sizeof *list.sites.items, by_arc, (void *)(uintptr_t)profile);
    }
    uint32_t at = 0;
    for (uint32_t arc = 0; arc <= profile->arcs.count; arc++) {
        *sn_vector_add(&list.first) = at;
        while (at < list.sites.count && profile->sites.items[list.sites.items[at]].arc == arc) {
            at++;
        }
    }
    return list;
}

static void write_callees(sn_json *json, const sn_call_view *view, uint32_t function, const site_list *list) {
    const sn_call_graph *graph = view->graph;
    sn_json_array(json, "callees");
    for (uint32_t i = graph->first_out[function]; i < graph->first_out[function + 1]; i++) {
        uint32_t number = graph->out_arcs[i];
        const sn_call_arc *arc = &view->profile->arcs.items[number];
        sn_json_object(json, NULL);
        write_identity(json, view, arc->callee);
        sn_json_number(json, "calls", arc->calls);
        write_counts(json, "inclusive", view, sn_call_profile_arc_costs(view->profile, number));
        sn_json_boolean(json, "recursive", sn_call_graph_is_internal(graph, number));
        write_sites(json, view, list->sites.items + list->first.items[number],
                    list->first.items[number + 1] - list->first.items[number]);
        sn_json_close(json);
    }
    sn_json_close(json);
}

static void write_function(sn_json *json, const sn_call_view *view, uint32_t function, const site_list *list) {
    const sn_call_graph *graph = view->graph;
    sn_json_object(json, NULL);
    write_identity(json, view, function);
    write_counts(json, "self", view, sn_call_profile_self(view->profile, function));
    write_counts(json, "inclusive", view, sn_call_graph_inclusive(graph, function));
    sn_json_number(json, "calls", graph->called[function]);
    sn_json_number(json, "recursive_calls", graph->recursions[function]);
    if (graph->cycle_of[function] != function) {
        sn_json_number(json, "cycle", graph->cycle_of[function] - graph->function_count + 1);
    }
    write_callees(json, view, function, list);
    sn_json_close(json);
}

static void write_functions(sn_json *json, const sn_call_view *view) {
    site_list list = list_sites(view->profile);
    sn_json_array(json, "functions");
    for (size_t i = 0; i < view->chosen.count; i++) {
        write_function(json, view, view->chosen.items[i], &list);
    }
    for (size_t i = 0; i < view->order_count && view->chosen.count == 0; i++) {
        if (!sn_call_graph_is_cycle(view->graph, view->order[i])) {
            write_function(json, view, view->order[i], &list);
        }
    }
    sn_json_close(json);
    sn_vector_release(&list.sites);
    sn_vector_release(&list.first);
}

static void write_cycles(sn_json *json, const sn_call_view *view) {
    const sn_call_graph *graph = view->graph;
    sn_json_array(json, "cycles");
    for (sn_call_node node = graph->function_count; node < graph->node_count; node++) {
        const sn_call_cycle *cycle = sn_call_graph_cycle(graph, node);
        sn_json_object(json, NULL);
        sn_json_number(json, "cycle", node - graph->function_count + 1);
        write_counts(json, "inclusive", view, sn_call_graph_inclusive(graph, node));
        sn_json_number(json, "calls", graph->called[node]);
        sn_json_number(json, "recursive_calls", graph->recursions[node]);
        sn_json_array(json, "members");
        for (uint32_t i = cycle->first; i < cycle->first + cycle->count; i++) {
            sn_json_object(json, NULL);
            write_identity(json, view, graph->members.items[i]);
            sn_json_close(json);
        }
        sn_json_close(json);
        sn_json_close(json);
    }
    sn_json_close(json);
}

static void write_tree(sn_json *json, const sn_call_view *view) {
    sn_call_tree tree = sn_call_tree_make(view);
    sn_json_array(json, "tree");
    for (size_t i = 0; i < tree.rows.count; i++) {
        const sn_call_tree_row *row = &tree.rows.items[i];
        sn_json_object(json, NULL);
        sn_json_number(json, "depth", row->depth);
        if (sn_call_graph_is_cycle(view->graph, row->node)) {
            sn_json_number(json, "cycle", row->node - view->graph->function_count + 1);
        } else {
            write_identity(json, view, row->node);
        }
        sn_json_real(json, "cost", row->cost);
        sn_json_real(json, "calls", row->calls);
        sn_json_boolean(json, "repeated", row->is_repeated);
        sn_json_close(json);
    }
    sn_json_close(json);
    sn_call_tree_release(&tree);
}

/** Self costs by source line, all functions together: `lines` is sorted by file. */
static void write_sources(sn_json *json, const sn_call_view *view) {
    const sn_profile *lines = &view->profile->lines;
    sn_json_array(json, "lines");
    for (size_t i = 0; i < lines->rows.count; i++) {
        const sn_profile_row *row = &lines->rows.items[i];
        sn_json_object(json, NULL);
        sn_json_string(json, "file", row->file);
        sn_json_string(json, "function", row->function);
        sn_json_number(json, "line", row->line);
        write_counts(json, "self", view, sn_profile_counts(lines, i));
        sn_json_close(json);
    }
    sn_json_close(json);
}

static void write_jumps(sn_json *json, const sn_call_view *view) {
    sn_json_array(json, "jumps");
    for (size_t i = 0; i < view->profile->jumps.count; i++) {
        const sn_call_jumps *jumps = &view->profile->jumps.items[i];
        sn_json_object(json, NULL);
        sn_json_string(json, "function", view->profile->functions.items[jumps->function].name);
        sn_json_string(json, "file", jumps->file);
        sn_json_number(json, "line", jumps->line);
        sn_json_boolean(json, "conditional", jumps->is_conditional);
        sn_json_number(json, "executed", jumps->executed);
        sn_json_number(json, "taken", jumps->taken);
        sn_json_close(json);
    }
    sn_json_close(json);
}

void sn_call_print_json(const sn_call_view *view) {
    const sn_profile *lines = &view->profile->lines;
    sn_json json;
    sn_json_begin(&json, stdout);
    sn_json_object(&json, NULL);
    sn_json_string(&json, "kind", "callgrind");
    sn_json_strings(&json, "files", view->lines.files, view->lines.file_count);
    sn_json_string(&json, "creator", view->profile->creator);
    sn_json_string(&json, "command", lines->command);
    sn_json_strings(&json, "descriptions", lines->descriptions.items, lines->descriptions.count);
    sn_json_strings(&json, "events", lines->events, lines->event_count);
    sn_json_strings(&json, "meanings", lines->meanings, lines->event_count);
    write_counts(&json, "totals", view, lines->totals);
    if (view->tree != SN_CALL_TREE_NONE) {
        write_tree(&json, view);
    } else {
        write_functions(&json, view);
        write_cycles(&json, view);
    }
    if (view->tree == SN_CALL_TREE_NONE && view->chosen.count == 0) {
        write_sources(&json, view);
        write_jumps(&json, view);
    }
    sn_json_close(&json);
    sn_json_finish(&json);
}
