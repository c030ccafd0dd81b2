/**
 * @fileoverview The search for leaks. See leaks.h.
 *
 * A live block is reachable if a pointer to its start is in the program's memory outside of the heap, in a register, or in a
 * reachable block; possibly lost if only pointers into it, or from such blocks, are found; else lost: directly, or, if a lost
 * block points to it, indirectly, with that one. Kinds, heuristics and sentences are Valgrind's (its manual, 4.2.8 and 4.3).
 * Everything is read while the program's threads stand still.
 */
#include "leaks.h"

#include <stdlib.h>
#include <string.h>

#include "address.h"
#include "blocks.h"
#include "leak_memory.h"
#include "report.h"

/** mc_block.mark: MC_LEAK_KINDS stands for a block that was not reached yet. */
#define UNREACHED MC_LEAK_KINDS


/** A search in progress. */
typedef struct search {
    mc_block **blocks; /**< by address, all live ones */
    size_t count, room;
    mc_block **custom; /**< those of them that are not in the heap, by address */
    size_t custom_count, custom_room;
    mc_block **todo;   /**< whose contents are to be looked at */
    size_t todo_count, todo_room;
    uint64_t checked;  /**< bytes */
    mc_leak_kind as;   /**< what is found now is at least as well reached as */
} search;

/** Leaks that were allocated at one place. */
typedef struct record {
    mc_leak_kind kind;
    const mc_stack *stack;
    uint64_t bytes, indirect_bytes, blocks;
    uint64_t bytes_before, blocks_before; /**< at the search before */
} record;

typedef struct record_list {
    record *items;
    size_t count, room;
} record_list;

static record_list before; /* what the last search found */
static mc_leak_totals totals;

const mc_leak_totals *mc_leaks_found(void) { return &totals; }

/* ---------------------------------------------------------------------------------------------------- pointers */

