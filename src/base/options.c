/**
 * @fileoverview Tables of options: parsing and help text. See options.h.
 */
#include "base/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    HELP_WIDTH = 80,
    HELP_COLUMN = 32, /* where the text begins, to the right of the option */
    VALUE_SHOWN = 200,
};

/* ---------------------------------------------------------------- values */

bool sn_option_parse_number(const char *text, int64_t *number) {
    static const struct {
        char letter;
        unsigned shift;
    } suffixes[] = {{'\0', 0}, {'k', 10}, {'K', 10}, {'M', 20}, {'G', 30}};
    const char *digits = text + (*text == '-' || *text == '+');
    if (*digits < '0' || *digits > '9')
        return false;
    bool hexadecimal = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    char *end;
    errno = 0;
    int64_t value = strtoll(text, &end, hexadecimal ? 16 : 10);
    if (errno || (*end && end[1]))
        return false;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
        if (*end == suffixes[i].letter)
            return !__builtin_mul_overflow(value, INT64_C(1) << suffixes[i].shift, number);
    return false;
}

/** Position of `value` among `choices` (separated by |), or -1. */
static int choice_position(const char *choices, const char *value) {
    size_t length = strlen(value);
    for (int position = 0;; position++) {
        size_t candidate = strcspn(choices, "|");
        if (candidate == length && memcmp(choices, value, length) == 0)
            return position;
        if (!choices[candidate])
            return -1;
        choices += candidate + 1;
    }
}

static const char *shown_value(const sn_option *option) {
    switch (option->type) {
    case SN_OPTION_FLAG: return "yes|no";
    case SN_OPTION_NUMBER: return option->choices ? option->choices : "N";
    case SN_OPTION_STRING:
    case SN_OPTION_LIST:
    case SN_OPTION_NUMBERED: return option->choices ? option->choices : "TEXT";
    case SN_OPTION_CHOICE: return option->choices;
    }
    return "";
}

/** Parsing is over before the client starts: malloc may be used. */
static bool add_text(sn_texts *texts, const char *value) {
    const char **items = reallocarray(texts->items, texts->count + 1, sizeof *items);
    if (!items)
        return false;
    items[texts->count] = value;
    *texts = (sn_texts){items, texts->count + 1};
    return true;
}

static bool add_numbered_text(sn_numbered_texts *texts, const char *value, uint32_t number) {
    struct sn_numbered_text *items = reallocarray(texts->items, texts->count + 1, sizeof *items);
    if (!items)
        return false;
    items[texts->count] = (struct sn_numbered_text){value, number};
    *texts = (sn_numbered_texts){items, texts->count + 1};
    return true;
}

static bool store_value(const sn_option *option, const char *value, uint32_t number) {
    int position;
    switch (option->type) {
    case SN_OPTION_FLAG:
        position = choice_position("no|yes", value);
        if (position >= 0)
            *(bool *)option->value = position;
        return position >= 0;
    case SN_OPTION_NUMBER:
        return sn_option_parse_number(value, option->value);
    case SN_OPTION_STRING:
        *(const char **)option->value = value;
        return *value != '\0';
    case SN_OPTION_LIST:
        return *value != '\0' && add_text(option->value, value);
    case SN_OPTION_NUMBERED:
        return *value != '\0' && add_numbered_text(option->value, value, number);
    case SN_OPTION_CHOICE:
        position = choice_position(option->choices, value);
        if (position >= 0)
            *(int *)option->value = position;
        return position >= 0;
    }
    return false;
}

static const char *what_is_wanted(const sn_option *option) {
    switch (option->type) {
    case SN_OPTION_NUMBER: return "a number (suffixes k, M, G)";
    case SN_OPTION_STRING:
    case SN_OPTION_LIST:
    case SN_OPTION_NUMBERED: return "a value";
    default: return "one of ";
    }
}

