/**
 * @fileoverview Adding to indexes. See <sonde/index.h>.
 */
#include "sonde/index.h"

#include <string.h>

#include "sonde/arena.h"

enum { FIRST_ROOM = 4096 / sizeof(sn_index_place) };

/** Of the half of the hash value that is kept. */
static size_t home_of(const sn_index *index, uint32_t hash) {
    return hash & (index->room - 1);
}

static void put(sn_index *index, sn_index_place place) {
    size_t at = home_of(index, place.hash);
    while (index->places[at].number)
        at = (at + 1) & (index->room - 1);
    index->places[at] = place;
}

static void grow(sn_index *index) {
    sn_index old = *index;
    index->room = old.room ? 2 * old.room : FIRST_ROOM;
    index->places = sn_pages_allocate(index->room * sizeof *index->places);
    for (size_t i = 0; i < old.room; i++)
        if (old.places[i].number)
            put(index, old.places[i]);
    if (old.room)
        sn_pages_release(old.places, old.room * sizeof *old.places);
}

void sn_index_add(sn_index *index, uint64_t hash, uint32_t number) {
    if (index->count >= index->room / 8 * 5)
        grow(index);
    put(index, (sn_index_place){.hash = (uint32_t)hash, .number = number + 1});
    index->count++;
}

void sn_index_clear(sn_index *index) {
    if (index->room)
        memset(index->places, 0, index->room * sizeof *index->places);
    index->count = 0;
}

void sn_index_release(sn_index *index) {
    if (index->room)
        sn_pages_release(index->places, index->room * sizeof *index->places);
    *index = (sn_index){0};
}
