/**
 * @fileoverview The table of counts in contexts. See cells.h.
 */
#include "cells.h"

#include <sys/mman.h>

#define FIRST_ROOM (UINT64_C(1) << 14)
#define LAST_ROOM (UINT64_C(1) << 27)

static size_t reserved_bytes(void) {
    return 2 * LAST_ROOM * sizeof(calls_cell);
}

bool calls_cells_init(calls_cells *cells) {
    void *memory = mmap(NULL, reserved_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return false;
    }
    *cells = (calls_cells){.table = memory, .reserved = memory, .mask = FIRST_ROOM - 1};
    cells->next = cells->table + FIRST_ROOM;
    return true;
}

void calls_cells_release(calls_cells *cells) {
    if (cells->reserved != NULL) {
        munmap(cells->reserved, reserved_bytes());
    }
    *cells = (calls_cells){0};
}

SN_FAST static calls_cell *place_of(const calls_cells *cells, uint64_t key) {
    uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
    for (uint64_t at = hash ^ hash >> 32;; at++) {
        calls_cell *cell = &cells->table[at & cells->mask];
        if (cell->key == key || cell->key == 0) {
            return cell;
        }
    }
}

/** The old table stays where it is: space is reserved for all of them. */
SN_FAST static void grow(calls_cells *cells) {
    const calls_cell *old = cells->table;
    uint64_t old_room = cells->mask + 1;
    cells->table = cells->next;
    cells->mask = 2 * old_room - 1;
    cells->next = 2 * old_room == LAST_ROOM ? NULL : cells->table + 2 * old_room;
    for (uint64_t i = 0; i < old_room; i++) {
        if (old[i].key != 0) {
            *place_of(cells, old[i].key) = old[i];
        }
    }
}

SN_FAST void calls_cells_count(calls_cells *cells, uint32_t context, sn_counter counter, uint64_t amount) {
    uint64_t key = ((uint64_t)context << 32 | counter) + 1;
    calls_cell *cell = place_of(cells, key);
    if (cell->key == 0) {
        if (cells->count > cells->mask / 2 && cells->next != NULL) {
            grow(cells);
            cell = place_of(cells, key);
        } else if (cells->count > cells->mask - cells->mask / 8) {
            cells->table[0].count += amount;
            return;
        }
        cells->count++;
        cell->key = key;
    }
    cell->count += amount;
}

void calls_cells_clear(calls_cells *cells) {
    for (uint64_t i = 0; cells->table != NULL && i <= cells->mask; i++) {
        cells->table[i].count = 0;
    }
}

void calls_cells_add(calls_cells *to, const calls_cells *from) {
    for (uint64_t i = 0; from->table != NULL && i <= from->mask; i++) {
        const calls_cell *cell = &from->table[i];
        if (cell->count != 0) {
            calls_cells_count(to, calls_cell_context(cell), calls_cell_counter(cell), cell->count);
        }
    }
}
