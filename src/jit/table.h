/**
 * @fileoverview A growing table in a reserved range: elements never move, so that readers need no lock.
 */
#ifndef SONDE_JIT_TABLE_H
#define SONDE_JIT_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/log.h"

typedef struct sn_table {
    uint8_t *memory;
    size_t element;
    size_t capacity;
    size_t count;
} sn_table;

static inline void sn_table_init(sn_table *table, size_t element, size_t capacity) {
    table->memory = mmap(NULL, element * capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                         -1, 0);
    if (table->memory == MAP_FAILED) sn_fail(SN_STATUS_ENGINE, "cannot reserve %zu bytes of address space", element * capacity);
    table->element = element;
    table->capacity = capacity;
    table->count = 0;
}

static inline size_t sn_table_add(sn_table *table, size_t elements) {
    size_t first = table->count;
    if (table->capacity - first < elements) sn_fail(SN_STATUS_ENGINE, "too much code: a table of the translator is full");
    table->count += elements;
    return first;
}

static inline void *sn_table_at(const sn_table *table, size_t number) {
    return table->memory + table->element * number;
}

/** Empty it and give its memory back. */
static inline void sn_table_clear(sn_table *table) {
    madvise(table->memory, table->element * table->count, MADV_DONTNEED);
    table->count = 0;
}

#endif
