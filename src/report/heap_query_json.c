/**
 * @fileoverview Answers about blocks as JSON. See heap_query.h; docs/heap-report.md describes the members.
 */
#include <stdio.h>

#include "report/heap_query.h"

static void write_block(sn_json *json, const char *name, const sn_heapfile_answer *answer, uint32_t number) {
    const sn_heapfile_block *block = &answer->file->blocks.items[number];
    sn_json_object(json, name);
    sn_heapfile_write_address(json, "address", block->address);
    sn_json_number(json, "requested", block->requested);
    sn_json_number(json, "slop", block->slop);
    sn_heapfile_write_stack(json, "allocated_at", answer->stacks,
                            sn_heapfile_stack_of(answer->stacks, answer->file, block->trace));
    sn_json_close(json);
}

static void write_root(sn_json *json, const sn_heapfile_root *root) {
    sn_json_object(json, "root");
    sn_json_string(json, "kind", root->kind);
    sn_json_string(json, "name", root->name);
    sn_json_string(json, "module", root->module);
    if (root->has_thread)
        sn_json_number(json, "thread", root->thread);
    if (root->address != 0)
        sn_heapfile_write_address(json, "address", root->address);
    sn_json_close(json);
}

static void write_owner(sn_json *json, const sn_heapfile_answer *answer, uint32_t owner) {
    if (owner < answer->file->blocks.count)
        write_block(json, "block", answer, owner);
    else
        write_root(json, &answer->file->roots.items[owner - answer->file->blocks.count]);
}

static sn_heapfile_typed type_of(const sn_heapfile_answer *answer, uint32_t owner, uint64_t head) {
    return owner < answer->file->blocks.count ? sn_heapfile_type_of(answer->types, owner, head) : (sn_heapfile_typed){0};
}

static void write_pointer(sn_json *json, const sn_heapfile_answer *answer, const sn_heapfile_step *step) {
    sn_heapfile_typed typed = type_of(answer, step->owner, step->head);
    char member[1200];
    sn_json_number(json, "offset", sn_heapfile_edge_offset(&step->edge));
    sn_json_boolean(json, "to_inside", sn_heapfile_edge_is_inside(&step->edge));
    if (sn_heapfile_member(&typed, sn_heapfile_edge_offset(&step->edge), member, sizeof member)) {
        sn_json_string(json, "member", member);
        sn_json_boolean(json, "is_guess", typed.is_guess);
    }
}

static void write_words(sn_json *json, const sn_heapfile_answer *answer) {
    sn_json_array(json, "contents");
    for (size_t i = 0; i < answer->words.count; i++)
        sn_heapfile_write_address(json, NULL, answer->words.items[i]);
    sn_json_close(json);
}

/** Who points to one block: an object an owner. */
static void write_referrers(sn_json *json, const sn_heapfile_answer *answer, const sn_heapfile_referrers *referrers) {
    const sn_heapfile_path *pointers = &referrers->pointers;
    sn_json_object(json, NULL);
    sn_heapfile_write_address(json, "to", answer->file->blocks.items[referrers->block].address);
    sn_json_array(json, "owners");
    for (size_t i = 0, end; i < pointers->count; i = end) {
        sn_json_object(json, NULL);
        write_owner(json, answer, pointers->items[i].owner);
        sn_json_array(json, "pointers");
        for (end = i; end < pointers->count && pointers->items[end].owner == pointers->items[i].owner; end++) {
            sn_json_object(json, NULL);
            write_pointer(json, answer, &pointers->items[end]);
            sn_json_close(json);
        }
        sn_json_close(json);
        sn_json_close(json);
    }
    sn_json_close(json);
    sn_json_close(json);
}

static void write_path(sn_json *json, const sn_heapfile_answer *answer) {
    sn_json_array(json, "path");
    for (size_t i = 0; i < answer->path.count; i++) {
        sn_json_object(json, NULL);
        write_owner(json, answer, answer->path.items[i].owner);
        write_pointer(json, answer, &answer->path.items[i]);
        sn_json_close(json);
    }
    sn_json_close(json);
}

void sn_heapfile_answer_print_json(const sn_heapfile_answer *answer) {
    static const char *const ends[] = {"none", "several", "root", "loop"};
    sn_json json;
    sn_json_begin(&json, stdout);
    sn_json_object(&json, NULL);
    sn_json_string(&json, "kind", "heap block");
    sn_json_string(&json, "file", answer->file->path);
    write_block(&json, "block", answer, answer->block);
    sn_json_number(&json, "offset", answer->question.address - answer->file->blocks.items[answer->block].address);
    sn_heapfile_typed typed = type_of(answer, answer->block, answer->words.count > 0 ? answer->words.items[0] : 0);
    sn_json_string(&json, "type", typed.type != NULL ? typed.type->name : NULL);
    sn_json_boolean(&json, "type_is_guess", typed.is_guess);
    write_words(&json, answer);
    sn_json_array(&json, "referrers");
    for (size_t i = 0; i < answer->referrers.count; i++)
        write_referrers(&json, answer, &answer->referrers.items[i]);
    sn_json_close(&json);
    if (answer->question.follows_chain)
        sn_json_string(&json, "chain_end", ends[answer->end]);
    if (answer->question.asks_why)
        write_path(&json, answer);
    if (answer->question.asks_retained) {
        sn_json_object(&json, "retained");
        sn_json_number(&json, "blocks", answer->retained.blocks);
        sn_json_number(&json, "bytes", answer->retained.bytes);
        sn_json_close(&json);
    }
    if (answer->file->has_roots && (answer->question.asks_why || answer->question.asks_retained))
        sn_json_string(&json, "verdict", sn_heapfile_verdict_names[answer->verdict]);
    sn_json_close(&json);
    sn_json_finish(&json);
}
