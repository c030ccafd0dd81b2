/**
 * @fileoverview Who points to whom in a scan: blocks and roots as owners of words, pointers as edges; and what follows from it:
 * what is reachable, by which path, and what is kept alive by what.
 *
 * Conservative: every word that lies in a block is a pointer to it. Eight bytes an edge, and tens of bytes a block. Made by heap.c when a
 * question needs it.
 */
#ifndef SONDE_REPORT_HEAP_GRAPH_H
#define SONDE_REPORT_HEAP_GRAPH_H

#include "report/heap_index.h"

/** A word of its owner that lies in a block. */
typedef struct sn_heap_edge {
    uint32_t target;   /**< the block */
    uint32_t place;    /**< 2 * number of the word, + 1 if it does not point to the block's start */
} sn_heap_edge;

static inline uint64_t sn_heap_edge_offset(const sn_heap_edge *edge) { return (uint64_t)(edge->place >> 1) * 8; }
static inline bool sn_heap_edge_is_inside(const sn_heap_edge *edge) { return edge->place & 1; }

typedef struct sn_heap_edges {
    uint64_t first, count;
} sn_heap_edges;

/** An owner is a block, or, behind them, a root. */
typedef struct sn_heap_graph {
    const sn_heap_file *file;
    uint32_t block_count, owner_count;
    SN_VECTOR(sn_heap_edge) edges;
    sn_heap_edges *of; /**< of each owner */
} sn_heap_graph;

bool sn_heap_graph_make(sn_heap_graph *graph, const sn_heap_file *file, sn_heap_index *index, char *explanation);
void sn_heap_graph_release(sn_heap_graph *graph);

/** What a file with roots says of a block. */
typedef enum sn_heap_verdict {
    SN_HEAP_UNREACHABLE, /**< and nothing else unreachable leads to it; of a cycle, the block with the lowest address */
    SN_HEAP_INDIRECT,    /**< reachable only through unreachable blocks */
    SN_HEAP_INTERIOR,    /**< reachable, but every way has a pointer that is not to a block's start */
    SN_HEAP_REACHABLE,
    SN_HEAP_VERDICTS
} sn_heap_verdict;

extern const char *const sn_heap_verdict_names[SN_HEAP_VERDICTS];    /**< members of JSON */
extern const char *const sn_heap_verdict_meanings[SN_HEAP_VERDICTS]; /**< for people */

/** The verdict of each block, and which blocks are entries: those that roots point to, and of what is unreachable the blocks
    to which nothing leads but what they lead to. In pages of block_count + 1 bytes each. */
typedef struct sn_heap_reach {
    uint8_t *verdicts;
    bool *is_entry;
    size_t size;
} sn_heap_reach;

sn_heap_reach sn_heap_reach_make(const sn_heap_graph *graph);
void sn_heap_reach_release(sn_heap_reach *reach);

/** One pointer of a path. */
typedef struct sn_heap_step {
    uint32_t owner;
    sn_heap_edge edge;
} sn_heap_step;

typedef SN_VECTOR(sn_heap_step) sn_heap_path;

/** The shortest way from a root to a block; empty if there is none. */
sn_heap_path sn_heap_graph_path(const sn_heap_graph *graph, uint32_t block);

/** What would be unreachable without a block, itself included; by dominators of the graph from its entries. */
typedef struct sn_heap_retained {
    uint32_t *dominators; /**< of each block: the next that it is unreachable without, or SN_HEAP_NONE */
    uint32_t *blocks;     /**< kept alive by each, itself included */
    uint64_t *bytes;      /**< usable sizes of those */
    size_t count;
} sn_heap_retained;

sn_heap_retained sn_heap_retained_make(const sn_heap_graph *graph, const sn_heap_reach *reach);
void sn_heap_retained_release(sn_heap_retained *retained);

/** Blocks and bytes (usable sizes). */
typedef struct sn_heap_count {
    uint64_t blocks, bytes;
} sn_heap_count;

/** Blocks of one verdict and one record. */
typedef struct sn_heap_leak_row {
    sn_heap_verdict verdict;
    uint32_t record;
    sn_heap_count sums;
} sn_heap_leak_row;

typedef struct sn_heap_leaks {
    sn_heap_count totals[SN_HEAP_VERDICTS];
    SN_VECTOR(sn_heap_leak_row) rows; /**< by verdict, the most bytes first */
} sn_heap_leaks;

/** Sum up by verdict and record. `record_of` says of each block the number of its record, of `record_count`. */
sn_heap_leaks sn_heap_leaks_sum(const sn_heap_graph *graph, const sn_heap_reach *reach, const uint32_t *record_of,
                                size_t record_count);

#endif