/** Whether `name`, of `length` letters, is that of the option, and which number stands behind it. */
static bool is_named(const sn_option *option, const char *name, size_t length, uint32_t *number) {
    enum { MOST_DIGITS = 9 };
    size_t own = strlen(option->name), digits = length - own;
    *number = 0;
    if (own > length || memcmp(option->name, name, own) != 0)
        return false;
    if (option->type != SN_OPTION_NUMBERED)
        return digits == 0;
    for (size_t i = own; i < length; i++) {
        if (name[i] < '0' || name[i] > '9')
            return false;
        *number = *number * 10 + (uint32_t)(name[i] - '0');
    }
    return digits > 0 && digits <= MOST_DIGITS;
}

sn_option_outcome sn_option_parse(const sn_option *table, const char *argument, char *explanation, size_t size) {
    if (strncmp(argument, "--", 2) != 0 || !table)
        return SN_OPTION_UNKNOWN;
    const char *name = argument + 2;
    size_t length = strcspn(name, "=");
    for (const sn_option *option = table; option->name; option++) {
        uint32_t number;
        if (!is_named(option, name, length, &number))
            continue;
        if (name[length] && store_value(option, name + length + 1, number))
            return SN_OPTION_DONE;
        bool listed = option->type == SN_OPTION_FLAG || option->type == SN_OPTION_CHOICE;
        snprintf(explanation, size, "--%.*s needs %s%s%s%.*s%s", (int)length, name, what_is_wanted(option),
                 listed ? shown_value(option) : "", name[length] ? ", not '" : "", VALUE_SHOWN,
                 name[length] ? name + length + 1 : "", name[length] ? "'" : "");
        return SN_OPTION_BAD;
    }
    return SN_OPTION_UNKNOWN;
}

/* ------------------------------------------------------------------ help */

void sn_help_print(FILE *stream, const char *left, const char *text) {
    int column = fprintf(stream, "  %s", left);
    if (column >= HELP_COLUMN) {
        fputc('\n', stream);
        column = 0;
    }
    column += fprintf(stream, "%*s", HELP_COLUMN - column, "");
    for (bool first = true; *text; first = false) {
        int word = (int)strcspn(text, " ");
        if (!first && column + 1 + word >= HELP_WIDTH) {
            fprintf(stream, "\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
            first = true;
        }
        column += fprintf(stream, "%s%.*s", first ? "" : " ", word, text);
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', stream);
}

void sn_options_print(FILE *stream, const sn_option *table) {
    for (const sn_option *option = table; option && option->name; option++) {
        if (!option->help)
            continue;
        char left[256], text[1024];
        snprintf(left, sizeof left, "--%s%s=%s", option->name, option->type == SN_OPTION_NUMBERED ? "N" : "",
                 shown_value(option));
        bool has_default = option->default_text && *option->default_text;
        snprintf(text, sizeof text, "%s%s%s%s", option->help, has_default ? " [" : "",
                 has_default ? option->default_text : "", has_default ? "]" : "");
        sn_help_print(stream, left, text);
    }
}

/* ----------------------------------------------------------- suggestions */

enum { LONGEST_WORD = 63 };

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/** Letters to insert, remove or replace, and neighbours to exchange, to make one word of the other. */
static size_t distance_between(const char *a, size_t a_length, const char *b, size_t b_length) {
    size_t rows[3][LONGEST_WORD + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_length; j++)
        last[j] = before[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t replaced = last[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = least(replaced, 1 + least(last[j], row[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
        size_t *free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[b_length];
}

sn_suggestion sn_suggestion_for(const char *word, size_t length) {
    return (sn_suggestion){.word = word, .length = length, .best_distance = 1 + length / 3};
}

void sn_suggestion_offer(sn_suggestion *suggestion, const char *candidate) {
    size_t length = strlen(candidate);
    if (length > LONGEST_WORD || suggestion->length > LONGEST_WORD)
        return;
    size_t distance = distance_between(suggestion->word, suggestion->length, candidate, length);
    if (distance > suggestion->best_distance || (distance == suggestion->best_distance && suggestion->best))
        return;
    if (distance >= length)
        return; /* nothing in common */
    suggestion->best = candidate;
    suggestion->best_distance = distance;
}

void sn_suggestion_offer_options(sn_suggestion *suggestion, const sn_option *table) {
    for (const sn_option *option = table; option && option->name; option++)
        sn_suggestion_offer(suggestion, option->name);
}
