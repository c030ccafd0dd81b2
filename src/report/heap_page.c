/**
 * @fileoverview Writing a heap dump as a page. See heap_page.h.
 *
 * Lists of numbers are texts, and each name is held once, as page.c has it.
 */
#include "report/heap_page.h"

#include <inttypes.h>
#include <stdio.h>

#include "report/page_file.h"
#include "report/page_source.h"
#include "report/text_form.h"

enum {
    MOST_RECORDS = 20000,
    MOST_NODES = 40, /* in each direction from the block */
    LEVELS = 3,
};

typedef struct page {
    const sn_heapfile_view *view;
    sn_page_names names;
    sn_json json;
} page;

/* ---------------------------------------------------------------------------- records */

static size_t record_count(const page *page) {
    size_t count = page->view->records->shown.count;
    return count < MOST_RECORDS ? count : MOST_RECORDS;
}

static const sn_heapfile_record *record_at(const page *page, size_t place) {
    return &page->view->records->items.items[page->view->records->shown.items[place]];
}

static void write_stack(page *page, const char *name, const sn_heapfile_stacks *stacks, uint32_t number) {
    const sn_heapfile_stack *stack = &stacks->items.items[number];
    sn_page_list list = sn_page_list_begin();
    for (uint32_t i = 0; i < stack->count; i++)
        sn_page_list_add(&list, sn_page_name(&page->names, stacks->frames.items[stack->first + i]));
    sn_page_list_write(&list, &page->json, name);
}

static int64_t usable(const sn_heapfile_record *record) { return record->sums.usable; }
static int64_t requested(const sn_heapfile_record *record) { return record->sums.requested; }
static int64_t slop(const sn_heapfile_record *record) { return record->sums.slop; }
static int64_t blocks(const sn_heapfile_record *record) { return record->sums.blocks; }
static int64_t section(const sn_heapfile_record *record) { return record->section; }

static const struct {
    const char *name;
    int64_t (*value)(const sn_heapfile_record *record);
} lists[] = {{"usable", usable}, {"requested", requested}, {"slop", slop}, {"blocks", blocks}, {"section", section}};

static void write_records(page *page) {
    sn_json_object(&page->json, "records");
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        sn_page_list list = sn_page_list_begin();
        for (size_t k = 0; k < record_count(page); k++)
            sn_page_list_add(&list, lists[i].value(record_at(page, k)));
        sn_page_list_write(&list, &page->json, lists[i].name);
    }
    sn_json_array(&page->json, "stacks");
    for (size_t k = 0; k < record_count(page); k++)
        write_stack(page, NULL, &page->view->records->stacks, record_at(page, k)->stack);
    sn_json_close(&page->json);
    sn_json_close(&page->json);
}

/* ----------------------------------------------------------------- blocks around a block */

/** Owners that are shown. */
typedef struct neighbourhood {
    const sn_heapfile_graph *graph;
    sn_hash numbers;             /**< owner -> 1 + its place */
    SN_VECTOR(uint32_t) owners;
    size_t left_out;
} neighbourhood;

static void add_owner(neighbourhood *near, uint32_t owner, size_t most) {
    if (sn_hash_find(&near->numbers, owner) != NULL)
        return;
    if (near->owners.count >= most) {
        near->left_out++;
        return;
    }
    *sn_vector_add(&near->owners) = owner;
    sn_hash_set(&near->numbers, owner, near->owners.count);
}

/** Who points to what was added from place `first` on: one look at all pointers a level. */
static void add_referrers(neighbourhood *near, size_t first, size_t most) {
    const sn_heapfile_graph *graph = near->graph;
    size_t end = near->owners.count;
    for (uint32_t owner = 0; owner < graph->owner_count; owner++) {
        for (uint64_t i = 0; i < graph->of[owner].count; i++) {
            uint64_t place = sn_hash_get(&near->numbers, graph->edges.items[graph->of[owner].first + i].target, 0);
            if (place > first && place <= end)
                add_owner(near, owner, most);
        }
    }
}

static void add_targets(neighbourhood *near, size_t first, size_t most) {
    const sn_heapfile_graph *graph = near->graph;
    size_t end = near->owners.count;
    for (size_t k = first; k < end; k++) {
        const sn_heapfile_edges *edges = &graph->of[near->owners.items[k]];
        for (uint64_t i = 0; i < edges->count; i++)
            add_owner(near, graph->edges.items[edges->first + i].target, most);
    }
}

static void find_neighbours(neighbourhood *near, uint32_t block) {
    add_owner(near, block, 1);
    for (size_t level = 0, first = 0, end; level < LEVELS; level++, first = end) {
        end = near->owners.count;
        add_referrers(near, first, 1 + MOST_NODES);
    }
    size_t most = near->owners.count + MOST_NODES, first = near->owners.count;
    const sn_heapfile_edges *edges = &near->graph->of[block];
    for (uint64_t i = 0; i < edges->count; i++)
        add_owner(near, near->graph->edges.items[edges->first + i].target, most);
    for (size_t level = 1, end; level < LEVELS; level++, first = end) {
        end = near->owners.count;
        add_targets(near, first, most);
    }
}

