/**
 * @fileoverview Answers about blocks for people. See heap_query.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/heap_query.h"
#include "report/text_form.h"

enum { WORDS_SHOWN = 64, REFERRERS_SHOWN = 100, OFFSETS_SHOWN = 16, WHOLE_LINE = 1 << 20 };

static const char *number(uint64_t value) {
    static char buffers[8][SN_NUMBER_SIZE];
    static unsigned next;
    return sn_form_number((int64_t)value, buffers[next++ % 8]);
}

static const char *plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

static void print_stack(const sn_heapfile_answer *answer, uint32_t block, unsigned indent) {
    uint32_t trace = answer->file->blocks.items[block].trace;
    sn_heapfile_print_stack(answer->stacks, sn_heapfile_stack_of(answer->stacks, answer->file, trace), indent);
}

/** "block 0x1000 of 32 bytes", or what the root is. */
static void print_owner(const sn_heapfile *file, uint32_t owner) {
    char text[600];
    if (owner < file->blocks.count) {
        const sn_heapfile_block *block = &file->blocks.items[owner];
        printf("block 0x%" PRIx64 " of %s byte%s", block->address, number(block->requested), plural(block->requested));
        return;
    }
    const sn_heapfile_root *root = &file->roots.items[owner - file->blocks.count];
    sn_heapfile_root_name(root, text, sizeof text);
    sn_form_print(text, sizeof text, SN_FORM_CUT_END);
    if (root->address != 0)
        printf(" at 0x%" PRIx64, root->address);
}

/** The type of an owner that is a block; none of a root. */
static sn_heapfile_typed type_of(const sn_heapfile_answer *answer, uint32_t owner, uint64_t head) {
    return owner < answer->file->blocks.count ? sn_heapfile_type_of(answer->types, owner, head) : (sn_heapfile_typed){0};
}

/** " (Window::mDocument)", with a question mark at a guess. */
static void print_member(const sn_heapfile_typed *typed, uint64_t offset) {
    char text[1200];
    if (sn_heapfile_member(typed, offset, text, sizeof text)) {
        printf(" (");
        sn_form_print(text, sizeof text, SN_FORM_CUT_END);
        printf("%s)", typed->is_guess ? "?" : "");
    }
}

static void print_block(const sn_heapfile_answer *answer) {
    const sn_heapfile_block *block = &answer->file->blocks.items[answer->block];
    printf("\nBlock 0x%" PRIx64 ": %s byte%s requested, %s slop\n", block->address, number(block->requested),
           plural(block->requested), number(block->slop));
    sn_heapfile_typed typed = type_of(answer, answer->block, answer->words.count > 0 ? answer->words.items[0] : 0);
    if (typed.type != NULL) {
        printf("  type: ");
        sn_form_print(typed.type->name, WHOLE_LINE, SN_FORM_CUT_END);
        printf("%s\n", typed.is_guess ? " (a guess, by the line that allocated it)" : " (by its vtable)");
    }
    if (answer->question.address != block->address) {
        printf("  0x%" PRIx64 " is at offset %" PRIu64, answer->question.address, answer->question.address - block->address);
        print_member(&typed, answer->question.address - block->address);
        putchar('\n');
    }
    printf("  allocated at\n");
    print_stack(answer, answer->block, 4);
}

/** How many words behind word `at`, of those that are shown, are the same. */
static size_t equal_words(const sn_heapfile_answer *answer, size_t at) {
    size_t end = at + 1;
    while (end < answer->words.count && end < WORDS_SHOWN && answer->words.items[end] == answer->words.items[at])
        end++;
    return end - at - 1;
}

static void print_words(const sn_heapfile_answer *answer) {
    sn_heapfile_typed typed = type_of(answer, answer->block, answer->words.count > 0 ? answer->words.items[0] : 0);
    if (answer->words.count > 0)
        printf("  contents\n");
    for (size_t i = 0; i < answer->words.count && i < WORDS_SHOWN; i++) {
        uint64_t start, word = answer->words.items[i];
        uint32_t target = word == 0 ? (uint32_t)SN_HEAPFILE_NONE : sn_heapfile_index_find(answer->index, word, &start);
        printf("    +%-6zu 0x%" PRIx64, i * 8, word);
        if (target != SN_HEAPFILE_NONE && start != word)
            printf("  offset %" PRIu64 " of", word - start);
        if (target != SN_HEAPFILE_NONE) {
            printf("  ");
            print_owner(answer->file, target);
        }
        print_member(&typed, i * 8);
        putchar('\n');
        size_t equal = target == SN_HEAPFILE_NONE && typed.type == NULL ? equal_words(answer, i) : 0;
        if (equal > 1) {
            printf("    %s more words like it\n", number(equal));
            i += equal;
        }
    }
    if (answer->words.count > WORDS_SHOWN)
        printf("    and %s more words\n", number(answer->words.count - WORDS_SHOWN));
}

