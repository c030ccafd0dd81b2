/**
 * @fileoverview Reports on profiles in Callgrind's format: what their parts share.
 *
 * callgrind.c takes the options and reads the files; call_text.c, call_tree.c and call_json.c print one profile,
 * call_compare.c the differences of two.
 */
#ifndef SONDE_REPORT_CALLGRIND_H
#define SONDE_REPORT_CALLGRIND_H

#include "report/cachegrind.h"
#include "report/call_graph.h"

typedef enum sn_call_tree_kind { SN_CALL_TREE_NONE, SN_CALL_TREE_TOP_DOWN, SN_CALL_TREE_BOTTOM_UP } sn_call_tree_kind;

/** One profile (or the sum of several), with what the options say about showing it. */
typedef struct sn_call_view {
    const sn_call_profile *profile;
    const sn_call_graph *graph;
    sn_profile_view lines;         /**< header, totals, columns and source lines */
    bool is_by_inclusive;          /**< what functions are sorted by */
    sn_call_node *order;           /**< functions, and cycles if by inclusive cost; the largest first */
    size_t order_count;
    sn_call_tree_kind tree;
    unsigned depth;                /**< levels of the tree */
    double threshold;              /**< per cent; what is less is not in the tree */
    SN_VECTOR(uint32_t) chosen;    /**< functions that --function names */
} sn_call_view;

/** What is sorted by, of a node: self or inclusive. */
int64_t sn_call_view_self(const sn_call_view *view, sn_call_node node);
int64_t sn_call_view_inclusive(const sn_call_view *view, sn_call_node node);
/** The total of the same. */
int64_t sn_call_view_total(const sn_call_view *view);

void sn_call_print_text(const sn_call_view *view);
void sn_call_print_json(const sn_call_view *view);

/** How `after` differs from `before`, by self or inclusive costs of functions. */
void sn_call_compare(const sn_call_graph *before, const sn_call_graph *after, bool is_by_inclusive, const char *sort,
                     size_t limit, bool is_json);

#endif
