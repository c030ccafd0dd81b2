/**
 * @fileoverview A tree of functions made of a file of calling contexts: below each function what it called, or who called it.
 *
 * Inlined functions stand in it like others. What differs only in the lines of the calls is one. Used by contexts_text.c.
 */
#ifndef SONDE_REPORT_CONTEXTS_TREE_H
#define SONDE_REPORT_CONTEXTS_TREE_H

#include "sonde/hash.h"
#include "report/contexts_reader.h"

/** A function on a path from the tree's root. */
typedef struct sn_contexts_node {
    uint32_t parent;        /**< the root is 0 */
    uint32_t next, first;   /**< its next sibling and its first child, 0 for none; of the root's children by cost, and so on */
    uint32_t frame;         /**< names the function; 0: nothing is known of the calls */
    int64_t cost, self;     /**< of all that is below it with it, and its own; bottom-up only the former */
} sn_contexts_node;

typedef struct sn_contexts_tree {
    SN_VECTOR(sn_contexts_node) nodes; /**< the first is the root */
    sn_hash children;                  /**< by parent and function, while it is made */
} sn_contexts_tree;

/** Make the tree of an event's counts, at most `depth` levels deep; what is deeper belongs to the last level. */
sn_contexts_tree sn_contexts_tree_make(const sn_contexts_file *file, unsigned event, unsigned depth, bool is_bottom_up);
void sn_contexts_tree_release(sn_contexts_tree *tree);

/** The frames of a value from the innermost to the outermost: `visit` gets the number of each, and for the first of those of a
    context how that was entered. It returns whether to go on. */
void sn_contexts_walk(const sn_contexts_file *file, const sn_contexts_value *value,
                      bool (*visit)(uint32_t frame, bool is_handler, void *data), void *data);

#endif
