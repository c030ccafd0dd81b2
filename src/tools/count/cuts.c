/**
 * @fileoverview The table of cut passes: a hash table of fixed width with lists. See cuts.h. Called by thread.c.
 *
 * None of <sonde/collections.h>, since others read it while its owner adds: in lists, what is there stays in its place.
 */
#include "cuts.h"

#include <stdlib.h>

enum { LISTS = 1024 };

struct count_cut_table {
    count_cut *lists[LISTS];
};

static unsigned list_of(const count_record *record) {
    return (unsigned)(((uintptr_t)record >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 54) % LISTS;
}

static void *zeroed(size_t size) {
    void *memory = calloc(1, size);
    if (memory == NULL) {
        sn_fail(125, "count: out of memory");
    }
    return memory;
}

void count_cuts_add(count_cut_table **table, const count_record *record, unsigned completed, uint64_t passes) {
    if (*table == NULL) {
        __atomic_store_n(table, zeroed(sizeof **table), __ATOMIC_RELEASE);
    }
    count_cut **list = &(*table)->lists[list_of(record)];
    for (count_cut *cut = *list; cut != NULL; cut = cut->next) {
        if (cut->record == record && cut->completed == completed) {
            __atomic_store_n(&cut->passes, cut->passes + passes, __ATOMIC_RELAXED);
            return;
        }
    }
    count_cut *cut = zeroed(sizeof *cut);
    *cut = (count_cut){.next = *list, .record = record, .completed = completed, .passes = passes};
    __atomic_store_n(list, cut, __ATOMIC_RELEASE);
}

void count_cuts_merge(count_cut_table **table, const count_cut_table *from) {
    for (unsigned i = 0; from != NULL && i < LISTS; i++) {
        for (const count_cut *cut = __atomic_load_n(&from->lists[i], __ATOMIC_ACQUIRE); cut != NULL; cut = cut->next) {
            count_cuts_add(table, cut->record, cut->completed, __atomic_load_n(&cut->passes, __ATOMIC_RELAXED));
        }
    }
}

const count_cut *count_cuts_of(const count_cut_table *table, const count_record *record) {
    if (table == NULL) {
        return NULL;
    }
    const count_cut *cut = __atomic_load_n(&table->lists[list_of(record)], __ATOMIC_ACQUIRE);
    while (cut != NULL && cut->record != record) {
        cut = cut->next;
    }
    return cut;
}

void count_cuts_free(count_cut_table *table) {
    for (unsigned i = 0; table != NULL && i < LISTS; i++) {
        for (count_cut *cut = table->lists[i], *next; cut != NULL; cut = next) {
            next = cut->next;
            free(cut);
        }
    }
    free(table);
}
