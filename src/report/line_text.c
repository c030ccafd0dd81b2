/**
 * @fileoverview Pieces of lines. See line_text.h.
 */
#include "report/line_text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sonde/intern.h"

bool sn_line_wrong(sn_line_text *line, const char *format, ...) {
    char what[120];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(line->explanation, line->size, "line %lu: %s", line->number, what);
    return false;
}

bool sn_line_read_all(sn_line_text *line, FILE *stream, bool (*read)(void *data), void *data) {
    char *text = NULL;
    size_t room = 0;
    ssize_t length = 0;
    bool is_good = true;
    while (is_good && (length = getline(&text, &room, stream)) >= 0) {
        line->at = text;
        line->end = text + length - (length > 0 && text[length - 1] == '\n');
        line->number++;
        sn_line_trim(line);
        if (memchr(text, '\0', (size_t)length) != NULL) {
            is_good = sn_line_wrong(line, "there is a zero byte");
        } else if (line->at < line->end) {
            is_good = read(data);
        }
    }
    free(text);
    return is_good;
}

bool sn_line_is_space(char character) {
    return character == ' ' || character == '\t' || character == '\r';
}

void sn_line_skip_space(sn_line_text *line) {
    while (line->at < line->end && sn_line_is_space(*line->at)) {
        line->at++;
    }
}

void sn_line_trim(sn_line_text *line) {
    sn_line_skip_space(line);
    while (line->end > line->at && sn_line_is_space(line->end[-1])) {
        line->end--;
    }
}

bool sn_line_is_at(const sn_line_text *line, char character) {
    return line->at < line->end && *line->at == character;
}

bool sn_line_take(sn_line_text *line, char character) {
    bool is_there = sn_line_is_at(line, character);
    line->at += is_there;
    return is_there;
}

bool sn_line_take_text(sn_line_text *line, const char *beginning) {
    size_t length = strlen(beginning);
    bool is_there = (size_t)(line->end - line->at) >= length && memcmp(line->at, beginning, length) == 0;
    line->at += is_there ? length : 0;
    return is_there;
}

bool sn_line_is_digit(const sn_line_text *line) {
    return line->at < line->end && *line->at >= '0' && *line->at <= '9';
}

bool sn_line_read_decimal(sn_line_text *line, uint64_t *number) {
    *number = 0;
    if (!sn_line_is_digit(line)) {
        return sn_line_wrong(line, "a number is expected");
    }
    for (; sn_line_is_digit(line); line->at++) {
        if (__builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, (uint64_t)(*line->at - '0'), number)) {
            return sn_line_wrong(line, "a number is too large");
        }
    }
    return true;
}

bool sn_line_end_word(sn_line_text *line) {
    if (line->at < line->end && !sn_line_is_space(*line->at)) {
        return sn_line_wrong(line, "a number is expected");
    }
    sn_line_skip_space(line);
    return true;
}

const char *sn_line_word(sn_line_text *line, const char *stops, size_t *length) {
    sn_line_skip_space(line);
    const char *start = line->at;
    while (line->at < line->end && !sn_line_is_space(*line->at) && strchr(stops, *line->at) == NULL) {
        line->at++;
    }
    *length = (size_t)(line->at - start);
    return start;
}

const char *sn_line_rest(const sn_line_text *line) {
    return sn_intern_bytes(line->at, (size_t)(line->end - line->at));
}
