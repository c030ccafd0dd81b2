/**
 * @fileoverview Growing call trees. See call_tree.h.
 */
#include "report/call_tree.h"

#include <stdlib.h>

enum { MOST_ROWS = 200000 };

typedef struct growth {
    const sn_call_view *view;
    sn_call_tree tree;
    double least;                       /**< cost of what is shown */
    SN_VECTOR(sn_call_tree_row) found;  /**< children that are yet to be shown, those of deeper nodes behind */
    SN_VECTOR(sn_call_node) path;
} growth;

static double value(const growth *growth, const int64_t *costs) {
    return (double)sn_column_value(&growth->view->lines.columns.sort, costs);
}

static void add_child(growth *growth, sn_call_node node, double cost, double calls) {
    if (cost > 0) {
        *sn_vector_add(&growth->found) = (sn_call_tree_row){.node = node, .cost = cost, .calls = calls};
    }
}

/** Arcs of a function: `share` of each goes to what is at its other end. */
static void add_arcs(growth *growth, uint32_t function, double share, bool is_bottom_up) {
    const sn_call_graph *graph = growth->view->graph;
    const uint32_t *first = is_bottom_up ? graph->first_in : graph->first_out;
    const uint32_t *arcs = is_bottom_up ? graph->in_arcs : graph->out_arcs;
    for (uint32_t i = first[function]; i < first[function + 1]; i++) {
        const sn_call_arc *arc = &graph->profile->arcs.items[arcs[i]];
        if (!sn_call_graph_is_internal(graph, arcs[i])) {
            add_child(growth, is_bottom_up ? arc->caller : graph->cycle_of[arc->callee],
                      share * value(growth, sn_call_profile_arc_costs(graph->profile, arcs[i])), share * (double)arc->calls);
        }
    }
}

static void find_callees(growth *growth, sn_call_node node, double share) {
    const sn_call_graph *graph = growth->view->graph;
    if (!sn_call_graph_is_cycle(graph, node)) {
        add_arcs(growth, node, share, false);
        return;
    }
    const sn_call_cycle *cycle = sn_call_graph_cycle(graph, node);
    for (uint32_t i = cycle->first; i < cycle->first + cycle->count; i++) {
        uint32_t member = graph->members.items[i];
        add_child(growth, member, share * value(growth, sn_call_graph_inclusive(graph, member)), 0);
    }
}

/** A cycle's member is reached by way of the cycle. */
static void find_callers(growth *growth, sn_call_node node, double cost, double share) {
    const sn_call_graph *graph = growth->view->graph;
    if (!sn_call_graph_is_cycle(graph, node)) {
        if (graph->cycle_of[node] != node) {
            add_child(growth, graph->cycle_of[node], cost, 0);
        } else {
            add_arcs(growth, node, share, true);
        }
        return;
    }
    const sn_call_cycle *cycle = sn_call_graph_cycle(graph, node);
    for (uint32_t i = cycle->first; i < cycle->first + cycle->count; i++) {
        add_arcs(growth, graph->members.items[i], share, true);
    }
}

static int by_node(const void *left, const void *right) {
    const sn_call_tree_row *a = left, *b = right;
    return (a->node > b->node) - (a->node < b->node);
}

static int by_cost(const void *left, const void *right) {
    const sn_call_tree_row *a = left, *b = right;
    return a->cost != b->cost ? (a->cost < b->cost ? 1 : -1) : by_node(left, right);
}

/** One child a node, the largest first, without those that are too small. */
static void arrange(growth *growth, size_t first) {
    sn_call_tree_row *rows = growth->found.items + first;
    size_t count = growth->found.count - first, kept = 0, large = 0;
    if (count == 0) {
        return;
    }
    qsort(rows, count, sizeof *rows, by_node);
    for (size_t i = 1; i < count; i++) {
        if (rows[i].node == rows[kept].node) {
            rows[kept].cost += rows[i].cost;
            rows[kept].calls += rows[i].calls;
        } else {
            rows[++kept] = rows[i];
        }
    }
    qsort(rows, kept + 1, sizeof *rows, by_cost);
    while (large <= kept && rows[large].cost >= growth->least) {
        large++;
    }
    growth->found.count = first + large;
}

