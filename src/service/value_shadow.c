/**
 * @fileoverview Shadow pages of one thread: see <sonde/value_shadow.h>.
 */
#include "sonde/value_shadow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"

enum { CHUNK_PAGES = 64 };

static void *checked(void *memory) {
    if (!memory) sn_fail(SN_STATUS_ENGINE, "no memory for what is known of the program's memory");
    return memory;
}

void sn_value_shadow_begin(sn_value_shadow *shadow, size_t page_size) {
    memset(shadow, 0, sizeof *shadow);
    shadow->page_size = (page_size + 63) & ~(size_t)63;
}

void sn_value_shadow_end(sn_value_shadow *shadow) {
    for (size_t i = 0; i < shadow->chunks.count; i++) munmap(shadow->chunks.items[i], CHUNK_PAGES * shadow->page_size);
    sn_vector_release(&shadow->chunks);
    sn_table_release(&shadow->pages);
    memset(shadow, 0, sizeof *shadow);
}

/** Fresh pages come from the kernel, which gives them memory when they are touched. */
static void *new_page(sn_value_shadow *shadow) {
    if (!shadow->chunk_left) {
        size_t size = CHUNK_PAGES * shadow->page_size;
        void *chunk = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        shadow->chunk = *sn_vector_add(&shadow->chunks) = checked(chunk == MAP_FAILED ? NULL : chunk);
        shadow->chunk_left = CHUNK_PAGES;
    }
    void *page = shadow->chunk;
    shadow->chunk += shadow->page_size;
    shadow->chunk_left--;
    return page;
}

void *sn_value_shadow_make(sn_value_shadow *shadow, uint64_t address) {
    uint64_t number = address / SN_VALUE_SHADOW_PAGE + 1;
    bool is_new;
    sn_value_shadow_entry *entry = sn_table_insert(&shadow->pages, number, &is_new);
    if (is_new) entry->page = new_page(shadow);
    shadow->recent[(number - 1) % SN_VALUE_SHADOW_RECENT] = *entry;
    return entry->page;
}

void *sn_value_shadow_find(const sn_value_shadow *shadow, uint64_t address) {
    const sn_value_shadow_entry *entry = sn_table_find(&shadow->pages, address / SN_VALUE_SHADOW_PAGE + 1);
    return entry ? entry->page : NULL;
}

void sn_value_shadow_visit(const sn_value_shadow *shadow, void (*visit)(void *page, uint64_t address, void *data), void *data) {
    sn_table_each(&shadow->pages, entry) visit(entry->page, (entry->key - 1) * SN_VALUE_SHADOW_PAGE, data);
}

/* ------------------------------------------------------------------------- cells */

void sn_value_cells_set_part(sn_value_cells *cells, unsigned offset, unsigned size, uint32_t number) {
    uint32_t *cell = &cells->cells[offset / SN_VALUE_CELL];
    if (*cell == number) return;
    if (!cells->bytes) cells->bytes = checked(calloc(SN_VALUE_SHADOW_PAGE, sizeof *cells->bytes));
    uint32_t *bytes = &cells->bytes[offset / SN_VALUE_CELL * SN_VALUE_CELL];
    for (unsigned i = 0; *cell != SN_VALUE_MIXED && i < SN_VALUE_CELL; i++) bytes[i] = *cell;
    for (unsigned i = 0; i < size; i++) bytes[offset % SN_VALUE_CELL + i] = number;
    bool is_one = bytes[0] == bytes[1] && bytes[1] == bytes[2] && bytes[2] == bytes[3];
    *cell = is_one ? number : SN_VALUE_MIXED;
}

void sn_value_cells_set(sn_value_cells *cells, unsigned offset, unsigned size, uint32_t number) {
    for (unsigned part; size; offset += part, size -= part) {
        unsigned room = SN_VALUE_CELL - offset % SN_VALUE_CELL;
        part = size < room ? size : room;
        if (part == SN_VALUE_CELL) cells->cells[offset / SN_VALUE_CELL] = number;
        else sn_value_cells_set_part(cells, offset, part, number);
    }
}

/** Nothing else is touched: what was not until now has no memory. */
void sn_value_cells_end(sn_value_cells *cells) {
    if (cells->bytes) free(cells->bytes);
}

void sn_value_cells_clear(sn_value_cells *cells) {
    free(cells->bytes);
    memset(cells, 0, sizeof *cells);
}
