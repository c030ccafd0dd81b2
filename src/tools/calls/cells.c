/**
 * @fileoverview The table of counts in contexts. See cells.h.
 */
#include "cells.h"

#define MOST_CELLS (UINT64_C(1) << 26)

bool calls_cells_init(calls_cells *cells) {
    return sn_table_reserve(cells, MOST_CELLS);
}

void calls_cells_release(calls_cells *cells) {
    sn_table_release(cells);
}

SN_FAST void calls_cells_count(calls_cells *cells, uint32_t context, sn_counter counter, uint64_t amount) {
    calls_cell *cell = sn_table_insert_fast(cells, (uint64_t)context << 32 | counter, NULL);
    if (cell != NULL) {
        cell->count += amount;
    } else {
        cells->entries[0].count += amount;
    }
}

void calls_cells_clear(calls_cells *cells) {
    sn_table_each(cells, cell) {
        cell->count = 0;
    }
}

void calls_cells_add(calls_cells *to, const calls_cells *from) {
    calls_cells seen = sn_table_view(from);
    sn_table_prepare(to, sn_table_count(&seen));
    sn_table_each(&seen, cell) {
        if (cell->count != 0) {
            calls_cells_count(to, calls_cell_context(cell), calls_cell_counter(cell), cell->count);
        }
    }
}
