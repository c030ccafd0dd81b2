/**
 * @fileoverview Pieces of reports for people. See text_form.h. Owns the choice of colour.
 */
#include "report/text_form.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_color_on;

/** What is at least so large a share is shown so; the largest first. */
static const struct {
    double share;
    const char *color;
    char mark;
} emphases[] = {{50, "\033[1;31m", '>'}, {10, "\033[33m", ' '}};

const char *sn_form_number(int64_t number, char *buffer) {
    char digits[24];
    uint64_t magnitude = number < 0 ? -(uint64_t)number : (uint64_t)number;
    int length = snprintf(digits, sizeof digits, "%" PRIu64, magnitude);
    char *to = buffer;
    if (number < 0) {
        *to++ = '-';
    }
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            *to++ = ',';
        }
        *to++ = digits[i];
    }
    *to = '\0';
    return buffer;
}

/** Columns of UTF-8 text: its characters, each taken as one wide. */
static unsigned columns_of(const char *text) {
    unsigned columns = 0;
    for (; *text != '\0'; text++) {
        columns += (*text & 0xc0) != 0x80;
    }
    return columns;
}

/** Behind `columns` more characters. */
static const char *skip_columns(const char *text, unsigned columns) {
    while (*text != '\0' && (columns > 0 || (*text & 0xc0) == 0x80)) {
        columns -= (*text & 0xc0) != 0x80;
        text++;
    }
    return text;
}

static void print_characters(const char *text, const char *end) {
    for (; text < end; text++) {
        bool is_control = (unsigned char)*text < ' ' || *text == 0x7f;
        putchar(is_control ? '?' : *text);
    }
}

unsigned sn_form_print(const char *text, unsigned width, sn_form_end end) {
    unsigned columns = columns_of(text), dots = width < 8 ? 0 : 3, kept = width - dots;
    if (columns <= width) {
        print_characters(text, text + strlen(text));
        return columns;
    }
    if (end == SN_FORM_CUT_BEGINNING) {
        printf("%.*s", (int)dots, "...");
        print_characters(skip_columns(text, columns - kept), text + strlen(text));
    } else {
        print_characters(text, skip_columns(text, kept));
        printf("%.*s", (int)dots, "...");
    }
    return width;
}

void sn_form_print_padded(const char *text, unsigned width, sn_form_end end) {
    printf("%*s", (int)(width - sn_form_print(text, width, end)), "");
}

const char *sn_form_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL || slash[1] == '\0' ? path : slash + 1;
}

void sn_form_print_share(double share, bool is_zero) {
    if (is_zero) {
        printf("%6s", "");
    } else {
        printf("%5.1f%%", share);
    }
}

void sn_form_choose_color(int choice) {
    is_color_on = choice == SN_COLOR_YES ||
                  (choice == SN_COLOR_AUTO && isatty(STDOUT_FILENO) && getenv("NO_COLOR") == NULL);
}

char sn_form_begin_line(double share) {
    for (size_t i = 0; i < sizeof emphases / sizeof *emphases; i++) {
        if (share >= emphases[i].share) {
            fputs(is_color_on ? emphases[i].color : "", stdout);
            return emphases[i].mark;
        }
    }
    return ' ';
}

void sn_form_end_line(double share) {
    bool is_colored = share >= emphases[sizeof emphases / sizeof *emphases - 1].share;
    fputs(is_color_on && is_colored ? "\033[0m\n" : "\n", stdout);
}
