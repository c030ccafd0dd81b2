/**
 * @fileoverview A tool for tests/test_collections.py: how often each function accesses each page, and which mapping that is in.
 *
 * All that it keeps is in <sonde/collections.h>: a reserved table that is filled in the code cache, sorted tables of mappings, an
 * index of functions by name, an arena for the texts.
 */
#include <inttypes.h>
#include <sonde/collections.h>
#include <sonde/tool.h>

enum { PAGE = 4096, MOST = 1 << 16 };

/** Accesses of an instruction to a page. */
typedef struct access_key {
    uint64_t instruction, page;
} access_key;

typedef struct access_entry {
    access_key key;
    uint64_t count;
} access_entry;

typedef SN_TABLE(access_entry) access_table;

typedef struct mapping {
    uint64_t start, end;
    const char *path;
} mapping;

typedef SN_VECTOR(mapping) mapping_list;

/** Of a function, by page. */
typedef struct row {
    uint64_t page, count;
} row;

typedef struct function {
    const char *name;
    SN_VECTOR(row) rows;
} function;

static access_table accesses;
static uint64_t lost;
static SN_VECTOR(function) functions;
static sn_index functions_by_name;
static sn_arena texts;

static void start(void) {
    if (!sn_table_reserve(&accesses, MOST))
        sn_fail(2, "collections: no address space");
}

SN_FAST static uint64_t note(uint64_t instruction, uint64_t address) {
    access_entry *entry = sn_table_insert_fast(&accesses, ((access_key){instruction, address / PAGE * PAGE}), NULL);
    if (entry)
        entry->count++;
    else
        lost++;
    return 0;
}

static void instrument(sn_block *block) {
    for (unsigned i = 0; i < sn_block_size(block); i++) {
        const sn_instruction *instruction = sn_block_instruction(block, i);
        unsigned count;
        const sn_operand *operands = sn_block_operands(block, i, &count);
        sn_insert_before(block, i);
        for (unsigned n = 0; n < count && !instruction->accesses_vary; n++) {
            if (operands[n].place != SN_PLACE_MEMORY || operands[n].role == SN_ROLE_ADDRESS)
                continue;
            sn_value arguments[] = {sn_constant(block, instruction->address), sn_operand_address(block, n)};
            sn_call_fast(block, (void *)note, 2, arguments);
        }
    }
}

static function *function_named(const char *name) {
    uint64_t hash = sn_hash_bytes(&name, sizeof name);
    uint32_t number;
    sn_index_each(&functions_by_name, hash, number) {
        if (functions.items[number].name == name)
            return &functions.items[number];
    }
    sn_index_add(&functions_by_name, hash, (uint32_t)functions.count);
    function *new = sn_vector_add(&functions);
    new->name = name;
    return new;
}

/** Rows of a page that is known already are added to. */
static void add(function *function, uint64_t page, uint64_t count) {
    row *known = sn_sorted_find(&function->rows, page, page);
    known = known ? known : sn_sorted_insert(&function->rows, page, page);
    known->count += count;
}

static void add_mapping(const sn_memory_range *range, void *data) {
    const char *path = range->path ? sn_arena_copy_string(&texts, range->path) : "";
    *sn_vector_add((mapping_list *)data) = (mapping){range->start, range->end, path};
}

typedef struct question {
    const mapping *wanted;
    unsigned right, wrong;
} question;

static void compare(const sn_memory_range *range, void *data) {
    question *of = data;
    if (range->start == of->wanted->start && range->end == of->wanted->end) of->right++;
    else of->wrong++;
}

/** A mapping is found by its first and its last byte, and by nothing else. */
static void check_finding(const mapping *wanted) {
    question of = {wanted, 0, 0};
    sn_memory_visit_within(wanted->start, wanted->start + 1, compare, &of);
    sn_memory_visit_within(wanted->end - 1, wanted->end, compare, &of);
    sn_memory_visit_within(wanted->start, wanted->start, compare, &of);
    if (of.right != 2 || of.wrong != 0) sn_fail(3, "the mapping at %#" PRIx64 " is not found", wanted->start);
}

static void end(void) {
    mapping_list mappings = {0};
    sn_memory_visit(add_mapping, &mappings);
    sn_sorted_sort(&mappings, start);
    for (size_t i = 0; i < mappings.count; i++) check_finding(&mappings.items[i]);
    if (!mappings.count) sn_fail(3, "there are no mappings");
    sn_table_each(&accesses, entry) {
        sn_location location;
        sn_locate(entry->key.instruction, &location);
        add(function_named(sn_intern(location.function ? location.function : "?")), entry->key.page, entry->count);
    }
    for (size_t i = 0; i < functions.count; i++)
        for (size_t k = 0; k < functions.items[i].rows.count; k++) {
            const row *row = &functions.items[i].rows.items[k];
            const mapping *mapping = sn_sorted_holding(&mappings, start, end, row->page);
            fprintf(sn_output(), "%s %#" PRIx64 " %" PRIu64 " %s\n", functions.items[i].name, row->page, row->count,
                    mapping ? mapping->path : "nowhere");
        }
    fprintf(sn_output(), "lost %" PRIu64 "\n", lost);
    sn_table_release(&accesses);
    sn_vector_release(&mappings);
    sn_index_release(&functions_by_name);
    sn_arena_release(&texts);
}

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE, .name = "collections", .version = "1", .description = "accesses by function and page",
    .start = start, .instrument = instrument, .end = end,
};