static mc_block *custom_holding(const search *in, uint64_t address) {
    size_t low = 0, high = in->custom_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (in->custom[middle]->address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    mc_block *block = low != 0 ? in->custom[low - 1] : NULL;
    return block != NULL && address - block->address < block->size + (block->size == 0) ? block : NULL;
}

static mc_block *block_holding(const search *in, uint64_t address) {
    mc_block *custom = in->custom_count != 0 ? custom_holding(in, address) : NULL;
    return custom != NULL ? custom : mc_block_holding(address);
}

/** Whether a pointer into a block is as good as one to its start. */
static bool stands_for_start(const mc_block *block, uint64_t pointer) {
    uint64_t words[2], offset = pointer - block->address;
    if (offset == 0) {
        return true;
    }
    if (mc_current.heuristics == 0 || !mc_leak_read(block->address, words, block->size < 16 ? 8 : 16)) {
        return false;
    }
    unsigned which = mc_current.heuristics;
    if ((which & MC_STDSTRING) && offset == 24 && block->size > 24 && words[0] <= words[1] && words[1] == block->size - 25) {
        return true; /* length, capacity, references, characters and a NUL: libstdc++ before its ABI of 2011 */
    }
    if ((which & MC_LENGTH64) && offset == 8 && words[0] != 0 && words[0] == block->size - 8) {
        return true;
    }
    if ((which & MC_NEWARRAY) && offset == 8 && block->kind == MC_NEW_ARRAY && words[0] != 0 && (block->size - 8) % words[0] == 0) {
        return true; /* the number of elements, for the destructor: Itanium C++ ABI 2.7 */
    }
    uint64_t inner;
    return (which & MC_MULTIPLE_INHERITANCE) && offset % 8 == 0 && mc_leak_is_vtable(words[0]) &&
           mc_leak_read(pointer, &inner, 8) && mc_leak_is_vtable(inner);
}

static void note_todo(search *in, mc_block *block) {
    mc_grow(&in->todo, &in->todo_room, in->todo_count + 1, sizeof *in->todo);
    in->todo[in->todo_count++] = block;
}

/** A word was found that may be a pointer, in memory that is reached as in->as says. */
static void follow(search *in, uint64_t word) {
    mc_block *block = block_holding(in, word);
    if (block == NULL || block->mark == MC_REACHABLE) {
        return;
    }
    mc_leak_kind as = in->as == MC_REACHABLE && stands_for_start(block, word) ? MC_REACHABLE : MC_POSSIBLE;
    if (block->mark == UNREACHED || as < block->mark) {
        block->mark = (uint8_t)as;
        note_todo(in, block);
    }
}

static void follow_words(const uint64_t *words, size_t count, void *data) {
    search *in = data;
    in->checked += count * sizeof *words;
    for (size_t i = 0; i < count; i++) {
        if (words[i] >= 4096) {
            follow(in, words[i]);
        }
    }
}

static void follow_todo(search *in) {
    while (in->todo_count != 0) {
        const mc_block *block = in->todo[--in->todo_count];
        in->as = block->mark;
        mc_leak_visit_words(block->address, block->address + block->size, follow_words, in);
    }
}

/* ------------------------------------------------------------------------------------------------------- groups */

/*
 * Blocks that are left are lost. Each leads a group of those that it points to; if it is pointed to itself by a block of another
 * group, its group becomes part of that one.
 */
typedef struct grouping {
    search *in;
    mc_block *leader;
    mc_block **leaders; /**< by the block's position in in->blocks */
} grouping;

static size_t position_of(const search *in, const mc_block *block) {
    size_t low = 0, high = in->count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (in->blocks[middle]->address <= block->address) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static void join_words(const uint64_t *words, size_t count, void *data) {
    grouping *of = data;
    for (size_t i = 0; i < count; i++) {
        mc_block *block = words[i] >= 4096 ? block_holding(of->in, words[i]) : NULL;
        if (block == NULL || block == of->leader) {
            continue;
        }
        if (block->mark == UNREACHED) {
            block->mark = MC_INDIRECT;
            of->leaders[position_of(of->in, block)] = of->leader;
            note_todo(of->in, block);
        } else if (block->mark == MC_DEFINITE) { /* it led a group, which is part of this one now */
            block->mark = MC_INDIRECT;
            of->leaders[position_of(of->in, block)] = of->leader;
        }
    }
}

static mc_block *leader_of(const grouping *of, mc_block *block) {
    while (block->mark == MC_INDIRECT) {
        block = of->leaders[position_of(of->in, block)];
    }
    return block;
}

static void make_groups(grouping *of) {
    search *in = of->in;
    for (size_t i = 0; i < in->count; i++) {
        if (in->blocks[i]->mark != UNREACHED) {
            continue;
        }
        of->leader = in->blocks[i];
        of->leader->mark = MC_DEFINITE;
        note_todo(in, of->leader);
        while (in->todo_count != 0) {
            const mc_block *block = in->todo[--in->todo_count];
            mc_leak_visit_words(block->address, block->address + block->size, join_words, of);
        }
    }
}

/* ------------------------------------------------------------------------------------------------------ records */

static unsigned compared_addresses(void) {
    static const unsigned addresses[] = {2, 4, MC_MOST_CALLERS}; /* --leak-resolution=low|med|high */
    return addresses[mc_current.leak_resolution];
}

static record *find_record(record_list *in, mc_leak_kind kind, const mc_stack *stack) {
    for (size_t i = 0; i < in->count; i++) {
        if (in->items[i].kind == kind && mc_stacks_agree(in->items[i].stack, stack, compared_addresses())) {
            return &in->items[i];
        }
    }
    return NULL;
}

/** Blocks by how they are reached and where they were allocated: then each pair needs one look at the records. */
static int by_kind_and_context(const void *left, const void *right) {
    const mc_block *a = *(mc_block *const *)left, *b = *(mc_block *const *)right;
    if (a->mark != b->mark) {
        return a->mark < b->mark ? -1 : 1;
    }
    if (a->allocated != b->allocated || a->kind != MC_CUSTOM || b->kind != MC_CUSTOM) {
        return a->allocated < b->allocated ? -1 : a->allocated > b->allocated;
    }
    return a < b ? -1 : a > b; /* these may come from several places in one function */
}

static void add_records(record_list *to, mc_block **blocks, size_t count, const uint64_t *indirect, const search *in) {
    record *at = NULL;
    for (size_t i = 0; i < count; i++) {
        const mc_block *block = blocks[i];
        if (i == 0 || by_kind_and_context(&blocks[i - 1], &blocks[i]) != 0) {
            const mc_stack *stack = mc_allocation_stack(block);
            at = find_record(to, block->mark, stack);
            if (at == NULL) {
                mc_grow(&to->items, &to->room, to->count + 1, sizeof *to->items);
                at = &to->items[to->count++];
                *at = (record){.kind = block->mark, .stack = stack};
            }
        }
        at->bytes += block->size;
        at->blocks++;
        at->indirect_bytes += indirect[position_of(in, block)];
    }
}

static int by_size(const void *left, const void *right) {
    const record *a = left, *b = right;
    uint64_t size_a = a->bytes + a->indirect_bytes, size_b = b->bytes + b->indirect_bytes;
    if (size_a != size_b) {
        return size_a < size_b ? -1 : 1;
    }
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    return a->blocks < b->blocks ? -1 : a->blocks > b->blocks;
}

static char *difference(uint64_t now, uint64_t then, mc_leak_compare compare) {
    if (compare == MC_LEAKS_ALL || now == then) {
        return mc_text("%s", "");
    }
    return now > then ? mc_text(" (+%s)", mc_number(now - then)) : mc_text(" (-%s)", mc_number(then - now));
}

static char *describe(const record *leak, size_t number, size_t count, mc_leak_compare compare) {
    static const char *const kinds[] = {"still reachable", "possibly lost", "indirectly lost", "definitely lost"};
    uint64_t all = leak->bytes + leak->indirect_bytes;
    char *more = difference(leak->bytes, leak->bytes_before, compare), *more_blocks = difference(leak->blocks, leak->blocks_before, compare);
    char *direct = leak->indirect_bytes != 0 ? mc_text(" (%s direct, %s indirect)", mc_number(leak->bytes), mc_number(leak->indirect_bytes))
                                             : mc_text("%s", "");
    char *text = mc_text("%s%s%s bytes in %s%s blocks are %s in loss record %s of %s", mc_number(all), more, direct,
                         mc_number(leak->blocks), more_blocks, kinds[leak->kind], mc_number(number), mc_number(count));
    free(more);
    free(more_blocks);
    free(direct);
    return text;
}

static bool is_wanted(const record *leak, mc_leak_compare compare) {
    switch (compare) {
    case MC_LEAKS_INCREASED:
        return leak->bytes > leak->bytes_before || leak->blocks > leak->blocks_before;
    case MC_LEAKS_CHANGED:
        return leak->bytes != leak->bytes_before || leak->blocks != leak->blocks_before;
    default:
        return true;
    }
}

static void report_records(sn_thread *thread, const record_list *list, mc_leak_check how, mc_leak_compare compare) {
    for (size_t i = 0; i < list->count; i++) {
        const record *leak = &list->items[i];
        unsigned bit = 1u << leak->kind;
        bool is_shown = how == MC_LEAKS_FULL && (mc_current.shown_leaks & bit) && is_wanted(leak, compare);
        bool is_counted = how == MC_LEAKS_FULL && (mc_current.counted_leaks & bit) && is_wanted(leak, compare);
        mc_finding finding = {.kind = MC_LEAK_REACHABLE + leak->kind, .size = leak->bytes + leak->indirect_bytes, .blocks = leak->blocks,
                              .what = describe(leak, i + 1, list->count, compare), .stack = leak->stack, .is_shown = is_shown,
                              .is_counted = is_counted};
        if (mc_report_is_suppressed(&finding)) {
            totals.suppressed_bytes += leak->bytes;
            totals.suppressed_blocks += leak->blocks;
        } else {
            totals.bytes[leak->kind] += leak->bytes;
            totals.blocks[leak->kind] += leak->blocks;
        }
        mc_report(thread, &finding);
    }
}

static void print_summary(const mc_leak_totals *then, mc_leak_check how, mc_leak_compare compare) {
    static const struct {
        mc_leak_kind kind;
        const char *text;
    } lines[] = {{MC_DEFINITE, "   definitely lost"}, {MC_INDIRECT, "   indirectly lost"}, {MC_POSSIBLE, "     possibly lost"},
                 {MC_REACHABLE, "   still reachable"}};
    mc_line("LEAK SUMMARY:");
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        mc_leak_kind kind = lines[i].kind;
        char *more = difference(totals.bytes[kind], then->bytes[kind], compare);
        char *more_blocks = difference(totals.blocks[kind], then->blocks[kind], compare);
        mc_line("%s: %s%s bytes in %s%s blocks", lines[i].text, mc_number(totals.bytes[kind]), more, mc_number(totals.blocks[kind]),
                more_blocks);
        free(more);
        free(more_blocks);
    }
    mc_line("        suppressed: %s bytes in %s blocks", mc_number(totals.suppressed_bytes), mc_number(totals.suppressed_blocks));
    unsigned hidden = ~mc_current.shown_leaks;
    if (how != MC_LEAKS_FULL) {
        mc_line("Rerun with --leak-check=full to see details of leaked memory");
    } else if ((hidden >> MC_REACHABLE & 1) && totals.blocks[MC_REACHABLE] != 0) {
        mc_line("Reachable blocks (those to which a pointer was found) are not shown.");
        mc_line("To see them, rerun with: --leak-check=full --show-leak-kinds=all");
    }
    mc_line(NULL);
}

/* ------------------------------------------------------------------------------------------------------- search */

static void note_block(mc_block *block, void *data) {
    search *in = data;
    if (block->is_superblock) {
        return;
    }
    mc_grow(&in->blocks, &in->room, in->count + 1, sizeof *in->blocks);
    in->blocks[in->count++] = block;
    block->mark = UNREACHED;
    if (block->kind == MC_CUSTOM) {
        mc_grow(&in->custom, &in->custom_room, in->custom_count + 1, sizeof *in->custom);
        in->custom[in->custom_count++] = block;
    }
}

static int by_address(const void *left, const void *right) {
    const mc_block *a = *(mc_block *const *)left, *b = *(mc_block *const *)right;
    return a->address < b->address ? -1 : a->address > b->address;
}

/** A block of the heap in which the program has told of others is their memory, and no block. */
static void drop_pools(search *in) {
    size_t kept = 0;
    for (size_t i = 0; i < in->count; i++) {
        mc_block *block = in->blocks[i];
        bool holds_others = false;
        for (size_t k = i + 1; block->kind != MC_CUSTOM && k < in->count && in->blocks[k]->address < block->address + block->size; k++) {
            holds_others |= in->blocks[k]->kind == MC_CUSTOM;
        }
        if (holds_others) {
            block->mark = MC_REACHABLE;
        } else {
            in->blocks[kept++] = block;
        }
    }
    in->count = kept;
}

typedef struct wanted_search {
    search in;
    record_list records;
} wanted_search;

/** While the program stands still. */
static void search_now(void *data) {
    wanted_search *want = data;
    search *in = &want->in;
    mc_blocks_visit(MC_BLOCK_LIVE, note_block, in);
    if (in->count == 0) {
        return;
    }
    qsort(in->blocks, in->count, sizeof *in->blocks, by_address);
    if (in->custom_count != 0) {
        qsort(in->custom, in->custom_count, sizeof *in->custom, by_address);
        drop_pools(in);
    }
    in->as = MC_REACHABLE;
    mc_leak_visit_roots(follow_words, in);
    follow_todo(in);
    grouping groups = {.in = in, .leaders = calloc(in->count + 1, sizeof *groups.leaders)};
    uint64_t *indirect = calloc(in->count + 1, sizeof *indirect);
    mc_block **sorted = malloc((in->count + 1) * sizeof *sorted);
    if (groups.leaders == NULL || indirect == NULL || sorted == NULL) {
        sn_fail(125, "memcheck: out of memory");
    }
    make_groups(&groups);
    for (size_t i = 0; i < in->count; i++) {
        if (in->blocks[i]->mark == MC_INDIRECT) {
            indirect[position_of(in, leader_of(&groups, in->blocks[i]))] += in->blocks[i]->size;
        }
    }
    memcpy(sorted, in->blocks, in->count * sizeof *sorted);
    qsort(sorted, in->count, sizeof *sorted, by_kind_and_context);
    add_records(&want->records, sorted, in->count, indirect, in);
    free(groups.leaders);
    free(indirect);
    free(sorted);
}

static void compare_with_before(record_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        const record *then = find_record(&before, list->items[i].kind, list->items[i].stack);
        list->items[i].bytes_before = then != NULL ? then->bytes : 0;
        list->items[i].blocks_before = then != NULL ? then->blocks : 0;
    }
    free(before.items);
    before = *list;
}

void mc_leaks_search(sn_thread *thread, mc_leak_check how, mc_leak_compare compare) {
    wanted_search want = {0};
    sn_while_still(search_now, &want);
    mc_leak_totals then = totals;
    totals = (mc_leak_totals){0};
    if (want.in.count == 0) {
        mc_line("All heap blocks were freed -- no leaks are possible");
        mc_line(NULL);
    } else {
        if (sn_verbosity() > 0) {
            mc_line("Searching for pointers to %s not-freed blocks", mc_number(want.in.count));
            mc_line("Checked %s bytes", mc_number(want.in.checked));
            mc_line(NULL);
        }
        qsort(want.records.items, want.records.count, sizeof *want.records.items, by_size);
    }
    compare_with_before(&want.records);
    report_records(thread, &before, how, compare);
    if (want.in.count != 0) {
        print_summary(&then, how, compare);
    }
    free(want.in.blocks);
    free(want.in.custom);
    free(want.in.todo);
}