/* -------------------------------------------------------------------------- referrers */

/** "at offsets 8, 16 (to its inside)": pointers of one owner; returns the place of the next owner's. */
static size_t print_offsets(const sn_heapfile_answer *answer, const sn_heapfile_path *pointers, size_t first) {
    size_t end = first;
    sn_heapfile_typed typed = type_of(answer, pointers->items[first].owner, pointers->items[first].head);
    while (end < pointers->count && pointers->items[end].owner == pointers->items[first].owner)
        end++;
    printf(", at offset%s ", plural(end - first));
    for (size_t i = first; i < end && i < first + OFFSETS_SHOWN; i++) {
        const sn_heapfile_edge *edge = &pointers->items[i].edge;
        printf("%s%" PRIu64, i > first ? ", " : "", sn_heapfile_edge_offset(edge));
        print_member(&typed, sn_heapfile_edge_offset(edge));
        printf("%s", sn_heapfile_edge_is_inside(edge) ? " (to its inside)" : "");
    }
    if (end - first > OFFSETS_SHOWN)
        printf(", and %s more", number(end - first - OFFSETS_SHOWN));
    putchar('\n');
    return end;
}

static void print_referrers(const sn_heapfile_answer *answer, const sn_heapfile_referrers *referrers) {
    const sn_heapfile *file = answer->file;
    printf("\nReferrers of 0x%" PRIx64 ": %s\n", file->blocks.items[referrers->block].address, number(referrers->owners));
    size_t shown = 0;
    for (size_t i = 0; i < referrers->pointers.count && shown < REFERRERS_SHOWN; shown++) {
        uint32_t owner = referrers->pointers.items[i].owner;
        printf("  ");
        print_owner(file, owner);
        i = print_offsets(answer, &referrers->pointers, i);
        if (owner < file->blocks.count)
            print_stack(answer, owner, 4);
    }
    if (referrers->owners > shown)
        printf("  and %s more\n", number(referrers->owners - shown));
}

static const char *const ends[] = {
    [SN_HEAPFILE_CHAIN_NONE] = "nothing points to the last one", [SN_HEAPFILE_CHAIN_SEVERAL] = "several point to the last one",
    [SN_HEAPFILE_CHAIN_ROOT] = "a root holds the last one", [SN_HEAPFILE_CHAIN_LOOP] = "it goes round in a loop"};

/* ----------------------------------------------------------------------- other answers */

static void print_path(const sn_heapfile_answer *answer) {
    printf("\nWhy it is alive: ");
    if (answer->path.count == 0) {
        printf("%s\n", answer->file->has_roots ? "it is not, no root leads to it" : "not known, the file has no roots");
        return;
    }
    printf("%s pointer%s from a root\n", number(answer->path.count), plural(answer->path.count));
    for (size_t i = 0; i < answer->path.count; i++) {
        const sn_heapfile_step *step = &answer->path.items[i];
        printf("  ");
        print_owner(answer->file, step->owner);
        printf(", offset %" PRIu64, sn_heapfile_edge_offset(&step->edge));
        sn_heapfile_typed typed = type_of(answer, step->owner, step->head);
        print_member(&typed, sn_heapfile_edge_offset(&step->edge));
        printf("%s\n", sn_heapfile_edge_is_inside(&step->edge) ? ", points to the inside of" : ", points to");
        if (step->owner < answer->file->blocks.count)
            print_stack(answer, step->owner, 6);
    }
    printf("  ");
    print_owner(answer->file, answer->block);
    putchar('\n');
}

