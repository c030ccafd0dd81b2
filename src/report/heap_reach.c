/**
 * @fileoverview What roots reach, and what of the rest leads to the rest: leak verdicts. See heap_graph.h.
 */
#include <stdlib.h>
#include <string.h>

#include "report/heap_graph.h"

const char *const sn_heapfile_verdict_names[] = {
    [SN_HEAPFILE_UNREACHABLE] = "unreachable", [SN_HEAPFILE_INDIRECT] = "reachable_through_unreachable",
    [SN_HEAPFILE_INTERIOR] = "interior_reachable", [SN_HEAPFILE_REACHABLE] = "still_reachable"};

const char *const sn_heapfile_verdict_meanings[] = {
    [SN_HEAPFILE_UNREACHABLE] = "unreachable", [SN_HEAPFILE_INDIRECT] = "reachable only through other unreachable blocks",
    [SN_HEAPFILE_INTERIOR] = "reachable only by pointers to the inside", [SN_HEAPFILE_REACHABLE] = "still reachable"};

/** Not yet decided. */
enum { UNKNOWN = SN_HEAPFILE_VERDICTS };

/* ----------------------------------------------------------------------- from the roots */

typedef struct walk {
    const sn_heapfile_graph *graph;
    sn_heapfile_reach *reach;
    SN_VECTOR(uint32_t) waiting;
} walk;

/** Give what an owner points to a verdict, if it has none. */
static void visit(walk *walk, uint32_t owner, sn_heapfile_verdict verdict) {
    const sn_heapfile_edges *edges = &walk->graph->of[owner];
    for (uint64_t i = edges->first; i < edges->first + edges->count; i++) {
        const sn_heapfile_edge *edge = &walk->graph->edges.items[i];
        if (walk->reach->verdicts[edge->target] == UNKNOWN &&
            (verdict != SN_HEAPFILE_REACHABLE || !sn_heapfile_edge_is_inside(edge))) {
            walk->reach->verdicts[edge->target] = (uint8_t)verdict;
            *sn_vector_add(&walk->waiting) = edge->target;
        }
    }
}

static void go_on(walk *walk, sn_heapfile_verdict verdict) {
    while (walk->waiting.count > 0)
        visit(walk, walk->waiting.items[--walk->waiting.count], verdict);
}

/** Pointers to starts first, then all, from all that was reached. */
static void walk_from_roots(walk *walk) {
    const sn_heapfile_graph *graph = walk->graph;
    for (uint32_t root = graph->block_count; root < graph->owner_count; root++)
        visit(walk, root, SN_HEAPFILE_REACHABLE);
    go_on(walk, SN_HEAPFILE_REACHABLE);
    for (uint32_t owner = 0; owner < graph->owner_count; owner++)
        if (owner >= graph->block_count || walk->reach->verdicts[owner] == SN_HEAPFILE_REACHABLE)
            visit(walk, owner, SN_HEAPFILE_INTERIOR);
    go_on(walk, SN_HEAPFILE_INTERIOR);
    for (uint32_t root = graph->block_count; root < graph->owner_count; root++)
        for (uint64_t i = 0; i < graph->of[root].count; i++)
            walk->reach->is_entry[graph->edges.items[graph->of[root].first + i].target] = true;
}

/* ------------------------------------------------------------------- what is unreachable */

/**
 * Strongly connected components of the unreachable blocks, by Tarjan's algorithm ("Depth-first search and linear graph
 * algorithms", 1972), with a stack of its own: chains of blocks are long.
 */
typedef struct components {
    const sn_heapfile_graph *graph;
    sn_heapfile_reach *reach;
    uint32_t *order;     /**< of each block: when it was found, from 1; 0: not yet */
    uint32_t *low;       /**< the earliest that is open and reached from it */
    uint32_t *component; /**< SN_HEAPFILE_NONE: open, or not yet */
    uint64_t *next;      /**< its next edge */
    SN_VECTOR(uint32_t) path, open;
    uint32_t found, component_count;
} components;

static void enter(components *state, uint32_t block) {
    state->order[block] = state->low[block] = ++state->found;
    *sn_vector_add(&state->path) = block;
    *sn_vector_add(&state->open) = block;
}

static bool is_of(const components *state, uint32_t block) {
    return state->reach->verdicts[block] == UNKNOWN;
}

static void close_component(components *state, uint32_t block) {
    uint32_t member;
    do {
        member = state->open.items[--state->open.count];
        state->component[member] = state->component_count;
    } while (member != block);
    state->component_count++;
}

static void leave(components *state, uint32_t block) {
    if (state->low[block] == state->order[block])
        close_component(state, block);
    state->path.count--;
    if (state->path.count > 0) {
        uint32_t before = state->path.items[state->path.count - 1];
        if (state->low[block] < state->low[before])
            state->low[before] = state->low[block];
    }
}

static void search_from(components *state, uint32_t first) {
    enter(state, first);
    while (state->path.count > 0) {
        uint32_t block = state->path.items[state->path.count - 1];
        const sn_heapfile_edges *edges = &state->graph->of[block];
        if (state->next[block] == edges->count) {
            leave(state, block);
            continue;
        }
        uint32_t target = state->graph->edges.items[edges->first + state->next[block]++].target;
        if (!is_of(state, target))
            continue;
        if (state->order[target] == 0)
            enter(state, target);
        else if (state->component[target] == SN_HEAPFILE_NONE && state->order[target] < state->low[block])
            state->low[block] = state->order[target];
    }
}

