/**
 * @fileoverview What tables do rarely: growing, closing holes. See <sonde/table.h>, whose macros are all callers.
 *
 * Here the sizes are no constants: words are copied one by one, in a way that no compiler makes a call of.
 */
#include "sonde/table.h"

#include <string.h>

#include "sonde/arena.h"

enum { FIRST_BYTES = 8192, LEAST_ROOM = 16 };

static size_t bytes_of(size_t room, size_t size) {
    return (room + 1) * size;
}

static size_t first_room(size_t size) {
    size_t room = LEAST_ROOM;
    while (bytes_of(2 * room, size) <= FIRST_BYTES)
        room *= 2;
    return room;
}

SN_FAST static void copy(uint64_t *to, const uint64_t *from, size_t words) {
    for (size_t i = 0; i < words; i++) {
        uint64_t word = from[i];
        __asm__ volatile("" : "+r"(word)); /* else the loop is one of memcpy() */
        to[i] = word;
    }
}

SN_FAST static void clear(uint64_t *to, size_t words) {
    for (size_t i = 0; i < words; i++) {
        to[i] = 0;
        __asm__ volatile("" ::: "memory");
    }
}

/** Put what is in `from` into `to`, which is larger and empty. */
SN_FAST static void move_entries(sn_table *to, const sn_table *from, size_t words, size_t size) {
    for (size_t i = 0; i < from->room; i++) {
        const uint64_t *entry = sn_table_entry(from, i, size);
        if (!sn_table_is_zero(entry, words))
            copy(sn_table_place(to, entry, words, size), entry, size / 8);
    }
    if (from->has_zero)
        copy(sn_table_entry(to, to->room, size), sn_table_entry(from, from->room, size), size / 8);
}

void sn_table_grow(sn_table *table, size_t words, size_t size) {
    if (table->reserved && sn_table_grow_reserved(table, words, size))
        return;
    sn_table old = *table;
    table->room = old.room ? 2 * old.room : first_room(size);
    table->entries = sn_pages_allocate(bytes_of(table->room, size));
    move_entries(table, &old, words, size);
    if (old.reserved)
        sn_pages_release(old.reserved, old.reserved_size);
    else if (old.room)
        sn_pages_release(old.entries, bytes_of(old.room, size));
    table->reserved = NULL;
    table->reserved_size = 0;
}

/** The next table lies behind the last one. That one's memory is given up: nobody may be asked to take it back, and another thread
    may be reading it (sn_table_view()), who sees the new one when it is complete. */
SN_FAST bool sn_table_grow_reserved(sn_table *table, size_t words, size_t size) {
    char *next = (char *)table->entries + (table->room + 1) * size;
    size_t left = table->reserved_size - (size_t)(next - (char *)table->reserved);
    sn_table grown = {.entries = next, .room = 2 * table->room};
    if (!table->reserved || (grown.room + 1) * size > left)
        return false;
    move_entries(&grown, table, words, size);
    __atomic_store_n(&table->entries, grown.entries, __ATOMIC_RELEASE);
    __atomic_store_n(&table->room, grown.room, __ATOMIC_RELEASE);
    return true;
}

bool sn_table_set_aside(sn_table *table, size_t most, size_t size) {
    size_t room = first_room(size), bytes = bytes_of(room, size);
    while (room / 8 * 5 < most) {
        room *= 2;
        bytes += bytes_of(room, size);
    }
    void *reserved = sn_pages_reserve(bytes);
    if (!reserved)
        return false;
    *table = (sn_table){.entries = reserved, .room = first_room(size), .reserved = reserved, .reserved_size = bytes};
    return true;
}

/** How much room it takes to have so many entries without growing. */
static size_t room_for(size_t count, size_t size) {
    size_t room = first_room(size);
    while (room / 8 * 5 <= count)
        room *= 2;
    return room;
}

void sn_table_widen(sn_table *table, size_t count, size_t words, size_t size) {
    size_t room = count ? room_for(table->used + count, size) : 0;
    if (room <= table->room)
        return;
    if (table->reserved) {
        size_t left = table->reserved_size - (size_t)((char *)table->entries - (char *)table->reserved);
        bool is_empty = !table->used && !table->has_zero;
        if (is_empty && bytes_of(room, size) <= left) { /* there is nothing to be moved, and all memory behind it is zero */
            table->room = room;
            return;
        }
    } else if (!table->room) {
        *table = (sn_table){.entries = sn_pages_allocate(bytes_of(room, size)), .room = room};
        return;
    }
    while (table->room < room)
        sn_table_grow(table, words, size);
}

/** An entry further on moves into the hole if its home does not lie between the two. */
SN_FAST void sn_table_close_hole(sn_table *table, sn_table_word *hole_entry, size_t words, size_t size) {
    size_t mask = table->room - 1, hole = (size_t)((char *)hole_entry - (char *)table->entries) / size;
    if (hole == table->room) {
        table->has_zero = false;
    } else {
        table->used--;
        for (size_t at = (hole + 1) & mask;; at = (at + 1) & mask) {
            sn_table_word *entry = sn_table_entry(table, at, size);
            if (sn_table_is_zero(entry, words))
                break;
            size_t home = (size_t)sn_table_hash(entry, words) & mask;
            if (((at - home) & mask) < ((at - hole) & mask))
                continue;
            copy(sn_table_entry(table, hole, size), entry, size / 8);
            hole = at;
        }
    }
    clear(sn_table_entry(table, hole, size), size / 8);
}

void sn_table_empty(sn_table *table, size_t size) {
    if (table->room)
        memset(table->entries, 0, bytes_of(table->room, size));
    table->used = 0;
    table->has_zero = false;
}

void sn_table_give_back(sn_table *table, size_t size) {
    if (table->reserved)
        sn_pages_release(table->reserved, table->reserved_size);
    else if (table->room)
        sn_pages_release(table->entries, bytes_of(table->room, size));
    *table = (sn_table){0};
}
