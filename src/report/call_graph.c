/**
 * @fileoverview Cycles, inclusive costs and the arcs of each function. See call_graph.h.
 */
#include "report/call_graph.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    if (memory == NULL) {
        sn_fail(SN_STATUS_ENGINE, "out of memory");
    }
    return memory;
}

/** Sums of costs that do not fit stay at the largest number: inclusive costs may count much several times. */
static void add_to(int64_t *sums, const int64_t *costs, unsigned event_count) {
    for (unsigned i = 0; i < event_count; i++) {
        if (__builtin_add_overflow(sums[i], costs[i], &sums[i])) {
            sums[i] = INT64_MAX;
        }
    }
}

bool sn_call_graph_is_internal(const sn_call_graph *graph, uint32_t arc) {
    const sn_call_arc *ends = &graph->profile->arcs.items[arc];
    return graph->cycle_of[ends->caller] == graph->cycle_of[ends->callee];
}

/** Lists of arcs by one of their ends, by counting. */
static void list_arcs(const sn_call_graph *graph, uint32_t *first, uint32_t *list, bool is_by_callee) {
    const sn_call_profile *profile = graph->profile;
    for (size_t i = 0; i < profile->arcs.count; i++) {
        const sn_call_arc *arc = &profile->arcs.items[i];
        first[(is_by_callee ? arc->callee : arc->caller) + 1]++;
    }
    for (uint32_t i = 0; i < graph->function_count; i++) {
        first[i + 1] += first[i];
    }
    uint32_t *next = allocate(graph->function_count, sizeof *next);
    for (size_t i = 0; i < profile->arcs.count; i++) {
        const sn_call_arc *arc = &profile->arcs.items[i];
        uint32_t end = is_by_callee ? arc->callee : arc->caller;
        list[first[end] + next[end]++] = (uint32_t)i;
    }
    free(next);
}

/* ---------------------------------------------------------------------------- cycles */

/** Tarjan's search for strongly connected components, with a stack of its own: calls may be a million deep. */
typedef struct search {
    sn_call_graph *graph;
    uint32_t *order, *lowest;       /**< of functions; order 0: not yet seen */
    bool *is_open;
    uint32_t *next_arc;             /**< of functions: which of its arcs is followed next */
    SN_VECTOR(uint32_t) path, open;
    uint32_t seen;
} search;

static void enter(search *search, uint32_t function) {
    search->order[function] = search->lowest[function] = ++search->seen;
    search->is_open[function] = true;
    search->next_arc[function] = search->graph->first_out[function];
    *sn_vector_add(&search->path) = function;
    *sn_vector_add(&search->open) = function;
}

/** All functions that were opened since `root` are one component. */
static void close_component(search *search, uint32_t root) {
    sn_call_graph *graph = search->graph;
    uint32_t begin = (uint32_t)search->open.count, first = (uint32_t)graph->members.count;
    do {
        begin--;
        search->is_open[search->open.items[begin]] = false;
    } while (search->open.items[begin] != root);
    uint32_t count = (uint32_t)search->open.count - begin;
    if (count > 1) {
        sn_call_node node = graph->function_count + (uint32_t)graph->cycles.count;
        *sn_vector_add(&graph->cycles) = (sn_call_cycle){.first = first, .count = count};
        for (uint32_t i = begin; i < search->open.count; i++) {
            graph->cycle_of[search->open.items[i]] = node;
            *sn_vector_add(&graph->members) = search->open.items[i];
        }
    }
    search->open.count = begin;
}

/** Follow one arc of the function at the end of the path, or leave it. */
static void step(search *search) {
    const sn_call_graph *graph = search->graph;
    uint32_t function = search->path.items[search->path.count - 1];
    uint32_t *lowest = search->lowest;
    if (search->next_arc[function] < graph->first_out[function + 1]) {
        uint32_t callee = graph->profile->arcs.items[graph->out_arcs[search->next_arc[function]++]].callee;
        if (search->order[callee] == 0) {
            enter(search, callee);
        } else if (search->is_open[callee] && search->order[callee] < lowest[function]) {
            lowest[function] = search->order[callee];
        }
        return;
    }
    search->path.count--;
    if (search->path.count > 0) {
        uint32_t caller = search->path.items[search->path.count - 1];
        lowest[caller] = lowest[function] < lowest[caller] ? lowest[function] : lowest[caller];
    }
    if (lowest[function] == search->order[function]) {
        close_component(search, function);
    }
}

static void find_cycles(sn_call_graph *graph) {
    search search = {
        .graph = graph,
        .order = allocate(graph->function_count, sizeof *search.order),
        .lowest = allocate(graph->function_count, sizeof *search.lowest),
        .is_open = allocate(graph->function_count, sizeof *search.is_open),
        .next_arc = allocate(graph->function_count, sizeof *search.next_arc),
    };
    for (uint32_t i = 0; i < graph->function_count; i++) {
        if (search.order[i] == 0) {
            enter(&search, i);
        }
        while (search.path.count > 0) {
            step(&search);
        }
    }
    free(search.order);
    free(search.lowest);
    free(search.is_open);
    free(search.next_arc);
    sn_vector_release(&search.path);
    sn_vector_release(&search.open);
}

/* ------------------------------------------------------------------- inclusive costs */