static bool is_on_path(const growth *growth, sn_call_node node) {
    for (size_t i = 0; i < growth->path.count; i++) {
        if (growth->path.items[i] == node) {
            return true;
        }
    }
    return false;
}

static void grow(growth *growth, sn_call_tree_row row);

static void grow_below(growth *growth, const sn_call_tree_row *row) {
    double inclusive = value(growth, sn_call_graph_inclusive(growth->view->graph, row->node));
    double share = inclusive <= 0 ? 0 : row->cost < inclusive ? row->cost / inclusive : 1;
    size_t first = growth->found.count;
    if (growth->view->tree == SN_CALL_TREE_BOTTOM_UP) {
        find_callers(growth, row->node, row->cost, share);
    } else {
        find_callees(growth, row->node, share);
    }
    arrange(growth, first);
    *sn_vector_add(&growth->path) = row->node;
    for (size_t i = first; i < growth->found.count; i++) {
        sn_call_tree_row child = growth->found.items[i];
        child.depth = row->depth + 1;
        grow(growth, child);
    }
    growth->path.count--;
    growth->found.count = first;
}

static void grow(growth *growth, sn_call_tree_row row) {
    row.is_repeated = is_on_path(growth, row.node);
    if (growth->tree.rows.count == MOST_ROWS) {
        growth->tree.is_cut = true;
        return;
    }
    *sn_vector_add(&growth->tree.rows) = row;
    if (!row.is_repeated && row.depth + 1 < growth->view->depth) {
        grow_below(growth, &row);
    }
}

/** Where the program begins: nodes that cost more than their callers say. Bottom-up: functions by what they cost. */
static void find_roots(growth *growth) {
    const sn_call_graph *graph = growth->view->graph;
    if (growth->view->tree == SN_CALL_TREE_BOTTOM_UP) {
        for (uint32_t i = 0; i < graph->function_count; i++) {
            add_child(growth, i, value(growth, sn_call_profile_self(graph->profile, i)), (double)graph->called[i]);
        }
        return;
    }
    for (sn_call_node i = 0; i < graph->node_count; i++) {
        if (i >= graph->function_count || graph->cycle_of[i] == i) {
            add_child(growth, i, value(growth, sn_call_graph_inclusive(graph, i)) - value(growth, sn_call_graph_incoming(graph, i)),
                      0);
        }
    }
}

/** Shares are of the total of the program, so small functions have trees of their own scale. */
static void find_chosen(growth *growth) {
    const sn_call_view *view = growth->view;
    double largest = 0;
    for (size_t i = 0; i < view->chosen.count; i++) {
        double cost = value(growth, view->tree == SN_CALL_TREE_BOTTOM_UP
                                        ? sn_call_profile_self(view->profile, view->chosen.items[i])
                                        : sn_call_graph_inclusive(view->graph, view->chosen.items[i]));
        add_child(growth, view->chosen.items[i], cost, (double)view->graph->called[view->chosen.items[i]]);
        largest = cost > largest ? cost : largest;
    }
    growth->least = largest * view->threshold / 100;
}

sn_call_tree sn_call_tree_make(const sn_call_view *view) {
    growth growth = {.view = view, .least = (double)sn_call_view_total(view) * view->threshold / 100};
    if (view->chosen.count > 0) {
        find_chosen(&growth);
    } else {
        find_roots(&growth);
    }
    arrange(&growth, 0);
    size_t root_count = growth.found.count;
    for (size_t i = 0; i < root_count; i++) {
        grow(&growth, growth.found.items[i]);
    }
    sn_vector_release(&growth.found);
    sn_vector_release(&growth.path);
    return growth.tree;
}

void sn_call_tree_release(sn_call_tree *tree) {
    sn_vector_release(&tree->rows);
}
