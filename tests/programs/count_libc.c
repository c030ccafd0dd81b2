/** @fileoverview The C library's start, heap, sorting and output, linked statically. Prints one line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *left, const void *right) {
    const unsigned *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

int main(void) {
    enum { COUNT = 2000 };
    unsigned *values = calloc(COUNT, sizeof *values), state = 1;
    char line[64];
    if (values == NULL) {
        return 1;
    }
    for (size_t i = 0; i < COUNT; i++) {
        values[i] = state = state * 1103515245u + 12345u;
    }
    qsort(values, COUNT, sizeof *values, by_value);
    snprintf(line, sizeof line, "%u %u %.3f", values[0], values[COUNT - 1], values[COUNT / 2] / 3.0);
    printf("%s %zu\n", line, strlen(line));
    free(values);
    return 0;
}
