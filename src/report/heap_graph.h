/**
 * @fileoverview Who points to whom in a scan: blocks and roots as owners of words, pointers as edges; and what follows from it:
 * what is reachable, by which path, and what is kept alive by what.
 *
 * Conservative: every word that lies in a block is a pointer to it. Eight bytes an edge, and tens of bytes a block. Made by
 * heap.c when a
 * question needs it.
 */
#ifndef SONDE_REPORT_HEAP_GRAPH_H
#define SONDE_REPORT_HEAP_GRAPH_H

#include "report/heap_index.h"

/** A word of its owner that lies in a block. */
typedef struct sn_heapfile_edge {
    uint32_t target;   /**< the block */
    uint32_t place;    /**< 2 * number of the word, + 1 if it does not point to the block's start */
} sn_heapfile_edge;

static inline uint64_t sn_heapfile_edge_offset(const sn_heapfile_edge *edge) { return (uint64_t)(edge->place >> 1) * 8; }
static inline bool sn_heapfile_edge_is_inside(const sn_heapfile_edge *edge) { return edge->place & 1; }

typedef struct sn_heapfile_edges {
    uint64_t first, count;
} sn_heapfile_edges;

/** An owner is a block, or, behind them, a root. */
typedef struct sn_heapfile_graph {
    const sn_heapfile *file;
    uint32_t block_count, owner_count;
    SN_VECTOR(sn_heapfile_edge) edges;
    sn_heapfile_edges *of; /**< of each owner */
    uint64_t *heads;       /**< first word of each owner */
} sn_heapfile_graph;

bool sn_heapfile_graph_make(sn_heapfile_graph *graph, const sn_heapfile *file, sn_heapfile_index *index, char *explanation);
void sn_heapfile_graph_release(sn_heapfile_graph *graph);

/** What a file with roots says of a block. */
typedef enum sn_heapfile_verdict {
    SN_HEAPFILE_UNREACHABLE, /**< and nothing else unreachable leads to it; of a cycle, the block with the lowest address */
    SN_HEAPFILE_INDIRECT,    /**< reachable only through unreachable blocks */
    SN_HEAPFILE_INTERIOR,    /**< reachable, but every way has a pointer that is not to a block's start */
    SN_HEAPFILE_REACHABLE,
    SN_HEAPFILE_VERDICTS
} sn_heapfile_verdict;

extern const char *const sn_heapfile_verdict_names[SN_HEAPFILE_VERDICTS];    /**< members of JSON */
extern const char *const sn_heapfile_verdict_meanings[SN_HEAPFILE_VERDICTS]; /**< for people */

/** The verdict of each block, and which blocks are entries: those that roots point to, and of what is unreachable the blocks
    to which nothing leads but what they lead to. In pages of block_count + 1 bytes each. */
typedef struct sn_heapfile_reach {
    uint8_t *verdicts;
    bool *is_entry;
    size_t size;
} sn_heapfile_reach;

sn_heapfile_reach sn_heapfile_reach_make(const sn_heapfile_graph *graph);
void sn_heapfile_reach_release(sn_heapfile_reach *reach);

/** One pointer of a path. */
typedef struct sn_heapfile_step {
    uint32_t owner;
    sn_heapfile_edge edge;
    uint64_t head; /**< first word of the owner */
} sn_heapfile_step;

typedef SN_VECTOR(sn_heapfile_step) sn_heapfile_path;

/** The shortest way from a root to a block; empty if there is none. */
sn_heapfile_path sn_heapfile_graph_path(const sn_heapfile_graph *graph, uint32_t block);

/** What would be unreachable without a block, itself included; by dominators of the graph from its entries. */
typedef struct sn_heapfile_retained {
    uint32_t *dominators; /**< of each block: the next that it is unreachable without, or SN_HEAPFILE_NONE */
    uint32_t *blocks;     /**< kept alive by each, itself included */
    uint64_t *bytes;      /**< usable sizes of those */
    size_t count;
} sn_heapfile_retained;

sn_heapfile_retained sn_heapfile_retained_make(const sn_heapfile_graph *graph, const sn_heapfile_reach *reach);
void sn_heapfile_retained_release(sn_heapfile_retained *retained);

/** Blocks and bytes (usable sizes). */
typedef struct sn_heapfile_count {
    uint64_t blocks, bytes;
} sn_heapfile_count;

/** Blocks of one verdict and one record. */
typedef struct sn_heapfile_leak_row {
    sn_heapfile_verdict verdict;
    uint32_t record;
    sn_heapfile_count sums;
} sn_heapfile_leak_row;

typedef struct sn_heapfile_leaks {
    sn_heapfile_count totals[SN_HEAPFILE_VERDICTS];
    SN_VECTOR(sn_heapfile_leak_row) rows; /**< by verdict, the most bytes first */
} sn_heapfile_leaks;

/** Sum up by verdict and record. `record_of` says of each block the number of its record, of `record_count`. */
sn_heapfile_leaks sn_heapfile_leaks_sum(const sn_heapfile_graph *graph, const sn_heapfile_reach *reach, const uint32_t *record_of,
                                size_t record_count);

#endif
