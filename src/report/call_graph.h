/**
 * @fileoverview What follows from a call-graph profile as a whole: cycles, inclusive costs, who calls whom.
 *
 * A cycle is a strongly connected component of two or more functions: each calls each other, directly or not, and what is
 * inclusive of one cannot be told from what is inclusive of another. So a cycle is a node of its own: its inclusive cost is
 * what its members cost themselves and what their calls to others cost, each counted once; of a member it is its own part of
 * that. A function that calls itself directly is no cycle: those calls are left out of its inclusive cost, which is exact all
 * the same. Without cycles (--cycles=no) calls between members count as others do, so that the inclusive costs of mutually
 * recursive functions are counted several times, as callgrind_annotate does.
 *
 * Made once for a complete profile, read by all of call_*.c and by the page.
 */
#ifndef SONDE_REPORT_CALL_GRAPH_H
#define SONDE_REPORT_CALL_GRAPH_H

#include "report/call_profile.h"

/** A function (its position in the profile), or a cycle: the first has the number behind those of the functions. */
typedef uint32_t sn_call_node;

typedef struct sn_call_cycle {
    uint32_t first, count; /**< of `members` */
} sn_call_cycle;

typedef struct sn_call_graph {
    const sn_call_profile *profile;
    uint32_t function_count, node_count;
    SN_VECTOR(sn_call_cycle) cycles;
    SN_VECTOR(uint32_t) members; /**< functions */
    sn_call_node *cycle_of;      /**< of functions: node of the cycle; the function itself if it is in none */
    uint32_t *out_arcs, *in_arcs;           /**< arcs by caller and by callee */
    uint32_t *first_out, *first_in;         /**< of functions, and one more: where theirs begin */
    int64_t *inclusive, *incoming;          /**< of nodes, an event each; incoming: by calls from outside */
    uint64_t *called, *recursions;          /**< of nodes: times from outside, and from itself or in the cycle */
} sn_call_graph;

/** Whether both ends are one function, or in one cycle. */
bool sn_call_graph_is_internal(const sn_call_graph *graph, uint32_t arc);

static inline bool sn_call_graph_is_cycle(const sn_call_graph *graph, sn_call_node node) {
    return node >= graph->function_count;
}

static inline const sn_call_cycle *sn_call_graph_cycle(const sn_call_graph *graph, sn_call_node node) {
    return &graph->cycles.items[node - graph->function_count];
}

static inline const int64_t *sn_call_graph_inclusive(const sn_call_graph *graph, sn_call_node node) {
    return graph->inclusive + (size_t)node * graph->profile->lines.event_count;
}

static inline const int64_t *sn_call_graph_incoming(const sn_call_graph *graph, sn_call_node node) {
    return graph->incoming + (size_t)node * graph->profile->lines.event_count;
}

/** The profile must not change as long as the graph is used. */
sn_call_graph sn_call_graph_make(const sn_call_profile *profile, bool finds_cycles);
void sn_call_graph_release(sn_call_graph *graph);

/** The name of a function, or "<cycle 1> (first, second, ...)", in buffer[0..size). Returns it. */
const char *sn_call_graph_name(const sn_call_graph *graph, sn_call_node node, char *buffer, size_t size);

#endif
