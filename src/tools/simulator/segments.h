/**
 * @fileoverview Segments: stretches of blocks that control enters at the top, and what each execution of one refers to.
 *
 * A segment ends behind an instruction whose accesses vary, where a function begins that the tool follows, where the code has
 * come to a third line of the instruction cache, and, if there is a conditional branch in it, where the code leaves the line that
 * it has come to. Control may leave a segment at its branches, and then has made the first ones of its references only. The
 * accesses of an instruction that vary are a segment of their own, without code.
 *
 * Made by trace.c while instrumenting, serialised by Sonde; then constant, and read by all threads. Never freed.
 */
#ifndef SONDE_TOOLS_SIMULATOR_SEGMENTS_H
#define SONDE_TOOLS_SIMULATOR_SEGMENTS_H

#include <stdbool.h>

#include "code_cache.h"
#include "model.h"

/** Segment 0 has nothing in it. */
enum { CACHE_NO_SEGMENT = 0, CACHE_SEGMENT_LINES = 2 };

/** A reference that an instruction makes whenever it is executed; one that is traced may end a run (runs.h). */
typedef struct cache_segment_reference {
    uint32_t site;    /**< sites.h */
    uint16_t size;    /**< bytes */
    uint8_t kind;     /**< CACHE_READ, CACHE_WRITE */
    uint8_t others;   /**< so many of the run are not traced: those between its first and this one */
    uint16_t first_other; /**< among those of the segment */
    int16_t distance; /**< of this one from the run's first, in bytes */
} cache_segment_reference;

/** A fetch that comes to another line than the one before it. */
typedef struct cache_segment_fetch {
    uint64_t address;
    uint32_t site;
    uint32_t before; /**< how many of the segment's references come before it */
    uint8_t length;
} cache_segment_fetch;

typedef struct cache_segment {
    cache_segment_fetch fetches[CACHE_SEGMENT_LINES];
    const cache_segment_reference *references; /**< those traced, and behind them the others; if they vary: one, with what
                                                    all have in common */
    uint32_t reference_count;                  /**< traced */
    uint8_t fetch_count;                       /**< 0: it is no code; 2: the first one is of the first line only, and the
                                                    second one brings the last line */
    bool varies;
} cache_segment;

/** How many references each execution of a segment makes, those left out of the trace included; not those that vary. */
typedef struct cache_segment_size {
    uint16_t reads, writes;
} cache_segment_size;

/** Sums of such sizes in one number: reads in the lower half, writes in the upper. */
static inline uint64_t cache_segment_packed(cache_segment_size size) {
    return size.reads | (uint64_t)size.writes << 32;
}

/** All segments up to now. What was handed out before stays as it is. */
typedef struct cache_segments {
    struct cache_segments *smaller; /**< given up, but somebody may be reading it */
    uint32_t count, room;
    cache_segment *segments;
    cache_code_lines *lines;
    uint64_t *sizes;            /**< cache_segment_packed(): what is needed of each one each time that it is executed, when sums are made */
} cache_segments;

/** A new segment's number; and what it is, before it is executed. What it points to must live for ever. */
uint32_t cache_segment_new(void);
void cache_segment_set(uint32_t number, const cache_segment *segment, cache_code_lines lines, cache_segment_size size);

/** Those that were made before anything happened that the caller knows of; NULL if there are none. */
const cache_segments *cache_segments_now(void);

#endif