static void write_owner(page *page, const sn_heapfile_answer *answer, uint32_t owner) {
    const sn_heapfile *file = answer->file;
    char name[600];
    sn_json_object(&page->json, NULL);
    if (owner < file->blocks.count) {
        const sn_heapfile_block *block = &file->blocks.items[owner];
        sn_heapfile_write_address(&page->json, "address", block->address);
        sn_json_number(&page->json, "requested", block->requested);
        write_stack(page, "stack", answer->stacks, sn_heapfile_stack_of(answer->stacks, file, block->trace));
    } else {
        sn_heapfile_root_name(&file->roots.items[owner - file->blocks.count], name, sizeof name);
        sn_json_string(&page->json, "root", name);
    }
    sn_json_close(&page->json);
}

/** The member that an edge starts at, if its block's type is known. */
static void write_member(page *page, const sn_heapfile_answer *answer, const neighbourhood *near, size_t place,
                         const sn_heapfile_edge *edge) {
    uint32_t owner = near->owners.items[place];
    char member[1200];
    if (owner >= answer->file->blocks.count)
        return;
    sn_heapfile_typed typed = sn_heapfile_type_of(answer->types, owner, near->graph->heads[owner]);
    if (sn_heapfile_member(&typed, sn_heapfile_edge_offset(edge), member, sizeof member)) {
        sn_json_string(&page->json, "member", member);
        sn_json_boolean(&page->json, "is_guess", typed.is_guess);
    }
}

static void write_edges(page *page, const sn_heapfile_answer *answer, const neighbourhood *near) {
    sn_json_array(&page->json, "edges");
    for (size_t k = 0; k < near->owners.count; k++) {
        const sn_heapfile_edges *edges = &near->graph->of[near->owners.items[k]];
        for (uint64_t i = 0; i < edges->count; i++) {
            const sn_heapfile_edge *edge = &near->graph->edges.items[edges->first + i];
            uint64_t place = sn_hash_get(&near->numbers, edge->target, 0);
            if (place == 0)
                continue;
            sn_json_object(&page->json, NULL);
            sn_json_number(&page->json, "from", k);
            sn_json_number(&page->json, "to", place - 1);
            sn_json_number(&page->json, "offset", sn_heapfile_edge_offset(edge));
            sn_json_boolean(&page->json, "inside", sn_heapfile_edge_is_inside(edge));
            write_member(page, answer, near, k, edge);
            sn_json_close(&page->json);
        }
    }
    sn_json_close(&page->json);
}

static void write_graph(page *page, const sn_heapfile_answer *answer) {
    sn_heapfile_graph graph = sn_heapfile_graph_read(answer->file, answer->index);
    neighbourhood near = {.graph = &graph};
    find_neighbours(&near, answer->block);
    sn_json_object(&page->json, "graph");
    sn_json_array(&page->json, "nodes");
    for (size_t i = 0; i < near.owners.count; i++)
        write_owner(page, answer, near.owners.items[i]);
    sn_json_close(&page->json);
    write_edges(page, answer, &near);
    sn_json_number(&page->json, "left_out", near.left_out);
    sn_json_close(&page->json);
    sn_vector_release(&near.owners);
    sn_hash_release(&near.numbers);
    sn_heapfile_graph_release(&graph);
}

/* -------------------------------------------------------------------------- all of it */

static void write_head(page *page) {
    const sn_heapfile_view *view = page->view;
    char text[200], number[SN_NUMBER_SIZE];
    sn_json_string(&page->json, "kind", "heap");
    sn_json_strings(&page->json, "files", view->paths, view->file_count);
    sn_json_string(&page->json, "mode", sn_heapfile_mode_names[view->records->mode]);
    sn_json_array(&page->json, "descriptions");
    for (size_t i = 0; i < view->file_count; i++)
        if (view->files[i].options != NULL)
            sn_json_string(&page->json, NULL, view->files[i].options);
    sn_json_close(&page->json);
    sn_json_array(&page->json, "left_out");
    if (view->records->shown.count > MOST_RECORDS) {
        snprintf(text, sizeof text, "Left out: %s records.",
                 sn_form_number((int64_t)(view->records->shown.count - MOST_RECORDS), number));
        sn_json_string(&page->json, NULL, text);
    }
    sn_json_close(&page->json);
}

void sn_heapfile_page_write(const char *path, const sn_heapfile_view *view, const sn_heapfile_answer *answer) {
    page page = {.view = view};
    sn_page_file file = sn_page_file_begin(path, &page.json);
    write_head(&page);
    write_records(&page);
    if (answer != NULL)
        write_graph(&page, answer);
    sn_page_names_end(&page.names, &page.json);
    sn_page_file_end(&file, &page.json);
}
