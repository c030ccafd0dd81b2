/**
 * @fileoverview Rows, found by hashes, and their order. See rows.h.
 */
#include "rows.h"

#include <stdlib.h>
#include <string.h>

#include <sonde/tool.h>

static void *checked(void *memory) {
    if (memory == NULL) {
        sn_fail(125, "calls: out of memory");
    }
    return memory;
}

/* -------------------------------------------------------------------------------- finding */

static bool is_same_place(const calls_place *a, const calls_place *b) {
    return a->function == b->function && a->file == b->file && a->line == b->line;
}

static bool is_same(const calls_row_key *a, const calls_row_key *b) {
    return is_same_place(&a->place, &b->place) && is_same_place(&a->target, &b->target) && a->address == b->address &&
           a->target_address == b->target_address && a->kind == b->kind;
}

static uint64_t hash_of(const calls_row_key *key) {
    uint64_t hash = sn_hash_combine(key->kind, (uintptr_t)key->place.function);
    hash = sn_hash_combine(hash, key->place.line ^ (uintptr_t)key->place.file << 1);
    hash = sn_hash_combine(hash, key->address);
    hash = sn_hash_combine(hash, (uintptr_t)key->target.function ^ (uint64_t)key->target.line << 40);
    return sn_hash_combine(hash, key->target_address);
}

/** Costs of rows, zeros at first. */
typedef struct calls_costs {
    struct calls_costs *next;
    size_t used;
    uint64_t values[1 << 13];
} calls_costs;

static uint64_t *new_costs(calls_rows *rows) {
    const size_t room = sizeof rows->costs->values / sizeof *rows->costs->values;
    if (rows->costs == NULL || room - rows->costs->used < rows->event_count) {
        calls_costs *piece = checked(calloc(1, sizeof *piece));
        piece->next = rows->costs;
        rows->costs = piece;
    }
    rows->costs->used += rows->event_count;
    return rows->costs->values + rows->costs->used - rows->event_count;
}

calls_row *calls_rows_find(calls_rows *rows, const calls_row_key *key) {
    uint64_t hash = hash_of(key);
    uint32_t number;
    sn_index_each(&rows->index, hash, number) {
        if (is_same(&rows->list.items[number].key, key)) {
            return &rows->list.items[number];
        }
    }
    sn_index_add(&rows->index, hash, (uint32_t)rows->list.count);
    calls_row *row = sn_vector_add(&rows->list);
    *row = (calls_row){.key = *key, .costs = new_costs(rows)};
    return row;
}

/* ---------------------------------------------------------------------------------- order */

static int compare(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

static int compare_names(const char *a, const char *b) {
    return a == b ? 0 : a == NULL ? -1 : b == NULL ? 1 : strcmp(a, b);
}

static int by_place(const void *left, const void *right) {
    const calls_row_key *a = &((const calls_row *)left)->key, *b = &((const calls_row *)right)->key;
    int order = compare(a->place.function->number, b->place.function->number);
    order = order != 0 ? order : compare(a->address, b->address);
    order = order != 0 ? order : compare_names(a->place.file, b->place.file);
    order = order != 0 ? order : compare(a->place.line, b->place.line);
    order = order != 0 ? order : compare(a->kind, b->kind);
    if (order != 0 || a->kind == CALLS_ROW_SELF) {
        return order;
    }
    order = compare(a->target.function->number, b->target.function->number);
    order = order != 0 ? order : compare(a->target.line, b->target.line);
    return order != 0 ? order : compare(a->target_address, b->target_address);
}

static bool says_nothing(const calls_rows *rows, const calls_row *row) {
    uint64_t all = row->count;
    for (unsigned event = 0; event < rows->event_count; event++) {
        all |= row->costs[event];
    }
    return all == 0;
}

void calls_rows_sort(calls_rows *rows) {
    size_t kept = 0;
    sn_index_release(&rows->index);
    for (size_t i = 0; i < rows->list.count; i++) {
        if (!says_nothing(rows, &rows->list.items[i])) {
            rows->list.items[kept++] = rows->list.items[i];
        }
    }
    rows->list.count = kept;
    if (kept > 0) {
        qsort(rows->list.items, kept, sizeof *rows->list.items, by_place);
    }
}

void calls_rows_free(calls_rows *rows) {
    sn_vector_release(&rows->list);
    sn_index_release(&rows->index);
    for (calls_costs *piece = rows->costs, *next; piece != NULL; piece = next) {
        next = piece->next;
        free(piece);
    }
    *rows = (calls_rows){0};
}
