/**
 * @fileoverview The table of segments. See segments.h.
 *
 * It grows by being copied; readers go on with the one that they have. Those given up take less room than the last one.
 */
#include "segments.h"

#include <string.h>

#include <sonde/tool.h>

#include "memory.h"
#include "words.h"

enum { FIRST_ROOM = 4096, WIDE = 1 << 20 };

static cache_segments *newest;

/** It is never given back. */
static void *table_new(size_t room, size_t size) {
    return room * size < WIDE ? cache_memory_new(room, size) : cache_memory_wide_new(room * size);
}

static cache_segments *grown(cache_segments *from) {
    cache_segments *to = cache_memory_new(1, sizeof *to);
    to->smaller = from;
    to->room = from == NULL ? FIRST_ROOM : 2 * from->room;
    to->segments = table_new(to->room, sizeof *to->segments);
    to->lines = table_new(to->room, sizeof *to->lines);
    to->sizes = table_new(to->room, sizeof *to->sizes);
    if (from == NULL) {
        to->count = CACHE_NO_SEGMENT + 1;
        return to;
    }
    to->count = from->count;
    memcpy(to->segments, from->segments, from->count * sizeof *to->segments);
    memcpy(to->lines, from->lines, from->count * sizeof *to->lines);
    memcpy(to->sizes, from->sizes, from->count * sizeof *to->sizes);
    return to;
}

uint32_t cache_segment_new(void) {
    cache_segments *table = newest;
    if (table == NULL || table->count == table->room) {
        table = grown(table);
        __atomic_store_n(&newest, table, __ATOMIC_RELEASE);
    }
    if (table->count == CACHE_WORD_NUMBERS) {
        sn_fail(125, "too much code to simulate");
    }
    return __atomic_fetch_add(&table->count, 1, __ATOMIC_RELEASE);
}

void cache_segment_set(uint32_t number, const cache_segment *segment, cache_code_lines lines, cache_segment_size size) {
    newest->segments[number] = *segment;
    newest->lines[number] = lines;
    newest->sizes[number] = cache_segment_packed(size);
    cache_code_lines_add(lines, number);
}

const cache_segments *cache_segments_now(void) {
    return __atomic_load_n(&newest, __ATOMIC_ACQUIRE);
}
