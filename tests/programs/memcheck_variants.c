/**
 * @fileoverview A function of one block, run with data that is defined, and with data that is not: memcheck makes the code for the
 * second when it comes to that. And a function of the C library that begins with registers that have no value, reading what it must not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline, noclone))

APART long not_always_defined(const long *of) { return of[0] + 5 * of[1]; }
APART void never_run(const long *of) { printf("%ld\n", of[0]); }

/** strlen(text), with `junk` in all registers that a function may change. */
static unsigned long length_with_junk(const char *text, long junk) {
    unsigned long result;
    __asm__ volatile("mov %[junk], %%rcx\n mov %[junk], %%rdx\n mov %[junk], %%rsi\n mov %[junk], %%r8\n mov %[junk], %%r9\n"
                     "mov %[junk], %%r10\n mov %[junk], %%r11\n mov %[junk], %%rax\n call strlen"
                     : "=&a"(result), "+D"(text)
                     : [junk] "b"(junk)
                     : "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
    return result;
}

int main(int count, char **words) {
    long known[2] = {1, 2}, sum = 0, *pair = malloc(2 * sizeof *pair);
    __asm__ volatile("" : : "r"(known) : "memory");
    pair[0] = 1;
    for (int i = 0; i < 100; i++) {
        sum += not_always_defined(known);
        if (i % 10 == 3) {
            long mixed = not_always_defined(pair);
            if (mixed == 7) puts("seven"); /* line: decides */
        }
    }
    if (count > 5) never_run(known);
    char *text = malloc(4);
    memset(text, 'a', 4);
    unsigned long length = length_with_junk(text, pair[1]); /* line: strlen */
    printf("%ld %s\n", sum, length >= 4 ? "long" : "short");
    (void)words;
    free(text);
    free(pair);
    return 3;
}
