/**
 * @fileoverview What only one block keeps alive: dominators of the graph of blocks. See heap_graph.h.
 *
 * The algorithm is that of Lengauer and Tarjan ("A fast algorithm for finding dominators in a flowgraph", 1979), the simple
 * version with path compression, all of it without recursion: lists of millions of blocks are common. Vertex 0 stands before
 * all entries; vertices are numbered in the order in which a depth-first search finds them.
 */
#include <string.h>

#include "report/heap_graph.h"

typedef struct vertices {
    const sn_heapfile_graph *graph;
    const sn_heapfile_reach *reach;
    uint32_t count;       /**< of vertices, with 0 */
    uint32_t *number;     /**< of each block: its vertex; 0: not yet */
    uint32_t *block;      /**< of each vertex */
    uint32_t *parent;     /**< in the tree of the search */
    uint32_t *semi;       /**< semidominator so far */
    uint32_t *ancestor;   /**< in the forest; SN_HEAPFILE_NONE: a root of it */
    uint32_t *label;      /**< the vertex on the way to the forest's root whose semidominator is least */
    uint32_t *dominator;
    uint32_t *bucket, *next_in_bucket; /**< vertices whose semidominator this is: lists, ended by 0 */
    uint64_t *first_source;            /**< of each block, in `sources`: who points to it */
    uint32_t *sources;
    uint64_t *next_edge;               /**< of each block, for the search */
    SN_VECTOR(uint32_t) path;
} vertices;

/* ------------------------------------------------------------------------------ search */

static bool is_alive(const vertices *v, uint32_t block) {
    return v->reach->verdicts[block] == SN_HEAPFILE_REACHABLE || v->reach->verdicts[block] == SN_HEAPFILE_INTERIOR;
}

static void enter(vertices *v, uint32_t block, uint32_t parent) {
    uint32_t number = v->count++;
    v->number[block] = number;
    v->block[number] = block;
    v->parent[number] = parent;
    *sn_vector_add(&v->path) = block;
}

static void search_from(vertices *v, uint32_t entry) {
    enter(v, entry, 0);
    while (v->path.count > 0) {
        uint32_t block = v->path.items[v->path.count - 1];
        const sn_heapfile_edges *edges = &v->graph->of[block];
        if (v->next_edge[block] == edges->count) {
            v->path.count--;
            continue;
        }
        uint32_t target = v->graph->edges.items[edges->first + v->next_edge[block]++].target;
        if (v->number[target] == 0)
            enter(v, target, v->number[block]);
    }
}

/** What is reachable first: what is not leads to it in places, and keeps nothing of it alive. */
static void search_from_entries(vertices *v, bool is_reachable) {
    for (uint32_t block = 0; block < v->graph->block_count; block++)
        if (v->reach->is_entry[block] && v->number[block] == 0 && is_alive(v, block) == is_reachable)
            search_from(v, block);
}

/** Turn the edges of blocks round. Then `next_edge` is where the sources of each end: those that are roots are not among them. */
static void find_sources(vertices *v) {
    const sn_heapfile_graph *graph = v->graph;
    for (size_t i = 0; i < graph->edges.count; i++)
        v->first_source[graph->edges.items[i].target + 1]++;
    for (uint32_t i = 0; i < graph->block_count; i++)
        v->first_source[i + 1] += v->first_source[i];
    uint64_t *next = v->next_edge; /* the search is over */
    memcpy(next, v->first_source, graph->block_count * sizeof *next);
    for (uint32_t block = 0; block < graph->block_count; block++)
        for (uint64_t i = 0; i < graph->of[block].count; i++)
            v->sources[next[graph->edges.items[graph->of[block].first + i].target]++] = block;
}

/* -------------------------------------------------------------------------- dominators */

/** Have the labels on the way from a vertex to its forest's root, and let all point to below it. */
static void compress(vertices *v, uint32_t vertex) {
    sn_vector_clear(&v->path);
    for (uint32_t at = vertex; v->ancestor[v->ancestor[at]] != SN_HEAPFILE_NONE; at = v->ancestor[at])
        *sn_vector_add(&v->path) = at;
    while (v->path.count > 0) {
        uint32_t at = v->path.items[--v->path.count], above = v->ancestor[at];
        if (v->semi[v->label[above]] < v->semi[v->label[at]])
            v->label[at] = v->label[above];
        v->ancestor[at] = v->ancestor[above];
    }
}

static uint32_t evaluate(vertices *v, uint32_t vertex) {
    if (v->ancestor[vertex] == SN_HEAPFILE_NONE)
        return vertex;
    compress(v, vertex);
    return v->label[vertex];
}

