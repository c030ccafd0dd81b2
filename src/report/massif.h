/**
 * @fileoverview Massif's files in memory: the heap over time, and trees of who allocated it.
 *
 * Written by sonde heap --mode=timeline and by Massif. massif_reader.c reads them, massif.c has the options, massif_text.c and
 * massif_json.c print, massif_page.c writes the page.
 */
#ifndef SONDE_REPORT_MASSIF_H
#define SONDE_REPORT_MASSIF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sonde/vector.h"

enum { SN_MASSIF_EXPLANATION_SIZE = 200, SN_MASSIF_NONE = UINT32_MAX, SN_MASSIF_MOST_DEPTH = 1000 };

typedef enum sn_massif_detail { SN_MASSIF_EMPTY, SN_MASSIF_DETAILED, SN_MASSIF_PEAK } sn_massif_detail;

/** Bytes that were allocated at a place, called from those below it. */
typedef struct sn_massif_node {
    uint64_t bytes;
    const char *name; /**< interned; without the address at the front */
    uint32_t depth;   /**< of the top: 0. Nodes below a node follow it, with greater depths */
} sn_massif_node;

typedef struct sn_massif_snapshot {
    uint64_t time, heap, extra, stacks;
    sn_massif_detail detail;
    uint32_t first, count; /**< its nodes; none unless it is detailed */
} sn_massif_snapshot;

static inline uint64_t sn_massif_total(const sn_massif_snapshot *snapshot) {
    return snapshot->heap + snapshot->extra + snapshot->stacks;
}

typedef struct sn_massif {
    const char *path, *description, *command, *time_unit; /**< but for the path interned */
    SN_VECTOR(sn_massif_snapshot) snapshots;
    SN_VECTOR(sn_massif_node) nodes;
    uint32_t peak; /**< number of the snapshot that is marked as the peak, else of the largest */
} sn_massif;

bool sn_massif_recognises(const char *head, size_t size);
/** Read. False: `explanation` says what is wrong, for behind the file's name; it is empty when the stream failed. */
bool sn_massif_parse(sn_massif *massif, FILE *stream, char *explanation);
void sn_massif_release(sn_massif *massif);

/** Which trees are printed. */
typedef enum sn_massif_trees { SN_MASSIF_ALL_TREES, SN_MASSIF_PEAK_TREE, SN_MASSIF_NO_TREE } sn_massif_trees;

void sn_massif_print_text(const sn_massif *massif, sn_massif_trees trees);
void sn_massif_print_json(const sn_massif *massif);

/** Write a page for browsers. What cannot be written ends the run with one line. */
void sn_massif_page_write(const char *path, const sn_massif *massif);

#endif