void sn_heapfile_answer_print_text(const sn_heapfile_answer *answer) {
    printf("sonde report: %s\n", answer->file->path);
    print_block(answer);
    print_words(answer);
    for (size_t i = 0; i < answer->referrers.count; i++)
        print_referrers(answer, &answer->referrers.items[i]);
    if (answer->question.follows_chain)
        printf("\nThe chain ends: %s\n", ends[answer->end]);
    if (answer->question.asks_why)
        print_path(answer);
    if (answer->question.asks_retained)
        printf("\nKept alive by it alone: %s block%s, %s bytes, itself included\n", number(answer->retained.blocks),
               plural(answer->retained.blocks), number(answer->retained.bytes));
    if ((answer->question.asks_why || answer->question.asks_retained) && answer->file->has_roots)
        printf("\nIt is %s\n", sn_heapfile_verdict_meanings[answer->verdict]);
}

/* --------------------------------------------------------- blocks that keep most alive */

typedef struct sorting {
    const sn_heapfile *file;
    const sn_heapfile_retained *retained;
} sorting;

static int by_retained(const void *left, const void *right, void *data) {
    const sorting *sorting = data;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const uint64_t *bytes = sorting->retained->bytes;
    if (bytes[a] != bytes[b])
        return bytes[a] > bytes[b] ? -1 : 1;
    const sn_heapfile_block *blocks = sorting->file->blocks.items;
    return (blocks[a].address > blocks[b].address) - (blocks[a].address < blocks[b].address);
}

static void print_retainer(const sn_heapfile *file, sn_heapfile_stacks *stacks, const sn_heapfile_retained *retained,
                           uint32_t block) {
    printf("\n%s bytes in %s block%s: ", number(retained->bytes[block]), number(retained->blocks[block]),
           plural(retained->blocks[block]));
    print_owner(file, block);
    putchar('\n');
    if (retained->dominators[block] != SN_HEAPFILE_NONE) {
        printf("  itself kept alive by ");
        print_owner(file, retained->dominators[block]);
        printf(" alone\n");
    }
    sn_heapfile_print_stack(stacks, sn_heapfile_stack_of(stacks, file, file->blocks.items[block].trace), 4);
}

static void write_retainer(sn_json *json, const sn_heapfile *file, sn_heapfile_stacks *stacks,
                           const sn_heapfile_retained *retained, uint32_t block) {
    uint32_t dominator = retained->dominators[block];
    sn_json_object(json, NULL);
    sn_heapfile_write_address(json, "address", file->blocks.items[block].address);
    sn_json_number(json, "blocks", retained->blocks[block]);
    sn_json_number(json, "bytes", retained->bytes[block]);
    if (dominator != SN_HEAPFILE_NONE)
        sn_heapfile_write_address(json, "dominator", file->blocks.items[dominator].address);
    else
        sn_json_string(json, "dominator", NULL);
    sn_heapfile_write_stack(json, "allocated_at", stacks, sn_heapfile_stack_of(stacks, file, file->blocks.items[block].trace));
    sn_json_close(json);
}

static void print_retainers(const sn_heapfile *file, sn_heapfile_stacks *stacks, const sn_heapfile_retained *retained,
                            const uint32_t *order, size_t count, bool is_json) {
    sn_json json;
    if (!is_json) {
        printf("sonde report: %s\n\nBlocks that keep the most alive, by them alone\n", file->path);
        for (size_t i = 0; i < count; i++)
            print_retainer(file, stacks, retained, order[i]);
        return;
    }
    sn_json_begin(&json, stdout);
    sn_json_object(&json, NULL);
    sn_json_string(&json, "kind", "heap retained");
    sn_json_array(&json, "blocks");
    for (size_t i = 0; i < count; i++)
        write_retainer(&json, file, stacks, retained, order[i]);
    sn_json_close(&json);
    sn_json_close(&json);
    sn_json_finish(&json);
}

void sn_heapfile_retained_print(const sn_heapfile *file, sn_heapfile_index *index, sn_heapfile_stacks *stacks,
                                size_t limit, bool is_json) {
    sn_heapfile_graph graph = sn_heapfile_graph_read(file, index);
    sn_heapfile_reach reach = sn_heapfile_reach_make(&graph);
    sn_heapfile_retained retained = sn_heapfile_retained_make(&graph, &reach);
    size_t count = file->blocks.count, bytes = (count + 1) * sizeof(uint32_t);
    uint32_t *order = sn_pages_allocate(bytes);
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    qsort_r(order, count, sizeof *order, by_retained, &(sorting){file, &retained});
    print_retainers(file, stacks, &retained, order, count < limit ? count : limit, is_json);
    sn_pages_release(order, bytes);
    sn_heapfile_retained_release(&retained);
    sn_heapfile_reach_release(&reach);
    sn_heapfile_graph_release(&graph);
}
