/**
 * @fileoverview The words of the trace that is simulated: what a thread did, in order.
 *
 * A word is a reference to data: its address, with the size in the highest byte, and where references vary the role in the next
 * one, which is 0 elsewhere; or a tag, whose highest bit is set, which those of a program's addresses are not. The tag of a segment
 * (segments.h) says that control has entered it; the references behind it are the segment's first ones, in order, those left out
 * that need not be traced (runs.h): all of them, unless control has left at a branch. The tag of a cut
 * says that a signal or fault ended a pass before a site (sites.h); references that vary may go on behind it. If the tool does not
 * count branches itself, another tag says how many references a segment did not come to, as control left it at a branch. Other
 * tags tell of calls (enum sn_frame_word, if the tool asks for them); they may stand inside of a segment.
 *
 * A reference that faults may be at any address at all. One that looks like a tag is taken for one: then some counts are
 * wrong, and nothing else. (These addresses are those of the kernel.)
 *
 * Written by the code that trace.c inserts and by the tools' callbacks, read by simulate.c.
 */
#ifndef SONDE_TOOLS_SIMULATOR_WORDS_H
#define SONDE_TOOLS_SIMULATOR_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "model.h"
#include "segments.h"

/** Segments and sites are fewer than this. */
#define CACHE_WORD_NUMBERS UINT32_C(0x20000000)
/** The factor of writes that a segment did not come to; reads are fewer. */
#define CACHE_WORD_LEFT_WRITES UINT32_C(0x8000)

/** The tag of segment 0; other tags are behind those of the segments. As numbers of 32 bits with a sign, they take
    one instruction to append. */
#define CACHE_WORD_TAGS UINT64_C(0xffffffff80000000)

/** Whether a word is any tag at all. */
#define CACHE_WORD_IS_TAG(word) ((word) >> 63 != 0)

enum {
    CACHE_WORD_ROLE_SHIFT = 48,
    CACHE_WORD_WRITTEN = 2,       /**< this bit of the role: it is a write; SN_ROLE_WRITTEN */
    CACHE_WORD_SIZE_SHIFT = 56,
    CACHE_WORD_SIZE_MASK = 0x7f,
    CACHE_WORD_ROLE_MASK = 0xff,
    CACHE_WORD_USUAL_SIZE = 8,    /**< where it is this, and references do not vary, the highest byte is 0 */
    CACHE_WORD_USUAL_MARK = CACHE_WORD_USUAL_SIZE - 1,
    CACHE_WORD_LARGE = 0x7f,      /**< this size or more: the segment tells */
};

static inline uint64_t cache_word_segment(uint32_t segment) {
    return CACHE_WORD_TAGS + segment;
}

static inline uint64_t cache_word_cut(uint32_t site) {
    return CACHE_WORD_TAGS + CACHE_WORD_NUMBERS + site;
}

/** Of what a segment did not come to; behind the tags of cuts. */
static inline uint64_t cache_word_left(cache_segment_size left_out) {
    return CACHE_WORD_TAGS + 2 * CACHE_WORD_NUMBERS + left_out.reads + (uint64_t)left_out.writes * CACHE_WORD_LEFT_WRITES;
}

/** What a tag tells: the number of a segment; of a cut, CACHE_WORD_NUMBERS and the site; others: twice CACHE_WORD_NUMBERS or
    more. */
static inline uint64_t cache_word_number(uint64_t tag) {
    return tag - CACHE_WORD_TAGS;
}

/** Whether that is of cache_word_left(), being twice CACHE_WORD_NUMBERS or more; and how many references. */
static inline bool cache_word_is_left(uint64_t number) {
    return number < 4 * (uint64_t)CACHE_WORD_NUMBERS;
}
static inline cache_segment_size cache_word_left_out(uint64_t number) {
    return (cache_segment_size){.reads = (uint16_t)(number % CACHE_WORD_LEFT_WRITES),
                                .writes = (uint16_t)((number - 2 * (uint64_t)CACHE_WORD_NUMBERS) / CACHE_WORD_LEFT_WRITES)};
}

static inline uint64_t cache_word_address(uint64_t word) {
    return word & ((UINT64_C(1) << CACHE_WORD_ROLE_SHIFT) - 1);
}

/** Of a reference that varies. */
static inline cache_kind cache_word_kind(uint64_t word) {
    return (word >> CACHE_WORD_ROLE_SHIFT & CACHE_WORD_WRITTEN) != 0 ? CACHE_WRITE : CACHE_READ;
}

static inline bool cache_word_varies(uint64_t word) {
    return (word >> CACHE_WORD_ROLE_SHIFT & CACHE_WORD_ROLE_MASK) != 0;
}

/** The highest byte for a size, where references do not vary: what is added to the address for its last byte, with the bits of the
    usual one turned round. */
static inline uint32_t cache_word_size_mark(uint32_t size) {
    return ((size < CACHE_WORD_LARGE ? size : CACHE_WORD_LARGE) - 1) ^ CACHE_WORD_USUAL_MARK;
}

/** Up to CACHE_WORD_LARGE. */
static inline uint32_t cache_word_size(uint64_t word) {
    uint32_t byte = (uint32_t)(word >> CACHE_WORD_SIZE_SHIFT) & CACHE_WORD_SIZE_MASK;
    return cache_word_varies(word) ? byte : (byte ^ CACHE_WORD_USUAL_MARK) + 1;
}

#endif
