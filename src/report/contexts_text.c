/**
 * @fileoverview Calling contexts as text: totals, a tree of functions, single stacks. See contexts.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/contexts.h"
#include "report/contexts_tree.h"
#include "report/text_form.h"

static double share_of(const sn_contexts_view *view, int64_t cost) {
    int64_t total = view->file->totals[view->event];
    return total == 0 ? 0 : 100 * (double)cost / (double)total;
}

static const char *function_name(const sn_contexts_frame *frame) {
    return frame->function != NULL ? frame->function : "???";
}

/* ---------------------------------------------------------------------------------- tree */

enum { TREE_WIDTH = 1 + 13 + 1 + 6 + 1 + 6 + 2, MOST_INDENT = 30 };

/** `name (file)`, or `name (module)` of code without debug information. */
static void print_function(const sn_contexts_file *file, uint32_t number, unsigned used) {
    char text[1600];
    const sn_contexts_frame *frame = &file->frames.items[number];
    const char *place = frame->file != NULL ? frame->file : frame->module;
    if (number == 0) {
        snprintf(text, sizeof text, "(unknown)");
    } else if (place == NULL) {
        snprintf(text, sizeof text, "%.1200s", function_name(frame));
    } else {
        snprintf(text, sizeof text, "%.1200s (%.300s)", function_name(frame), sn_form_base_name(place));
    }
    sn_form_print(text, used < SN_REPORT_WIDTH - 16 ? SN_REPORT_WIDTH - used : 16, SN_FORM_CUT_END);
}

static void print_node(const sn_contexts_view *view, const sn_contexts_node *node, unsigned depth) {
    char number[SN_NUMBER_SIZE];
    double share = share_of(view, node->cost);
    unsigned indent = depth < MOST_INDENT ? depth : MOST_INDENT, used = TREE_WIDTH + indent;
    putchar(sn_form_begin_line(share));
    printf("%13s ", sn_form_number(node->cost, number));
    sn_form_print_share(share, node->cost == 0);
    putchar(' ');
    sn_form_print_share(share_of(view, node->self), node->self == 0);
    printf("  %*s", (int)indent, "");
    if (depth > MOST_INDENT) {
        used += (unsigned)printf("[%u] ", depth);
    }
    print_function(view->file, node->frame, used);
    sn_form_end_line(share);
}

/** Each before what is below it; not by recursion, for trees are as deep as stacks. */
static void print_tree(const sn_contexts_view *view) {
    bool is_bottom_up = view->tree == SN_CONTEXTS_TREE_BOTTOM_UP;
    sn_contexts_tree tree = sn_contexts_tree_make(view->file, view->event, view->depth, is_bottom_up);
    const sn_contexts_node *nodes = tree.nodes.items;
    unsigned depth = 0;
    size_t printed = 0;
    printf("\n%14.13s %6s %6s  %s\n", view->file->events[view->event], "incl", is_bottom_up ? "ends" : "self",
           is_bottom_up ? "Bottom-up: below each function its callers" : "Top-down: below each function what it calls");
    for (uint32_t at = nodes[0].first; at != 0;) {
        bool is_shown = nodes[at].cost > 0 && share_of(view, nodes[at].cost) >= view->threshold;
        if (is_shown) {
            print_node(view, &nodes[at], depth);
            printed++;
        }
        if (is_shown && nodes[at].first != 0) {
            at = nodes[at].first;
            depth++;
            continue;
        }
        /* Siblings are in the order of their costs: behind one that is too cheap all are. */
        uint32_t next = is_shown ? nodes[at].next : 0;
        while (next == 0 && depth > 0) {
            at = nodes[at].parent;
            depth--;
            next = nodes[at].next;
        }
        at = next;
    }
    if (printed == 0) {
        printf("  (nothing has a share of %g %%; --threshold=0 shows all)\n", view->threshold);
    }
    sn_contexts_tree_release(&tree);
}

/* -------------------------------------------------------------------------------- stacks */

static bool print_frame(uint32_t number, bool is_handler, void *data) {
    const sn_contexts_view *view = data;
    const sn_contexts_frame *frame = &view->file->frames.items[number];
    printf("    %s", function_name(frame));
    if (frame->file != NULL && frame->line != 0) {
        printf(" (%s:%u)", frame->file, frame->line);
    } else if (frame->module != NULL) {
        printf(" (in %s)", frame->module);
    }
    puts(is_handler ? "\n    <signal handler called>" : "");
    return true;
}

static int by_count(const void *left, const void *right, void *data) {
    const sn_contexts_view *view = data;
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    int64_t of_a = sn_contexts_counts(view->file, a)[view->event], of_b = sn_contexts_counts(view->file, b)[view->event];
    return of_a != of_b ? (of_a < of_b ? 1 : -1) : (a > b) - (a < b);
}

static void print_stack(const sn_contexts_view *view, size_t value) {
    const sn_contexts_file *file = view->file;
    char number[SN_NUMBER_SIZE];
    putchar('\n');
    for (unsigned event = 0; event < file->event_count; event++) {
        printf("%s%s %s", event == 0 ? "  " : ", ", sn_form_number(sn_contexts_counts(file, value)[event], number),
               file->events[event]);
    }
    printf(":\n");
    if (file->values.items[value].context == 0 && file->values.items[value].place.count == 0) {
        printf("    (unknown)\n");
    }
    sn_contexts_walk(file, &file->values.items[value], print_frame, (void *)(uintptr_t)view);
}

static void print_stacks(const sn_contexts_view *view) {
    SN_VECTOR(size_t) order = {0};
    for (size_t i = 0; i < view->file->values.count; i++) {
        *sn_vector_add(&order) = i;
    }
    if (order.count > 0) {
        qsort_r(order.items, order.count, sizeof *order.items, by_count, (void *)(uintptr_t)view);
    }
    printf("\nStacks by %s\n", view->file->events[view->event]);
    for (size_t i = 0; i < order.count && i < view->stacks; i++) {
        print_stack(view, order.items[i]);
    }
    if (order.count > view->stacks) {
        printf("\n  (%zu more; --stacks=N shows more)\n", order.count - view->stacks);
    }
    sn_vector_release(&order);
}

void sn_contexts_print_text(const sn_contexts_view *view) {
    const sn_contexts_file *file = view->file;
    char number[SN_NUMBER_SIZE];
    printf("sonde report: ");
    sn_form_print(file->path, SN_REPORT_WIDTH - 14, SN_FORM_CUT_BEGINNING);
    printf("\n  command: ");
    sn_form_print(file->command, SN_REPORT_WIDTH - 11, SN_FORM_CUT_END);
    printf("\n  tool: ");
    sn_form_print(file->tool, SN_REPORT_WIDTH - 8, SN_FORM_CUT_END);
    printf("\n\nTotals\n");
    for (unsigned event = 0; event < file->event_count; event++) {
        printf("  %-13.13s %20s\n", file->events[event], sn_form_number(file->totals[event], number));
    }
    if (view->tree != SN_CONTEXTS_TREE_NONE) {
        print_tree(view);
    }
    if (view->stacks > 0) {
        print_stacks(view);
    }
}
