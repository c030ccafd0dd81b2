/**
 * @file sonde/value_shadow.h
 * Memory that a tool keeps for each byte of a thread's memory: in pages, made when they are first asked for.
 *
 * A shadow belongs to one thread's state (<sonde/values.h>): no locks. A page of it stands for SN_VALUE_SHADOW_PAGE bytes of
 * the program and has as many bytes as the tool says, zero at first.
 */
#ifndef SONDE_VALUE_SHADOW_H
#define SONDE_VALUE_SHADOW_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

enum { SN_VALUE_SHADOW_PAGE = 4096, SN_VALUE_SHADOW_RECENT = 1024 };

typedef struct sn_value_shadow_entry {
    uint64_t number; /**< address / SN_VALUE_SHADOW_PAGE + 1; 0: free */
    void *page;
} sn_value_shadow_entry;

/** Set up by sn_value_shadow_begin(); the members are the shadow's own. */
typedef struct sn_value_shadow {
    sn_value_shadow_entry recent[SN_VALUE_SHADOW_RECENT];
    sn_value_shadow_entry *entries;
    size_t room, count;
    size_t page_size;
    char *chunk; /**< pages that were not given out yet */
    size_t chunk_left;
    void **chunks;
    size_t chunk_count;
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
    return recent->number == number + 1 ? recent->page : sn_value_shadow_make(shadow, address);
}

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