static void add_arc(sn_call_graph *graph, uint32_t number) {
    unsigned event_count = graph->profile->lines.event_count;
    const sn_call_arc *arc = &graph->profile->arcs.items[number];
    const int64_t *costs = sn_call_profile_arc_costs(graph->profile, number);
    sn_call_node ends[] = {arc->callee, graph->cycle_of[arc->callee]};
    bool is_internal = sn_call_graph_is_internal(graph, number);
    for (unsigned i = 0; i < (ends[0] == ends[1] ? 1 : 2); i++) {
        uint64_t *count = is_internal ? &graph->recursions[ends[i]] : &graph->called[ends[i]];
        if (__builtin_add_overflow(*count, arc->calls, count)) {
            *count = UINT64_MAX;
        }
        if (!is_internal) {
            add_to(graph->incoming + (size_t)ends[i] * event_count, costs, event_count);
        }
    }
    if (!is_internal) {
        add_to(graph->inclusive + (size_t)arc->caller * event_count, costs, event_count);
    }
}

/** What its callers say a node cost may be more than what is known of its parts, when a dump cut a call in two, and less,
    when the program entered it without a call: the larger of both is what is known. */
static void take_larger(sn_call_graph *graph, sn_call_node node) {
    unsigned event_count = graph->profile->lines.event_count;
    for (unsigned i = 0; i < event_count; i++) {
        int64_t *inclusive = &graph->inclusive[(size_t)node * event_count + i];
        int64_t incoming = graph->incoming[(size_t)node * event_count + i];
        *inclusive = incoming > *inclusive ? incoming : *inclusive;
    }
}

static void sum_inclusive(sn_call_graph *graph) {
    unsigned event_count = graph->profile->lines.event_count;
    for (uint32_t i = 0; i < graph->function_count; i++) {
        add_to(graph->inclusive + (size_t)i * event_count, sn_call_profile_self(graph->profile, i), event_count);
    }
    for (uint32_t i = 0; i < graph->profile->arcs.count; i++) {
        add_arc(graph, i);
    }
    for (uint32_t i = 0; i < graph->function_count; i++) {
        if (graph->cycle_of[i] == i) {
            take_larger(graph, i);
        } else {
            add_to(graph->inclusive + (size_t)graph->cycle_of[i] * event_count, sn_call_graph_inclusive(graph, i), event_count);
        }
    }
    for (sn_call_node i = graph->function_count; i < graph->node_count; i++) {
        take_larger(graph, i);
    }
}

static int by_inclusive(const void *left, const void *right, void *graph) {
    int64_t a = *sn_call_graph_inclusive(graph, *(const uint32_t *)left);
    int64_t b = *sn_call_graph_inclusive(graph, *(const uint32_t *)right);
    return a != b ? (a < b ? 1 : -1) : (*(const uint32_t *)left > *(const uint32_t *)right ? 1 : -1);
}

/** The heaviest first: a cycle is named by them. */
static void sort_members(sn_call_graph *graph) {
    for (size_t i = 0; i < graph->cycles.count; i++) {
        const sn_call_cycle *cycle = &graph->cycles.items[i];
        qsort_r(graph->members.items + cycle->first, cycle->count, sizeof *graph->members.items, by_inclusive, graph);
    }
}

sn_call_graph sn_call_graph_make(const sn_call_profile *profile, bool finds_cycles) {
    sn_call_graph graph = {.profile = profile, .function_count = (uint32_t)profile->functions.count};
    graph.first_out = allocate(graph.function_count, sizeof *graph.first_out);
    graph.first_in = allocate(graph.function_count, sizeof *graph.first_in);
    graph.out_arcs = allocate(profile->arcs.count, sizeof *graph.out_arcs);
    graph.in_arcs = allocate(profile->arcs.count, sizeof *graph.in_arcs);
    graph.cycle_of = allocate(graph.function_count, sizeof *graph.cycle_of);
    list_arcs(&graph, graph.first_out, graph.out_arcs, false);
    list_arcs(&graph, graph.first_in, graph.in_arcs, true);
    for (uint32_t i = 0; i < graph.function_count; i++) {
        graph.cycle_of[i] = i;
    }
    if (finds_cycles) {
        find_cycles(&graph);
    }
    graph.node_count = graph.function_count + (uint32_t)graph.cycles.count;
    size_t event_count = profile->lines.event_count;
    graph.inclusive = allocate(graph.node_count * event_count, sizeof *graph.inclusive);
    graph.incoming = allocate(graph.node_count * event_count, sizeof *graph.incoming);
    graph.called = allocate(graph.node_count, sizeof *graph.called);
    graph.recursions = allocate(graph.node_count, sizeof *graph.recursions);
    sum_inclusive(&graph);
    sort_members(&graph);
    return graph;
}

void sn_call_graph_release(sn_call_graph *graph) {
    void *const arrays[] = {graph->first_out, graph->first_in,  graph->out_arcs, graph->in_arcs,   graph->cycle_of,
                            graph->inclusive, graph->incoming, graph->called,   graph->recursions};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        free(arrays[i]);
    }
    sn_vector_release(&graph->cycles);
    sn_vector_release(&graph->members);
    *graph = (sn_call_graph){0};
}

const char *sn_call_graph_name(const sn_call_graph *graph, sn_call_node node, char *buffer, size_t size) {
    if (!sn_call_graph_is_cycle(graph, node)) {
        snprintf(buffer, size, "%s", graph->profile->functions.items[node].name);
        return buffer;
    }
    const sn_call_cycle *cycle = sn_call_graph_cycle(graph, node);
    size_t used = (size_t)snprintf(buffer, size, "<cycle %u>", node - graph->function_count + 1);
    for (uint32_t i = 0; i < cycle->count && used < size; i++) {
        const char *name = graph->profile->functions.items[graph->members.items[cycle->first + i]].name;
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", i == 0 ? " (" : ", ", name);
    }
    if (used < size) {
        snprintf(buffer + used, size - used, ")");
    }
    return buffer;
}
