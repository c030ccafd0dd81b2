/**
 * @fileoverview Sums executed instructions by function. See functions.h.
 *
 * Symbols are slow to look up. So the straight pieces of all blocks are sorted by address and gone through once: each
 * function is then looked up where it is first met and holds up to its end.
 */
#include "functions.h"

#include <sonde/sorted.h>
#include <stdlib.h>
#include <string.h>

/** Instructions of one block that lie one behind the other, with how often each was executed. */
typedef struct piece {
    uint64_t address;
    const count_record *record;
    uint32_t run;
} piece;

/** The state of the pass over the sorted pieces. */
typedef struct search {
    const count_summary *summary;
    count_function_list functions;
    size_t current;            /**< in `functions` */
    uint64_t start, end;       /**< addresses that belong to `current` */
    const piece *piece;
    uint64_t piece_end;
} search;

/** Entry for the code at `location`. Without a symbol, all code of a module has one entry. */
static size_t function_at(search *search, const sn_location *location) {
    for (size_t i = location->function == NULL ? 0 : search->functions.count; i < search->functions.count; i++) {
        const count_function *function = &search->functions.items[i];
        bool same_module = function->module == location->module ||
                           (function->module != NULL && location->module != NULL &&
                            strcmp(function->module, location->module) == 0);
        if (function->name == NULL && same_module) {
            return i;
        }
    }
    *sn_vector_add(&search->functions) = (count_function){
        .address = location->function_address,
        .name = location->function,
        .module = location->module,
    };
    return search->functions.count - 1;
}

static void enter_function(search *search, uint64_t address) {
    sn_location location = {0};
    if (!sn_locate(address, &location)) {
        location = (sn_location){0};
    }
    search->current = function_at(search, &location);
    search->start = address;
    search->end = search->piece_end; /* no symbol: look again at the next piece */
    if (location.function != NULL && address - location.function_address < location.function_size) {
        search->start = location.function_address;
        search->end = location.function_address + location.function_size;
    }
}

static uint32_t end_of_run(const piece *piece) {
    const count_record *record = piece->record;
    return piece->run + 1 < record->run_count ? record->runs[piece->run + 1].index : record->instruction_count;
}

static void add_instruction(const count_executed *executed, void *data) {
    search *search = data;
    const piece *piece = search->piece;
    if (executed->index < piece->record->runs[piece->run].index || executed->index >= end_of_run(piece) ||
        executed->steps == 0) {
        return;
    }
    if (executed->address < search->start || executed->address >= search->end) {
        enter_function(search, executed->address);
    }
    search->functions.items[search->current].instructions += executed->steps;
}

static void add_piece(search *search, const piece *piece) {
    search->piece = piece;
    search->piece_end = piece->address;
    for (uint32_t i = piece->record->runs[piece->run].index; i < end_of_run(piece); i++) {
        search->piece_end += piece->record->instructions[i] & COUNT_LENGTH_MASK;
    }
    count_summary_walk(search->summary, piece->record, add_instruction, search);
}

typedef SN_VECTOR(piece) piece_list;

/** The pieces of all blocks, by address. */
static piece_list sorted_pieces(void) {
    piece_list pieces = {0};
    for (const count_record *record = count_record_first(); record != NULL; record = record->next) {
        for (uint32_t run = 0; run < record->run_count; run++) {
            *sn_vector_add(&pieces) = (piece){.address = record->runs[run].address, .record = record, .run = run};
        }
    }
    sn_sorted_sort(&pieces, address);
    return pieces;
}

static int by_identity(const void *left, const void *right) {
    const count_function *a = left, *b = right;
    if (a->address != b->address) {
        return a->address > b->address ? 1 : -1;
    }
    return strcmp(a->name == NULL ? "" : a->name, b->name == NULL ? "" : b->name);
}

static int by_instructions(const void *left, const void *right) {
    const count_function *a = left, *b = right;
    if (a->instructions != b->instructions) {
        return a->instructions < b->instructions ? 1 : -1;
    }
    return by_identity(left, right);
}

/** A function that lies around another one was met twice: make one entry of the two. */
static size_t merge_duplicates(count_function *functions, size_t count) {
    size_t kept = 0;
    qsort(functions, count, sizeof *functions, by_identity);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && functions[i].name != NULL && by_identity(&functions[kept - 1], &functions[i]) == 0) {
            functions[kept - 1].instructions += functions[i].instructions;
        } else {
            functions[kept++] = functions[i];
        }
    }
    return kept;
}

/** Source files are slower still to find: only for what is listed. */
static void add_source(count_function *function) {
    sn_location location;
    if (function->name != NULL && sn_locate(function->address, &location)) {
        function->file = location.file;
        function->line = location.line;
    }
}

void count_functions_find(count_functions *functions, const count_summary *summary, uint64_t limit) {
    search search = {.summary = summary};
    piece_list pieces = sorted_pieces();
    for (size_t i = 0; i < pieces.count; i++) {
        add_piece(&search, &pieces.items[i]);
    }
    sn_vector_release(&pieces);
    *functions = (count_functions){.list = search.functions};
    if (search.functions.count == 0) {
        return;
    }
    functions->list.count = merge_duplicates(search.functions.items, search.functions.count);
    functions->listed = functions->list.count < limit ? functions->list.count : (size_t)limit;
    qsort(functions->list.items, functions->list.count, sizeof *functions->list.items, by_instructions);
    for (size_t i = 0; i < functions->listed; i++) {
        add_source(&functions->list.items[i]);
    }
}

void count_functions_free(count_functions *functions) {
    sn_vector_release(&functions->list);
}
