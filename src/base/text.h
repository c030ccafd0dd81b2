/**
 * @fileoverview Building short texts in a given buffer, without libc's formatted output.
 *
 * For engine code on threads that libc does not know. What does not fit is cut off; the buffer always ends with NUL.
 */
#ifndef SONDE_BASE_TEXT_H
#define SONDE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct sn_text {
    char *buffer;
    size_t length, size;
    bool cut; /**< something did not fit */
} sn_text;

static inline sn_text sn_text_in(char *buffer, size_t size) {
    buffer[0] = '\0';
    return (sn_text){.buffer = buffer, .size = size};
}

static inline void sn_text_add_bytes(sn_text *text, const char *bytes, size_t length) {
    size_t room = text->size - 1 - text->length;
    if (length > room) {
        length = room;
        text->cut = true;
    }
    memcpy(text->buffer + text->length, bytes, length);
    text->length += length;
    text->buffer[text->length] = '\0';
}

static inline void sn_text_add(sn_text *text, const char *string) {
    sn_text_add_bytes(text, string, strlen(string));
}

/** `value` in a base up to 16, with leading zeros up to `width` digits. */
static inline void sn_text_add_number(sn_text *text, uint64_t value, unsigned base, unsigned width) {
    char digits[64];
    unsigned first = sizeof digits;
    do {
        digits[--first] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    while (first > 0 && sizeof digits - first < width) {
        digits[--first] = '0';
    }
    sn_text_add_bytes(text, digits + first, sizeof digits - first);
}

static inline void sn_text_add_decimal(sn_text *text, uint64_t value, unsigned width) {
    sn_text_add_number(text, value, 10, width);
}

static inline void sn_text_add_hexadecimal(sn_text *text, uint64_t value, unsigned width) {
    sn_text_add_number(text, value, 16, width);
}

#endif
