/**
 * @fileoverview The numbers of a call-graph profile that the options ask for. See callgrind.h; used by all that print.
 */
#include "report/callgrind.h"

int64_t sn_call_view_self(const sn_call_view *view, sn_call_node node) {
    const sn_call_graph *graph = view->graph;
    if (!sn_call_graph_is_cycle(graph, node)) {
        return sn_column_value(&view->lines.columns.sort, sn_call_profile_self(view->profile, node));
    }
    const sn_call_cycle *cycle = sn_call_graph_cycle(graph, node);
    uint64_t sum = 0;
    for (uint32_t i = cycle->first; i < cycle->first + cycle->count; i++) {
        sum += (uint64_t)sn_call_view_self(view, graph->members.items[i]);
    }
    return (int64_t)sum;
}

int64_t sn_call_view_inclusive(const sn_call_view *view, sn_call_node node) {
    return sn_column_value(&view->lines.columns.sort, sn_call_graph_inclusive(view->graph, node));
}

int64_t sn_call_view_total(const sn_call_view *view) {
    return sn_column_value(&view->lines.columns.sort, view->profile->lines.totals);
}
