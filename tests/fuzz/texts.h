/**
 * @fileoverview The program that a fuzz target of a text format is: `TARGET FIRST_SEED COUNT` makes texts that are in order,
 * spoils most of them, and has all read. For fuzz_cachegrind.c, fuzz_callgrind.c, fuzz_heap.c, fuzz_massif.c and fuzz_values.c, which include it behind their
 * LLVMFuzzerTestOneInput and its counters `accepted` and `refused`.
 */
#ifndef SONDE_TESTS_FUZZ_TEXTS_H
#define SONDE_TESTS_FUZZ_TEXTS_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

enum { MOST_SIZE = 4096, MOST_CHANGES = 4 };

typedef struct text {
    char bytes[MOST_SIZE];
    size_t size;
} text;

/** What a target is made of. */
typedef struct text_target {
    const char *name;
    void (*make_good)(text *to); /**< a text that is in order, of a shape that the seed decides */
    const char *const *pieces;   /**< what is put into texts to spoil them */
    size_t piece_count;
} text_target;

static void add(text *to, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(to->bytes + to->size, sizeof to->bytes - to->size, format, arguments);
    va_end(arguments);
    if (length > 0 && to->size + (size_t)length < sizeof to->bytes) {
        to->size += (size_t)length;
    }
}

static void spoil(const text_target *target, text *text) {
    const char *piece = target->pieces[below(target->piece_count)];
    size_t at = below(text->size + 1), length = strlen(piece), gone = below(6);
    if (below(3) == 0 && text->size > 0) {
        text->bytes[below(text->size)] = (char)next_random();
        return;
    }
    if (below(4) == 0) {
        text->size = at;
        return;
    }
    gone = gone > text->size - at ? text->size - at : gone;
    if (text->size - gone + length < sizeof text->bytes) {
        memmove(text->bytes + at + length, text->bytes + at + gone, text->size - at - gone);
        memcpy(text->bytes + at, piece, length);
        text->size += length - gone;
    }
}

/** Have a copy of exact size read, so that a sanitizer sees a read behind it. */
static void read_exactly(const text *text) {
    uint8_t *exact = malloc(text->size + 1);
    memcpy(exact, text->bytes, text->size);
    exact = realloc(exact, text->size ? text->size : 1);
    LLVMFuzzerTestOneInput(exact, text->size);
    free(exact);
}

/** The program's main. */
static int run_texts(const text_target *target, int argument_count, char **arguments) {
    static text text;
    if (argument_count != 3) {
        fprintf(stderr, "usage: %s FIRST_SEED COUNT\n", target->name);
        return 2;
    }
    uint64_t first = strtoull(arguments[1], NULL, 0), count = strtoull(arguments[2], NULL, 0);
    for (uint64_t seed = first; seed < first + count; seed++) {
        random_state = seed;
        target->make_good(&text);
        for (uint64_t changes = below(MOST_CHANGES); changes > 0; changes--) {
            spoil(target, &text);
        }
        read_exactly(&text);
    }
    /* Both have to be frequent, or the test tests nothing. */
    if (accepted < count / 10 || refused < count / 10) {
        fprintf(stderr, "%s: %lu accepted, %lu refused\n", target->name, accepted, refused);
        return 1;
    }
    printf("%lu inputs read\n", accepted + refused);
    return 0;
}

#endif
