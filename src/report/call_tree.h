/**
 * @fileoverview Call trees from a call graph: what is called by what (top-down), or who calls it (bottom-up).
 *
 * A profile says what a function's calls to another cost together, not along which path they came. Where a function has
 * several callers, what it calls is shared out in the proportion of what it cost for each, as gprof and KCachegrind do; that
 * is exact where there is one caller, and with --separate-callers. A cycle stands in the tree with its members below it.
 * Used by call_text.c and call_json.c.
 */
#ifndef SONDE_REPORT_CALL_TREE_H
#define SONDE_REPORT_CALL_TREE_H

#include "report/callgrind.h"

/** A line of the tree, in the order in which it is printed: each before what is below it. */
typedef struct sn_call_tree_row {
    sn_call_node node;
    unsigned depth;
    bool is_repeated; /**< on the path already (without cycles only): what is below is not shown again */
    double cost, calls;
} sn_call_tree_row;

typedef struct sn_call_tree {
    SN_VECTOR(sn_call_tree_row) rows;
    bool is_cut;      /**< there are more lines than can be held */
} sn_call_tree;

/** The tree that the view asks for: of the functions chosen, else of the whole program. */
sn_call_tree sn_call_tree_make(const sn_call_view *view);
void sn_call_tree_release(sn_call_tree *tree);

#endif
