/**
 * @fileoverview What instrumented code appends to the thread's trace: 64-bit words, and the loop that takes them apart.
 *
 * A word is the address of an access, or one of the marks below, which lie where no address of a program can. Memtrace
 * stores one constant word as a block is entered and one word an access; which accesses they are follows from the block.
 * Only a program that (fatally) accesses addresses of the kernel's own code could be taken for a mark.
 */
#ifndef SONDE_TOOLS_MEMTRACE_WORDS_H
#define SONDE_TOOLS_MEMTRACE_WORDS_H

#include <sonde/tool.h>
#include <stddef.h>
#include <stdint.h>

#include "code.h"

/** Marks are sign-extended 32-bit numbers, which one instruction can store. */
#define MEMTRACE_WORD_BLOCK UINT64_C(0xffffffff80000000) /**< + number: the block is entered */
#define MEMTRACE_WORD_LEFT UINT64_C(0xffffffffc0000000)  /**< + instructions completed: the block is left */
#define MEMTRACE_WORD_ROWS UINT64_C(0xffffffffc1000000)  /**< + varying site << 16 + count: so many rows follow */
#define MEMTRACE_WORD_ROW UINT64_C(0xffffffffc2000000)   /**< + the parts below: the address of one access follows */
/** The same where a store behind a load of the same bytes is no modification of these. */
#define MEMTRACE_WORD_ROW_APART UINT64_C(0xffffffffc3000000)
#define MEMTRACE_WORD_MARKS_END UINT64_C(0xffffffffc4000000)

/** Bytes of the mark of one access. */
enum {
    MEMTRACE_ROW_ROLE = 0,   /**< sn_operand_role: loads or stores */
    MEMTRACE_ROW_SITE = 1,   /**< varying site in the block */
    MEMTRACE_ROW_SIZE = 2,   /**< of the access */
};

/** A row is two words: the address, and this. `kind`: MEMTRACE_LOAD, _STORE or _MODIFY. */
static inline uint64_t memtrace_row_word(uint32_t size, unsigned kind) {
    return (uint64_t)kind << 32 | size;
}

typedef struct memtrace_row {
    uint64_t address;
    uint64_t word; /**< of memtrace_row_word() */
} memtrace_row;

/** The state between two batches. All zero at first. */
typedef struct memtrace_parser {
    const memtrace_block *block; /**< that is being executed, or NULL */
    uint32_t row_words_missing;
    uint32_t row_words;
    uint32_t varying;            /**< site that the rows belong to */
    uint64_t mark;               /**< of one access, whose address is still to come; 0: none */
    bool gathers;                /**< `rows` holds accesses that came one by one, and may be followed by more */
    uint64_t rows[2 * MEMTRACE_MOST_ROWS];
} memtrace_parser;

/** What the words mean, in order. */
typedef struct memtrace_sink {
    void (*enter)(void *data, const memtrace_block *block);
    /** Takes addresses from `words` on, up to a mark or `end`; returns where it has stopped. */
    const uint64_t *(*addresses)(void *data, const uint64_t *words, const uint64_t *end);
    void (*left)(void *data, unsigned completed);
    void (*rows)(void *data, unsigned varying, const memtrace_row *rows, unsigned count);
} memtrace_sink;

static inline bool memtrace_is_mark(uint64_t word) {
    return word - MEMTRACE_WORD_BLOCK < MEMTRACE_WORD_MARKS_END - MEMTRACE_WORD_BLOCK;
}

static inline const uint64_t *memtrace_take_rows(memtrace_parser *parser, const uint64_t *word, const uint64_t *end,
                                                 const memtrace_sink *sink, void *data) {
    while (parser->row_words_missing && word < end) {
        parser->rows[parser->row_words++] = *word++;
        parser->row_words_missing--;
    }
    if (!parser->row_words_missing)
        sink->rows(data, parser->varying, (const memtrace_row *)parser->rows, parser->row_words / 2);
    return word;
}

/** Give the sink what has been gathered: something else comes, or nothing. */
static inline void memtrace_end_rows(memtrace_parser *parser, const memtrace_sink *sink, void *data) {
    if (!parser->gathers)
        return;
    parser->gathers = false;
    sink->rows(data, parser->varying, (const memtrace_row *)parser->rows, parser->row_words / 2);
}

/** One access, its mark being parser->mark: gathered until something else comes. */
static inline void memtrace_take_row(memtrace_parser *parser, uint64_t address, const memtrace_sink *sink, void *data) {
    bool stores = (uint8_t)(parser->mark >> 8 * MEMTRACE_ROW_ROLE) == SN_ROLE_WRITTEN;
    bool modifies = stores && parser->mark < MEMTRACE_WORD_ROW_APART;
    uint32_t varying = (uint8_t)(parser->mark >> 8 * MEMTRACE_ROW_SITE);
    uint32_t size = (uint8_t)(parser->mark >> 8 * MEMTRACE_ROW_SIZE);
    parser->mark = 0;
    if (parser->gathers && (parser->varying != varying || parser->row_words == 2 * MEMTRACE_MOST_ROWS))
        memtrace_end_rows(parser, sink, data);
    if (!parser->gathers)
        parser->row_words = 0;
    parser->gathers = true;
    parser->varying = varying;
    uint64_t *last = parser->rows + parser->row_words;
    if (modifies && parser->row_words && last[-2] == address && last[-1] == memtrace_row_word(size, MEMTRACE_LOAD)) {
        last[-1] = memtrace_row_word(size, MEMTRACE_MODIFY);
        return;
    }
    last[0] = address;
    last[1] = memtrace_row_word(size, stores ? MEMTRACE_STORE : MEMTRACE_LOAD);
    parser->row_words += 2;
}

/** Inlined into each user, with its sink: this is the tool's hot loop. */
static inline __attribute__((always_inline)) void memtrace_parse(memtrace_parser *parser, const uint64_t *words,
                                                                 size_t count, const memtrace_sink *sink, void *data) {
    const uint64_t *word = words, *end = words + count;
    if (parser->row_words_missing)
        word = memtrace_take_rows(parser, word, end, sink, data);
    while (word < end) {
        uint64_t value = *word;
        const memtrace_block *block;
        if (parser->mark) {
            memtrace_take_row(parser, value, sink, data);
            word++;
            continue;
        }
        if (memtrace_is_mark(value) && value >= MEMTRACE_WORD_ROW) {
            parser->mark = value;
            word++;
            continue;
        }
        memtrace_end_rows(parser, sink, data);
        if (!memtrace_is_mark(value)) {
            word = sink->addresses(data, word, end);
            continue;
        }
        word++;
        if (value < MEMTRACE_WORD_LEFT) {
            block = memtrace_block_at((uint32_t)(value - MEMTRACE_WORD_BLOCK));
            if (block)
                sink->enter(data, block);
        } else if (value < MEMTRACE_WORD_ROWS) {
            sink->left(data, (uint32_t)(value - MEMTRACE_WORD_LEFT));
        } else {
            parser->varying = (uint32_t)(value - MEMTRACE_WORD_ROWS) >> 16;
            parser->row_words_missing = 2 * ((uint32_t)value & 0xffff);
            parser->row_words = 0;
            word = memtrace_take_rows(parser, word, end, sink, data);
        }
    }
}

#endif