/** Components to which no other leads have no mark. */
static bool *mark_components(const components *state) {
    bool *is_led_to = sn_pages_allocate(state->component_count + 1);
    for (uint32_t block = 0; block < state->graph->block_count; block++) {
        const sn_heapfile_edges *edges = &state->graph->of[block];
        for (uint64_t i = edges->first; is_of(state, block) && i < edges->first + edges->count; i++) {
            uint32_t target = state->graph->edges.items[i].target;
            if (is_of(state, target) && state->component[target] != state->component[block])
                is_led_to[state->component[target]] = true;
        }
    }
    return is_led_to;
}

static void judge(components *state) {
    const sn_heapfile_block *blocks = state->graph->file->blocks.items;
    bool *is_led_to = mark_components(state);
    size_t bytes = (state->component_count + 1) * sizeof(uint32_t);
    uint32_t *leader = sn_pages_allocate(bytes);
    memset(leader, 0xff, bytes);
    for (uint32_t block = 0; block < state->graph->block_count; block++) {
        uint32_t *first = is_of(state, block) ? &leader[state->component[block]] : NULL;
        if (first != NULL && (*first == SN_HEAPFILE_NONE || blocks[block].address < blocks[*first].address))
            *first = block;
    }
    for (uint32_t block = 0; block < state->graph->block_count; block++) {
        if (!is_of(state, block))
            continue;
        bool is_source = !is_led_to[state->component[block]];
        state->reach->is_entry[block] = is_source;
        state->reach->verdicts[block] =
            is_source && leader[state->component[block]] == block ? SN_HEAPFILE_UNREACHABLE : SN_HEAPFILE_INDIRECT;
    }
    sn_pages_release(leader, bytes);
    sn_pages_release(is_led_to, state->component_count + 1);
}

static void judge_unreachable(const sn_heapfile_graph *graph, sn_heapfile_reach *reach) {
    size_t count = graph->block_count + 1;
    components state = {
        .graph = graph, .reach = reach, .order = sn_pages_allocate(count * sizeof *state.order),
        .low = sn_pages_allocate(count * sizeof *state.low), .component = sn_pages_allocate(count * sizeof *state.component),
        .next = sn_pages_allocate(count * sizeof *state.next)};
    memset(state.component, 0xff, count * sizeof *state.component);
    for (uint32_t block = 0; block < graph->block_count; block++)
        if (is_of(&state, block) && state.order[block] == 0)
            search_from(&state, block);
    judge(&state);
    sn_pages_release(state.order, count * sizeof *state.order);
    sn_pages_release(state.low, count * sizeof *state.low);
    sn_pages_release(state.component, count * sizeof *state.component);
    sn_pages_release(state.next, count * sizeof *state.next);
    sn_vector_release(&state.path);
    sn_vector_release(&state.open);
}

/* ------------------------------------------------------------------------------- both */

sn_heapfile_reach sn_heapfile_reach_make(const sn_heapfile_graph *graph) {
    sn_heapfile_reach reach = {.size = (size_t)graph->block_count + 1};
    reach.verdicts = sn_pages_allocate(reach.size);
    reach.is_entry = sn_pages_allocate(reach.size);
    memset(reach.verdicts, UNKNOWN, reach.size);
    walk walk = {.graph = graph, .reach = &reach};
    walk_from_roots(&walk);
    sn_vector_release(&walk.waiting);
    judge_unreachable(graph, &reach);
    return reach;
}

void sn_heapfile_reach_release(sn_heapfile_reach *reach) {
    sn_pages_release(reach->verdicts, reach->size);
    sn_pages_release(reach->is_entry, reach->size);
}

/* ------------------------------------------------------------------------------- sums */

static int by_bytes(const void *left, const void *right) {
    const sn_heapfile_leak_row *a = left, *b = right;
    if (a->verdict != b->verdict)
        return a->verdict < b->verdict ? -1 : 1;
    if (a->sums.bytes != b->sums.bytes)
        return a->sums.bytes > b->sums.bytes ? -1 : 1;
    return (a->record > b->record) - (a->record < b->record);
}

sn_heapfile_leaks sn_heapfile_leaks_sum(const sn_heapfile_graph *graph, const sn_heapfile_reach *reach, const uint32_t *record_of,
                                size_t record_count) {
    sn_heapfile_leaks leaks = {0};
    size_t cells = record_count * SN_HEAPFILE_VERDICTS, bytes = (cells + 1) * sizeof(sn_heapfile_count);
    sn_heapfile_count *sums = sn_pages_allocate(bytes);
    for (uint32_t block = 0; block < graph->block_count; block++) {
        sn_heapfile_count *both[] = {&sums[record_of[block] * SN_HEAPFILE_VERDICTS + reach->verdicts[block]],
                                 &leaks.totals[reach->verdicts[block]]};
        for (unsigned i = 0; i < 2; i++) {
            both[i]->blocks++;
            both[i]->bytes += sn_heapfile_usable(&graph->file->blocks.items[block]);
        }
    }
    for (size_t i = 0; i < cells; i++)
        if (sums[i].blocks > 0)
            *sn_vector_add(&leaks.rows) = (sn_heapfile_leak_row){(sn_heapfile_verdict)(i % SN_HEAPFILE_VERDICTS),
                                                             (uint32_t)(i / SN_HEAPFILE_VERDICTS), sums[i]};
    if (leaks.rows.count > 0)
        qsort(leaks.rows.items, leaks.rows.count, sizeof *leaks.rows.items, by_bytes);
    sn_pages_release(sums, bytes);
    return leaks;
}
