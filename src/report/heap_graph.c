/**
 * @fileoverview Blocks, roots and pointers. See heap_graph.h.
 */
#include "report/heap_graph.h"

#include <stdio.h>

#include "report/heap.h"

typedef struct building {
    sn_heapfile_graph *graph;
    sn_heapfile_index *index;
} building;

/** Words behind 16 GiB of one block have no room in an edge. */
enum { MOST_WORDS = INT32_MAX };

static void take_batch(building *building, uint64_t first, const uint64_t *words, size_t count) {
    uint32_t numbers[SN_HEAPFILE_BATCH];
    uint64_t starts[SN_HEAPFILE_BATCH];
    if (!sn_heapfile_index_find_all(building->index, words, count, numbers, starts))
        return;
    for (size_t i = 0; i < count && first + i < MOST_WORDS; i++)
        if (numbers[i] != SN_HEAPFILE_NONE)
            *sn_vector_add(&building->graph->edges) =
                (sn_heapfile_edge){numbers[i], (uint32_t)(first + i) << 1 | (starts[i] != words[i])};
}

static void take_words(void *data, uint32_t owner, uint64_t first, const uint64_t *words, size_t count) {
    building *building = data;
    sn_heapfile_graph *graph = building->graph;
    owner = sn_heapfile_owner_place(graph->file, owner);
    if (first == 0)
        graph->of[owner] = (sn_heapfile_edges){.first = graph->edges.count}, graph->heads[owner] = words[0];
    for (size_t i = 0; i < count; i += SN_HEAPFILE_BATCH)
        take_batch(building, first + i, words + i, count - i < SN_HEAPFILE_BATCH ? count - i : SN_HEAPFILE_BATCH);
    graph->of[owner].count = graph->edges.count - graph->of[owner].first;
}

bool sn_heapfile_graph_make(sn_heapfile_graph *graph, const sn_heapfile *file, sn_heapfile_index *index, char *explanation) {
    building building = {graph, index};
    *graph = (sn_heapfile_graph){.file = file, .block_count = (uint32_t)file->blocks.count,
                             .owner_count = (uint32_t)(file->blocks.count + file->roots.count)};
    graph->of = sn_pages_allocate((graph->owner_count + 1) * sizeof *graph->of);
    graph->heads = sn_pages_allocate((graph->owner_count + 1) * sizeof *graph->heads);
    sn_heapfile_listener listener = {.data = &building, .words = take_words};
    bool is_good = sn_heapfile_contents(file, sn_heapfile_open(file->path), &listener, explanation);
    if (!is_good)
        sn_heapfile_graph_release(graph);
    return is_good;
}

void sn_heapfile_graph_release(sn_heapfile_graph *graph) {
    sn_vector_release(&graph->edges);
    sn_pages_release(graph->heads, (graph->owner_count + 1) * sizeof *graph->heads);
    sn_pages_release(graph->of, (graph->owner_count + 1) * sizeof *graph->of);
}

/* ----------------------------------------------------------------------------- paths */

/** How a block was reached first. */
typedef struct arrival {
    uint32_t owner;
    uint64_t edge;
} arrival;

typedef struct search {
    const sn_heapfile_graph *graph;
    arrival *arrivals; /**< owner SN_HEAPFILE_NONE: not yet */
    SN_VECTOR(uint32_t) queue;
} search;

static void visit(search *search, uint32_t owner) {
    const sn_heapfile_edges *edges = &search->graph->of[owner];
    for (uint64_t i = edges->first; i < edges->first + edges->count; i++) {
        uint32_t target = search->graph->edges.items[i].target;
        if (search->arrivals[target].owner == SN_HEAPFILE_NONE) {
            search->arrivals[target] = (arrival){owner, i};
            *sn_vector_add(&search->queue) = target;
        }
    }
}

/** Follow the arrivals back, and turn them round. */
static sn_heapfile_path path_to(const search *search, uint32_t block) {
    sn_heapfile_path path = {0};
    for (uint32_t owner = block; owner < search->graph->block_count; owner = search->arrivals[owner].owner) {
        if (search->arrivals[owner].owner == SN_HEAPFILE_NONE)
            return path;
        const arrival *arrival = &search->arrivals[owner];
        const sn_heapfile_graph *graph = search->graph;
        *sn_vector_add(&path) =
            (sn_heapfile_step){arrival->owner, graph->edges.items[arrival->edge], graph->heads[arrival->owner]};
    }
    for (size_t i = 0; i < path.count / 2; i++) {
        sn_heapfile_step step = path.items[i];
        path.items[i] = path.items[path.count - 1 - i];
        path.items[path.count - 1 - i] = step;
    }
    return path;
}

sn_heapfile_path sn_heapfile_graph_path(const sn_heapfile_graph *graph, uint32_t block) {
    size_t bytes = (graph->block_count + 1) * sizeof(arrival);
    search search = {.graph = graph, .arrivals = sn_pages_allocate(bytes)};
    for (uint32_t i = 0; i < graph->block_count; i++)
        search.arrivals[i].owner = SN_HEAPFILE_NONE;
    for (uint32_t root = graph->block_count; root < graph->owner_count; root++)
        visit(&search, root);
    for (size_t i = 0; i < search.queue.count && search.arrivals[block].owner == SN_HEAPFILE_NONE; i++)
        visit(&search, search.queue.items[i]);
    sn_heapfile_path path = path_to(&search, block);
    sn_pages_release(search.arrivals, bytes);
    sn_vector_release(&search.queue);
    return path;
}
