/**
 * @fileoverview Massif's files, and the trees in them. See massif.h.
 */
#include "massif.h"

#include <stdlib.h>

#include "names.h"
#include "settings.h"

#define DEEPEST 1024

/** A call, with the bytes that were allocated in it and in what it called. */
typedef struct node {
    uint64_t address;
    uint64_t bytes;
    struct node *children, *next;
    size_t child_count;
} node;

static node *make_node(uint64_t address) {
    node *made = calloc(1, sizeof *made);
    if (made == NULL) {
        sn_fail(125, "heap: out of memory");
    }
    made->address = address;
    return made;
}

/** The child for a call; the one that was asked for last stands first. */
static node *child_at(node *parent, uint64_t address) {
    for (node **link = &parent->children; *link != NULL; link = &(*link)->next) {
        node *found = *link;
        if (found->address == address) {
            *link = found->next;
            found->next = parent->children;
            parent->children = found;
            return found;
        }
    }
    node *made = make_node(address);
    made->next = parent->children;
    parent->children = made;
    parent->child_count++;
    return made;
}

static void free_node(node *old) {
    while (old->children != NULL) {
        node *child = old->children;
        old->children = child->next;
        free_node(child);
    }
    free(old);
}

static void add_site(node *root, const heap_site *site) {
    heap_place places[DEEPEST];
    unsigned most = heap_current.depth < DEEPEST ? (unsigned)heap_current.depth : DEEPEST;
    unsigned count = heap_places_of(site->context, places, DEEPEST), first = 0;
    while (first < count && heap_is_named(places[first].function, &heap_current.alloc_functions)) {
        first++;
    }
    root->bytes += site->bytes;
    node *at = root;
    for (unsigned i = first; i < count && i - first < most; i++) {
        at = child_at(at, places[i].address);
        at->bytes += site->bytes;
        if (heap_is_named(places[i].function, &(sn_texts){(const char *[]){"main"}, 1})) {
            break; /* what is below is the same in every tree */
        }
    }
}

static int by_bytes(const void *left, const void *right) {
    const node *a = *(node *const *)left, *b = *(node *const *)right;
    if (a->bytes != b->bytes) {
        return a->bytes < b->bytes ? 1 : -1;
    }
    return a->address < b->address ? -1 : a->address > b->address;
}

/** The children, the largest first. */
static node **sorted_children(const node *parent) {
    node **children = calloc(parent->child_count + 1, sizeof *children);
    if (children == NULL) {
        sn_fail(125, "heap: out of memory");
    }
    size_t count = 0;
    for (node *child = parent->children; child != NULL; child = child->next) {
        children[count++] = child;
    }
    qsort(children, count, sizeof *children, by_bytes);
    return children;
}

static void indent(FILE *file, unsigned depth) {
    for (unsigned i = 0; i < depth; i++) {
        fputc(' ', file);
    }
}

static void write_rest(FILE *file, unsigned depth, uint64_t bytes, size_t places) {
    indent(file, depth);
    fprintf(file, "n0: %lu in %zu place%s, %sbelow massif's threshold (%.2f%%)\n", bytes, places, places == 1 ? "" : "s",
            places == 1 ? "" : "all ", heap_current.threshold);
}

static void write_node(FILE *file, const node *written, unsigned depth, double least) {
    node **children = sorted_children(written);
    size_t large = 0;
    while (large < written->child_count && (double)children[large]->bytes >= least) {
        large++;
    }
    indent(file, depth);
    fprintf(file, "n%zu: %lu ", large + (large < written->child_count), written->bytes);
    if (depth == 0) {
        fputs(heap_current.pages_as_heap ? "(page allocation syscalls) mmap/mremap/brk, --alloc-fns, etc."
                                         : "(heap allocation functions) malloc/new/new[], --alloc-fns, etc.", file);
    } else {
        fprintf(file, "0x%lX: ", written->address);
        heap_print_frame(file, written->address, 0, false);
    }
    fputc('\n', file);
    for (size_t i = 0; i < large; i++) {
        write_node(file, children[i], depth + 1, least);
    }
    uint64_t rest = 0;
    for (size_t i = large; i < written->child_count; i++) {
        rest += children[i]->bytes;
    }
    if (large < written->child_count) {
        write_rest(file, depth + 1, rest, written->child_count - large);
    }
    free(children);
}

static void write_tree(FILE *file, const heap_snapshot *snapshot) {
    node *root = make_node(0);
    for (size_t i = 0; i < snapshot->site_count; i++) {
        add_site(root, &snapshot->sites[i]);
    }
    write_node(file, root, 0, (double)root->bytes * heap_current.threshold / 100);
    free_node(root);
}

static void write_snapshot(FILE *file, const heap_snapshot *snapshot, size_t number) {
    fprintf(file, "#-----------\nsnapshot=%zu\n#-----------\ntime=%lu\nmem_heap_B=%lu\nmem_heap_extra_B=%lu\nmem_stacks_B=%lu\n",
            number, snapshot->time, snapshot->heap.bytes, snapshot->heap.extra, snapshot->stacks);
    fprintf(file, "heap_tree=%s\n", snapshot->is_peak ? "peak" : snapshot->is_detailed ? "detailed" : "empty");
    if (snapshot->is_detailed) {
        write_tree(file, snapshot);
    }
}

void heap_massif_write(FILE *file, const heap_snapshot *snapshots, size_t count) {
    static const char *const units[] = {"ms", "i", "B"};
    const char *const *words;
    int word_count = sn_client_arguments(&words);
    fprintf(file, "desc: --max-snapshots=%ld --depth=%ld --threshold=%.2f\ncmd:", heap_current.max_snapshots, heap_current.depth,
            heap_current.threshold);
    for (int i = 0; i < word_count; i++) {
        fprintf(file, " %s", words[i]);
    }
    fprintf(file, "\ntime_unit: %s\n", units[heap_current.time_unit]);
    for (size_t i = 0; i < count; i++) {
        write_snapshot(file, &snapshots[i], i);
    }
}
