/**
 * @fileoverview The kind "contexts" of `sonde report`: what is to be shown of a file of calling contexts.
 *
 * contexts.c has the options and reads, contexts_text.c and contexts_json.c print.
 */
#ifndef SONDE_REPORT_CONTEXTS_H
#define SONDE_REPORT_CONTEXTS_H

#include "report/contexts_reader.h"

typedef enum sn_contexts_tree_kind {
    SN_CONTEXTS_TREE_NONE,
    SN_CONTEXTS_TREE_TOP_DOWN,
    SN_CONTEXTS_TREE_BOTTOM_UP,
} sn_contexts_tree_kind;

typedef struct sn_contexts_view {
    const sn_contexts_file *file;
    unsigned event;            /**< that is shown and sorted by */
    sn_contexts_tree_kind tree;
    unsigned depth;            /**< levels of the tree */
    double threshold;          /**< per cent of the total; what is less is left out of the tree */
    size_t stacks;             /**< show so many of the values that count most, frame by frame */
} sn_contexts_view;

void sn_contexts_print_text(const sn_contexts_view *view);
void sn_contexts_print_json(const sn_contexts_view *view);

#endif
