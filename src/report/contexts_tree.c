/**
 * @fileoverview Paths of functions, put together as a tree. See contexts_tree.h.
 */
#include "report/contexts_tree.h"

#include <stdlib.h>

/* -------------------------------------------------------------------------------- walking */

static bool visit_place(const sn_contexts_file *file, sn_contexts_place place,
                        bool (*visit)(uint32_t frame, bool is_handler, void *data), void *data, bool is_handler) {
    bool goes_on = true;
    for (uint32_t i = 0; i < place.count && goes_on; i++) {
        goes_on = visit(file->frame_lists.items[place.first + i], is_handler && i + 1 == place.count, data);
    }
    return goes_on;
}

void sn_contexts_walk(const sn_contexts_file *file, const sn_contexts_value *value,
                      bool (*visit)(uint32_t frame, bool is_handler, void *data), void *data) {
    sn_contexts_place place = value->place;
    bool goes_on = true;
    for (uint32_t at = value->context; at != 0 && goes_on;) {
        const sn_contexts_context *context = &file->contexts.items[at];
        bool is_handler = context->how == SN_CONTEXTS_SIGNAL;
        goes_on = place.count > 0 ? visit_place(file, place, visit, data, is_handler)
                                  : visit(context->function, is_handler, data);
        place = context->site;
        at = context->caller;
    }
    if (goes_on) { /* where the first of them was called, or all that is known */
        visit_place(file, place, visit, data, false);
    }
}

/* --------------------------------------------------------------------------------- the tree */

typedef struct path {
    SN_VECTOR(uint32_t) frames;
} path;

static bool add_to_path(uint32_t frame, bool is_handler, void *data) {
    path *path = data;
    (void)is_handler;
    *sn_vector_add(&path->frames) = frame;
    return true;
}

/** A function is a name in a module. Both are interned. */
static bool is_same_function(const sn_contexts_frame *a, const sn_contexts_frame *b) {
    return a->function == b->function && a->module == b->module;
}

/** The children of a node are found in a table by parent and function; what collides there is looked at one by one. */
static uint32_t child_of(const sn_contexts_file *file, sn_contexts_tree *tree, uint32_t parent, uint32_t frame) {
    const sn_contexts_frame *wanted = &file->frames.items[frame];
    uint64_t key = sn_hash_mix((uintptr_t)wanted->function ^ sn_hash_mix((uintptr_t)wanted->module ^ parent));
    for (;; key++) {
        bool is_new;
        uint64_t *found = sn_hash_insert(&tree->children, key, &is_new);
        if (is_new) {
            *found = tree->nodes.count;
            *sn_vector_add(&tree->nodes) = (sn_contexts_node){.parent = parent, .frame = frame};
            return (uint32_t)*found;
        }
        const sn_contexts_node *node = &tree->nodes.items[*found];
        if (node->parent == parent && is_same_function(&file->frames.items[node->frame], wanted)) {
            return (uint32_t)*found;
        }
    }
}

static void add_path(const sn_contexts_file *file, sn_contexts_tree *tree, const path *path, int64_t cost, unsigned depth,
                     bool is_bottom_up) {
    uint32_t node = 0;
    size_t count = path->frames.count;
    tree->nodes.items[0].cost += cost;
    for (size_t i = 0; i < count && i < depth; i++) {
        node = child_of(file, tree, node, path->frames.items[is_bottom_up ? i : count - 1 - i]);
        tree->nodes.items[node].cost += cost;
    }
    tree->nodes.items[node].self += cost;
}

static int by_cost(const void *left, const void *right, void *data) {
    const sn_contexts_tree *tree = data;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int64_t of_a = tree->nodes.items[a].cost, of_b = tree->nodes.items[b].cost;
    return of_a != of_b ? (of_a < of_b ? -1 : 1) : (a < b) - (a > b);
}

/** Put each before its siblings, the cheapest first, so that the dearest ends up in front. */
static void link_children(sn_contexts_tree *tree) {
    SN_VECTOR(uint32_t) order = {0};
    for (uint32_t i = 1; i < tree->nodes.count; i++) {
        *sn_vector_add(&order) = i;
    }
    if (order.count > 0) {
        qsort_r(order.items, order.count, sizeof *order.items, by_cost, tree);
    }
    for (size_t i = 0; i < order.count; i++) {
        sn_contexts_node *node = &tree->nodes.items[order.items[i]], *parent = &tree->nodes.items[node->parent];
        node->next = parent->first;
        parent->first = order.items[i];
    }
    sn_vector_release(&order);
}

sn_contexts_tree sn_contexts_tree_make(const sn_contexts_file *file, unsigned event, unsigned depth, bool is_bottom_up) {
    sn_contexts_tree tree = {0};
    path path = {0};
    sn_vector_add(&tree.nodes);
    for (size_t i = 0; i < file->values.count; i++) {
        path.frames.count = 0;
        sn_contexts_walk(file, &file->values.items[i], add_to_path, &path);
        if (path.frames.count == 0) {
            add_to_path(0, false, &path);
        }
        add_path(file, &tree, &path, sn_contexts_counts(file, i)[event], depth, is_bottom_up);
    }
    sn_vector_release(&path.frames);
    sn_hash_release(&tree.children);
    link_children(&tree);
    return tree;
}

void sn_contexts_tree_release(sn_contexts_tree *tree) {
    sn_vector_release(&tree->nodes);
}
