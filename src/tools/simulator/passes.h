/**
 * @fileoverview The passes over a piece of a trace that take most of the simulation's time, in two ways: in plain C, and
 * with the vector instructions of the processor.
 *
 * simulate.c says what the passes are for.
 */
#ifndef SONDE_TOOLS_SIMULATOR_PASSES_H
#define SONDE_TOOLS_SIMULATOR_PASSES_H

#include "level.h"

enum {
    CACHE_PIECE_WORDS = 1024,
    CACHE_PIECE_SPARE = 16, /**< what vectors may write behind the end */
};

/** A piece of a trace, taken apart. A reference's number is how many are before it in the piece. */
typedef struct cache_piece {
    uint32_t reference_count, tag_count, spanning_count;
    uint64_t lines[CACHE_PIECE_WORDS + CACHE_PIECE_SPARE];     /**< of each reference: the first */
    /** Which words are tags. The first one is that of the words before the piece's first tag, and not in the piece: -1 if it
        is the word before; behind the last one, there is the number of words. */
    int32_t places[CACHE_PIECE_WORDS + 2 + CACHE_PIECE_SPARE];
    uint32_t spanning[CACHE_PIECE_WORDS + CACHE_PIECE_SPARE];  /**< numbers of references that may be in two lines or more */
    uint64_t tag_marks[CACHE_PIECE_WORDS / 64 + 1]; /**< for `locate`, if it is to use them: a bit for each word */
} cache_piece;

/** The number that the first reference behind a tag has, if there is one. */
static inline int32_t cache_piece_first_reference(const cache_piece *piece, uint32_t tag) {
    return piece->places[tag] + 1 - (int32_t)tag;
}

typedef struct cache_passes {
    /** Take words apart, and add them to the piece, which has its first tag. `count` is at most CACHE_PIECE_WORDS. */
    void (*split)(cache_piece *piece, const uint64_t *words, uint32_t count, uint32_t line_shift);
    /** Write the numbers from `from` to before `to` to which a 1 belongs in `marks` (to the others, a 0), and maybe some more
        behind them, which mean nothing. Returns how many. */
    uint32_t (*collect)(const uint8_t *marks, uint32_t from, uint32_t to, uint32_t *numbers);
    /** Have a cache use lines[number] for each of the numbers. Those that were not there go to `missed`, which has room for
        one more than all; returns how many. */
    uint32_t (*use)(cache_level *level, const uint64_t *lines, const uint32_t *numbers, uint32_t count, uint32_t *missed);
    /** For each of the numbers of references, which ascend, the last tag before it. */
    void (*locate)(const cache_piece *piece, const uint32_t *numbers, uint32_t count, uint32_t *tags);
    /** Have a cache use one line: cache_level_use(). */
    bool (*use_line)(cache_level *level, uint64_t line);
} cache_passes;

extern const cache_passes cache_passes_plain;

/** Of the plain ones, what is best for caches of few ways. */
uint32_t cache_passes_plain_use(cache_level *level, const uint64_t *lines, const uint32_t *numbers, uint32_t count,
                                uint32_t *missed);
bool cache_passes_plain_use_line(cache_level *level, uint64_t line);

/** The fastest that the processor can do for such a cache, which is prepared for it. x86_64/vector_passes.c. */
const cache_passes *cache_passes_best(cache_level *level);

#endif
