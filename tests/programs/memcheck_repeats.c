/**
 * @fileoverview Errors that are found at the same places over and over, in many contexts: 60,000 in all, half of them undefined values
 * that decide, half reads behind a block. The numbers are what memcheck has to count.
 */
#include <stdio.h>
#include <stdlib.h>

enum { CONTEXTS = 30, TIMES = 1000 };

static volatile unsigned long count;

static void *hide(void *pointer) {
    __asm__ volatile("" : "+r"(pointer) : : "memory");
    return pointer;
}

static void look(volatile char *block) {
    if (block[1]) count++; /* error: jump */
    count += block[16];    /* error: read */
}

/** Each depth is another context. */
static void deeper(char *block, unsigned depth) {
    look(block);
    if (depth > 1) deeper(block, depth - 1);
}

int main(void) {
    char *block = hide(malloc(16));
    for (unsigned i = 0; i < TIMES; i++) deeper(block, CONTEXTS);
    free(block);
    puts("done");
    return 0;
}
