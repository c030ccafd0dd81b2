/**
 * @fileoverview Tables of options (sn_option of sonde/tool.h): parsing one argument, help text, and suggestions.
 *
 * Used for the core options and for the tools' alike. For SN_OPTION_NUMBER, SN_OPTION_STRING, SN_OPTION_LIST and
 * SN_OPTION_NUMBERED the `choices` of a row, if set, is the word that help shows for the value (N and TEXT otherwise). Rows
 * without help text are not shown.
 */
#ifndef SONDE_BASE_OPTIONS_H
#define SONDE_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "sonde/tool.h"

typedef enum sn_option_outcome {
    SN_OPTION_DONE,
    SN_OPTION_UNKNOWN, /**< no row has this name */
    SN_OPTION_BAD,     /**< the explanation says why */
} sn_option_outcome;

/** Parse an argument "--name=value" by `table` (may be NULL: no rows). On SN_OPTION_BAD, `explanation` gets one line
    without newline. */
sn_option_outcome sn_option_parse(const sn_option *table, const char *argument, char *explanation, size_t size);

/** Parse a number: decimal or 0x, with an optional sign and an optional suffix k, M or G (powers of 1024). */
bool sn_option_parse_number(const char *text, int64_t *number);

/** Help text for all rows, at most 80 columns wide. */
void sn_options_print(FILE *stream, const sn_option *table);

/** One entry of help text: `left` in its column, `text` wrapped at 80 columns to the right of it. */
void sn_help_print(FILE *stream, const char *left, const char *text);

/** Keeps the best of several candidates that a mistyped word may have meant. */
typedef struct sn_suggestion {
    const char *word;     /**< as typed */
    size_t length;        /**< of word, up to "=" if it is an option */
    const char *best;     /**< NULL: none is near enough */
    size_t best_distance;
} sn_suggestion;

sn_suggestion sn_suggestion_for(const char *word, size_t length);
void sn_suggestion_offer(sn_suggestion *suggestion, const char *candidate);
void sn_suggestion_offer_options(sn_suggestion *suggestion, const sn_option *table);

#endif
