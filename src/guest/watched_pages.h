/**
 * @fileoverview The set of pages that hold translated code and are write-protected on the host for that reason.
 *
 * A sorted array of page addresses; space.c owns the one set and guards it with its lock.
 */
#ifndef SONDE_GUEST_WATCHED_PAGES_H
#define SONDE_GUEST_WATCHED_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sn_watched_pages {
    uint64_t *pages; /**< addresses of pages, ascending */
    size_t count, capacity;
} sn_watched_pages;

/** False when there is no memory. */
bool sn_watched_add(sn_watched_pages *set, uint64_t page);
bool sn_watched_contains(const sn_watched_pages *set, uint64_t page);
/** Index of the first watched page at or above `page`. */
size_t sn_watched_lower(const sn_watched_pages *set, uint64_t page);
/** Take the pages of [start, end) out; returns how many there were. */
size_t sn_watched_remove(sn_watched_pages *set, uint64_t start, uint64_t end);
/** Give the set's memory back. */
void sn_watched_clear(sn_watched_pages *set);

#endif
