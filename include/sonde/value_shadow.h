/**
 * @file sonde/value_shadow.h
 * Memory that a tool keeps for each byte of a thread's memory: in pages, made when they are first asked for.
 *
 * A shadow belongs to one thread's state (<sonde/values.h>): no locks. A page of it stands for SN_VALUE_SHADOW_PAGE bytes of
 * the program and has as many bytes as the tool says, zero at first. What most tools keep is who accessed a byte last:
 * sn_value_cells are that, in a page's memory.
 */
#ifndef SONDE_VALUE_SHADOW_H
#define SONDE_VALUE_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <sonde/table.h>
#include <sonde/vector.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

enum { SN_VALUE_SHADOW_PAGE = 4096, SN_VALUE_SHADOW_RECENT = 1024 };

typedef struct sn_value_shadow_entry {
    uint64_t key; /**< address / SN_VALUE_SHADOW_PAGE + 1; 0: free */
    void *page;
} sn_value_shadow_entry;

/** Set up by sn_value_shadow_begin(); the members are the shadow's own. */
typedef struct sn_value_shadow {
    sn_value_shadow_entry recent[SN_VALUE_SHADOW_RECENT];
    SN_TABLE(sn_value_shadow_entry) pages;
    size_t page_size;
    char *chunk; /**< pages that were not given out yet */
    size_t chunk_left;
    SN_VECTOR(void *) chunks;
} sn_value_shadow;

/** `page_size`: bytes of a page of shadow. */
void sn_value_shadow_begin(sn_value_shadow *shadow, size_t page_size);
void sn_value_shadow_end(sn_value_shadow *shadow);

/** The page for an address, made if there is none. */
void *sn_value_shadow_make(sn_value_shadow *shadow, uint64_t address);
/** NULL if there is none. */
void *sn_value_shadow_find(const sn_value_shadow *shadow, uint64_t address);
/** Each page that there is, in no order. */
void sn_value_shadow_visit(const sn_value_shadow *shadow, void (*visit)(void *page, uint64_t address, void *data), void *data);

/** The same as sn_value_shadow_make(), quickly. */
static inline void *sn_value_shadow_page(sn_value_shadow *shadow, uint64_t address) {
    uint64_t number = address / SN_VALUE_SHADOW_PAGE;
    const sn_value_shadow_entry *recent = &shadow->recent[number % SN_VALUE_SHADOW_RECENT];
    return recent->key == number + 1 ? recent->page : sn_value_shadow_make(shadow, address);
}

/* ------------------------------------------------------------------------- cells */

enum {
    SN_VALUE_CELL = 4, /**< bytes that have one number, mostly */
    SN_VALUE_CELLS = SN_VALUE_SHADOW_PAGE / SN_VALUE_CELL,
};
#define SN_VALUE_MIXED UINT32_MAX

/** A number for each byte of a page, 0 at first: a spot (<sonde/values.h>), say. Part of a page of shadow. */
typedef struct sn_value_cells {
    uint32_t cells[SN_VALUE_CELLS]; /**< SN_VALUE_MIXED: each byte has its own */
    uint32_t *bytes;                /**< those of the bytes of mixed cells; NULL until there is one */
} sn_value_cells;

/** Give bytes of one cell a number. */
void sn_value_cells_set_part(sn_value_cells *cells, unsigned offset, unsigned size, uint32_t number);
/** Give any bytes of the page a number. */
void sn_value_cells_set(sn_value_cells *cells, unsigned offset, unsigned size, uint32_t number);
/** All are 0 again; gives memory back. */
void sn_value_cells_clear(sn_value_cells *cells);
/** Give memory back. Before the end of the shadow for each page. */
void sn_value_cells_end(sn_value_cells *cells);

/** The number of a byte. */
static inline uint32_t sn_value_cells_at(const sn_value_cells *cells, unsigned offset) {
    uint32_t number = cells->cells[offset / SN_VALUE_CELL];
    return __builtin_expect(number == SN_VALUE_MIXED, 0) ? cells->bytes[offset] : number;
}

/** Two cells at once. */
static inline uint64_t sn_value_cells_pair(uint32_t number) { return number * UINT64_C(0x100000001); }

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
