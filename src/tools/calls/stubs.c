/**
 * @fileoverview Which call instruction calls which stub. See stubs.h.
 */
#include "stubs.h"

#include <stdlib.h>

/** A direct call, or the stub at `address`. */
typedef struct entry {
    uint64_t address;
    uint64_t target;
    const calls_record *stub;
} entry;

typedef struct entries {
    entry *items;
    size_t count, room;
} entries;

struct calls_stubs {
    entries calls, stubs;
};

static void add(entries *list, entry item) {
    if (list->count == list->room) {
        list->room = list->room == 0 ? 1024 : 2 * list->room;
        list->items = reallocarray(list->items, list->room, sizeof *list->items);
        if (list->items == NULL) {
            sn_fail(125, "calls: out of memory");
        }
    }
    list->items[list->count++] = item;
}

static int by_address(const void *left, const void *right) {
    const entry *a = left, *b = right;
    return (a->address > b->address) - (a->address < b->address);
}

static void sort(entries *list) {
    if (list->count > 0) {
        qsort(list->items, list->count, sizeof *list->items, by_address);
    }
}

static const entry *find(const entries *list, uint64_t address) {
    const entry wanted = {.address = address};
    return list->count == 0 ? NULL : bsearch(&wanted, list->items, list->count, sizeof wanted, by_address);
}

static bool is_call(const calls_instruction *instruction) {
    return (instruction->shape & CALLS_CALL) != 0;
}

calls_stubs *calls_stubs_find(void) {
    calls_stubs *stubs = calloc(1, sizeof *stubs);
    if (stubs == NULL) {
        sn_fail(125, "calls: out of memory");
    }
    for (const calls_record *record = calls_record_first(); record != NULL; record = record->next) {
        /* Calls end blocks. */
        const calls_instruction *last = &record->instructions[record->instruction_count - 1];
        if (record->stub_size > 0) {
            add(&stubs->stubs, (entry){.address = record->instructions[0].address, .stub = record});
        } else if (is_call(last)) {
            add(&stubs->calls, (entry){.address = last->address, .target = last->target});
        }
    }
    sort(&stubs->calls);
    sort(&stubs->stubs);
    return stubs;
}

void calls_stubs_free(calls_stubs *stubs) {
    free(stubs->calls.items);
    free(stubs->stubs.items);
    free(stubs);
}

const calls_record *calls_stub_of(const calls_stubs *stubs, uint64_t site) {
    const entry *call = find(&stubs->calls, site);
    const entry *stub = call == NULL ? NULL : find(&stubs->stubs, call->target);
    return stub == NULL ? NULL : stub->stub;
}
