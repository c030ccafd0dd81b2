/**
 * @fileoverview Cells. See cells.h. All that runs in the code cache is SN_FAST.
 *
 * The table that finds them is none of <sonde/collections.h>: it is read without a lock while another thread adds to it, which is
 * what a program that allocates in several threads does all the time.
 */
#include "cells.h"

#include <sys/mman.h>

heap_cell *heap_cells;
static uint32_t cell_count = 1;
static uint32_t *table;  /**< open addressing: numbers of cells; behind it is room for its successors */
static uint64_t table_mask;
static uint32_t *next_table;
static uint32_t table_lock; /**< spins */
uint64_t heap_cells_epoch;

bool heap_is_shared;

static void *reserve(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        sn_fail(125, "heap: no address space: see vm.overcommit_memory");
    }
    madvise(memory, size, MADV_NOHUGEPAGE);
    return memory;
}

void heap_cells_init(void) {
    enum { FIRST_TABLE = 1 << 14 };
    heap_cells = reserve(HEAP_MOST_CELLS * sizeof *heap_cells);
    table = reserve(UINT64_C(4) * HEAP_MOST_CELLS * sizeof *table);
    table_mask = FIRST_TABLE - 1;
    next_table = table + FIRST_TABLE;
}

void heap_cells_unlock(void) {
    table_lock = 0;
    for (uint32_t number = 1; number <= heap_cell_count(); number++) {
        heap_cells[number].lock = 0;
    }
}

/* ---------------------------------------------------------------------------------------- in the code cache */

SN_FAST static uint64_t hash_of(sn_context context, uint64_t requested, uint64_t slop) {
    uint64_t key = (requested << 20 ^ slop << 50 ^ context) * UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 29;
}

SN_FAST static bool is_of(const heap_cell *cell, sn_context context, uint64_t requested, uint64_t slop) {
    return cell->context == context && cell->requested == requested && cell->slop == slop;
}

/** The table may be replaced while it is read; what is found is right all the same, since cells are compared and stay. */
SN_FAST static uint32_t find_unlocked(sn_context context, uint64_t requested, uint64_t slop) {
    enum { MOST_PROBES = 32 };
    const uint32_t *in = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
    uint64_t mask = __atomic_load_n(&table_mask, __ATOMIC_RELAXED), at = hash_of(context, requested, slop);
    for (unsigned probes = 0; probes < MOST_PROBES; probes++, at++) {
        uint32_t number = __atomic_load_n(&in[at & mask], __ATOMIC_ACQUIRE);
        if (number == 0 || is_of(&heap_cells[number], context, requested, slop)) {
            return number;
        }
    }
    return 0;
}

SN_FAST static uint32_t *place_of(sn_context context, uint64_t requested, uint64_t slop) {
    for (uint64_t at = hash_of(context, requested, slop);; at++) {
        uint32_t *place = &table[at & table_mask];
        if (*place == 0 || is_of(&heap_cells[*place], context, requested, slop)) {
            return place;
        }
    }
}

SN_FAST static void grow(void) {
    uint64_t room = 2 * (table_mask + 1);
    table_mask = room - 1;
    __atomic_store_n(&table, next_table, __ATOMIC_RELEASE);
    next_table += room;
    for (uint32_t number = 1; number < cell_count; number++) {
        *place_of(heap_cells[number].context, heap_cells[number].requested, heap_cells[number].slop) = number;
    }
}

/** The last cell takes what there is no room for. */
SN_FAST static uint32_t find_or_make(sn_context context, uint64_t requested, uint64_t slop) {
    sn_spin_acquire(&table_lock);
    uint32_t *place = place_of(context, requested, slop), number = *place;
    if (number == 0 && cell_count < HEAP_MOST_CELLS) {
        number = cell_count;
        heap_cells[number].context = context;
        heap_cells[number].requested = requested;
        heap_cells[number].slop = slop;
        __atomic_store_n(&cell_count, number + 1, __ATOMIC_RELEASE);
        __atomic_store_n(place, number, __ATOMIC_RELEASE);
        if (cell_count > table_mask / 2) {
            grow();
        }
    }
    sn_spin_release(&table_lock);
    return number != 0 ? number : HEAP_MOST_CELLS - 1;
}

SN_FAST heap_cell *heap_cell_of_size(sn_context context, uint64_t requested, uint64_t slop) {
    uint32_t number = find_unlocked(context, requested, slop);
    return heap_cell_at(number != 0 ? number : find_or_make(context, requested, slop));
}

/* ------------------------------------------------------------------------------------------------ in the engine */

uint32_t heap_cell_count(void) {
    if (!heap_current.is_by_site) {
        return __atomic_load_n(&cell_count, __ATOMIC_ACQUIRE) - 1;
    }
    sn_context contexts = sn_context_count();
    return contexts < HEAP_MOST_CELLS ? contexts : HEAP_MOST_CELLS - 1;
}

heap_amount heap_cell_peak(const heap_cell *cell) {
    return cell->epoch == __atomic_load_n(&heap_cells_epoch, __ATOMIC_ACQUIRE) ? cell->peak : cell->live;
}