static void find_semidominator(vertices *v, uint32_t vertex) {
    uint32_t block = v->block[vertex];
    if (v->reach->is_entry[block])
        v->semi[vertex] = 0;
    for (uint64_t i = v->first_source[block]; i < v->next_edge[block]; i++) {
        if (is_alive(v, block) && !is_alive(v, v->sources[i]))
            continue;
        uint32_t least = v->semi[evaluate(v, v->number[v->sources[i]])];
        if (least < v->semi[vertex])
            v->semi[vertex] = least;
    }
    v->next_in_bucket[vertex] = v->bucket[v->semi[vertex]];
    v->bucket[v->semi[vertex]] = vertex;
}

static void empty_bucket(vertices *v, uint32_t parent) {
    for (uint32_t vertex = v->bucket[parent]; vertex != 0; vertex = v->next_in_bucket[vertex]) {
        uint32_t least = evaluate(v, vertex);
        v->dominator[vertex] = v->semi[least] < v->semi[vertex] ? least : parent;
    }
    v->bucket[parent] = 0;
}

static void find_dominators(vertices *v) {
    for (uint32_t vertex = 0; vertex < v->count; vertex++) {
        v->semi[vertex] = v->label[vertex] = vertex;
        v->ancestor[vertex] = SN_HEAPFILE_NONE;
    }
    for (uint32_t vertex = v->count - 1; vertex > 0; vertex--) {
        find_semidominator(v, vertex);
        v->ancestor[vertex] = v->parent[vertex];
        empty_bucket(v, v->parent[vertex]);
    }
    for (uint32_t vertex = 1; vertex < v->count; vertex++)
        if (v->dominator[vertex] != v->semi[vertex])
            v->dominator[vertex] = v->dominator[v->dominator[vertex]];
}

/** Dominators have lower numbers than what they dominate. */
static void sum_up(const vertices *v, sn_heapfile_retained *retained) {
    for (uint32_t vertex = v->count - 1; vertex > 0; vertex--) {
        uint32_t block = v->block[vertex], dominator = v->dominator[vertex];
        retained->blocks[block]++;
        retained->bytes[block] += sn_heapfile_usable(&v->graph->file->blocks.items[block]);
        retained->dominators[block] = dominator == 0 ? (uint32_t)SN_HEAPFILE_NONE : v->block[dominator];
        if (dominator != 0) {
            retained->blocks[v->block[dominator]] += retained->blocks[block];
            retained->bytes[v->block[dominator]] += retained->bytes[block];
        }
    }
}

/* ------------------------------------------------------------------------------ memory */

enum { ARRAYS = 9 };

static void allocate(vertices *v, uint32_t **arrays[ARRAYS]) {
    size_t count = (size_t)v->graph->block_count + 2;
    for (unsigned i = 0; i < ARRAYS; i++)
        *arrays[i] = sn_pages_allocate(count * sizeof **arrays[i]);
    v->first_source = sn_pages_allocate(count * sizeof *v->first_source);
    v->next_edge = sn_pages_allocate(count * sizeof *v->next_edge);
    v->sources = sn_pages_allocate((v->graph->edges.count + 1) * sizeof *v->sources);
}

static void release(vertices *v, uint32_t **arrays[ARRAYS]) {
    size_t count = (size_t)v->graph->block_count + 2;
    for (unsigned i = 0; i < ARRAYS; i++)
        sn_pages_release(*arrays[i], count * sizeof **arrays[i]);
    sn_pages_release(v->first_source, count * sizeof *v->first_source);
    sn_pages_release(v->next_edge, count * sizeof *v->next_edge);
    sn_pages_release(v->sources, (v->graph->edges.count + 1) * sizeof *v->sources);
    sn_vector_release(&v->path);
}

sn_heapfile_retained sn_heapfile_retained_make(const sn_heapfile_graph *graph, const sn_heapfile_reach *reach) {
    sn_heapfile_retained retained = {.count = (size_t)graph->block_count + 1};
    vertices v = {.graph = graph, .reach = reach, .count = 1};
    uint32_t **arrays[ARRAYS] = {&v.number, &v.block, &v.parent, &v.semi, &v.ancestor, &v.label,
                                 &v.dominator, &v.bucket, &v.next_in_bucket};
    retained.dominators = sn_pages_allocate(retained.count * sizeof *retained.dominators);
    retained.blocks = sn_pages_allocate(retained.count * sizeof *retained.blocks);
    retained.bytes = sn_pages_allocate(retained.count * sizeof *retained.bytes);
    allocate(&v, arrays);
    search_from_entries(&v, true);
    search_from_entries(&v, false);
    find_sources(&v);
    find_dominators(&v);
    sum_up(&v, &retained);
    release(&v, arrays);
    return retained;
}

void sn_heapfile_retained_release(sn_heapfile_retained *retained) {
    sn_pages_release(retained->dominators, retained->count * sizeof *retained->dominators);
    sn_pages_release(retained->blocks, retained->count * sizeof *retained->blocks);
    sn_pages_release(retained->bytes, retained->count * sizeof *retained->bytes);
}
