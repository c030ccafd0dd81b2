/**
 * @fileoverview Small things that several files need: text, numbers, room, the numbers of threads. See memcheck.h.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "memcheck.h"

char *mc_text(const char *format, ...) {
    char *text;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0) {
        sn_fail(125, "memcheck: out of memory");
    }
    return text;
}

const char *mc_number(uint64_t number) {
    enum { BUFFERS = 8, SIZE = 32 };
    static __thread char buffers[BUFFERS][SIZE];
    static __thread unsigned next;
    char *at = buffers[next++ % BUFFERS] + SIZE - 1;
    *at = 0;
    for (unsigned digits = 0; digits == 0 || number != 0; digits++, number /= 10) {
        if (digits != 0 && digits % 3 == 0) {
            *--at = ',';
        }
        *--at = (char)('0' + number % 10);
    }
    return at;
}

void mc_grow(void *items, size_t *room, size_t count, size_t size) {
    void **array = items;
    if (count <= *room) {
        return;
    }
    *room = *room != 0 && 2 * *room > count ? 2 * *room : count + 16;
    *array = reallocarray(*array, *room, size);
    if (*array == NULL) {
        sn_fail(125, "memcheck: out of memory");
    }
}

bool mc_parse_set(const char *text, const mc_set_word *words, unsigned *set) {
    char *copy = mc_text("%s", text);
    bool is_known = true;
    *set = 0;
    for (char *rest = copy, *word; (word = strsep(&rest, ",")) != NULL;) {
        const mc_set_word *known = words;
        while (known->word != NULL && strcmp(known->word, word) != 0) {
            known++;
        }
        is_known &= known->word != NULL;
        *set |= known->bits;
    }
    free(copy);
    return is_known;
}
