/**
 * @fileoverview A line of a text format while it is read: words, numbers, and what is wrong with it, in one line.
 *
 * For cachegrind_reader.c, callgrind_*.c and contexts_reader.c. The text stays the caller's; names are interned.
 */
#ifndef SONDE_REPORT_LINE_TEXT_H
#define SONDE_REPORT_LINE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct sn_line_text {
    const char *at, *end;   /**< what is left of the line */
    unsigned long number;   /**< from 1 on */
    char *explanation;      /**< where what is wrong goes; of `size` bytes */
    size_t size;
} sn_line_text;

/** Call `read` for each line of the stream that is not empty, without white space at its ends, until it returns false. Returns
    whether it never did and there was no zero byte, which is told. That the stream ended well is the caller's to ask. */
bool sn_line_read_all(sn_line_text *line, FILE *stream, bool (*read)(void *data), void *data);

/** Write "line N: " and what is wrong into the explanation. Always false. */
bool sn_line_wrong(sn_line_text *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

bool sn_line_is_space(char character);
void sn_line_skip_space(sn_line_text *line);
/** Leave out white space at both ends. */
void sn_line_trim(sn_line_text *line);

bool sn_line_is_digit(const sn_line_text *line);
bool sn_line_is_at(const sn_line_text *line, char character);
/** Step over `character` if it is there. */
bool sn_line_take(sn_line_text *line, char character);
/** Step over `beginning` if the line begins so. */
bool sn_line_take_text(sn_line_text *line, const char *beginning);

/** Decimal digits; false, and told, if there are none or too many. */
bool sn_line_read_decimal(sn_line_text *line, uint64_t *number);
/** Behind a number: white space, which is stepped over, or the end. Else false, and told. */
bool sn_line_end_word(sn_line_text *line);

/** The next word up to white space or one of `stops`; empty at the end. */
const char *sn_line_word(sn_line_text *line, const char *stops, size_t *length);
/** The rest of the line, interned. */
const char *sn_line_rest(const sn_line_text *line);

#endif
