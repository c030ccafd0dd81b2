/**
 * @file examples/clears.c
 * @fileoverview For `sonde deadspy`: a buffer that is cleared before each use, and then overwritten as a whole. With -DFIXED
 * it is not cleared.
 */
#include <stdio.h>
#include <string.h>

enum { SIZE = 4096, ROUNDS = 4000 };

static long buffer[SIZE];

__attribute__((noinline)) static void clear(long *to) {
    for (int i = 0; i < SIZE; i++) {
        to[i] = 0; /* dead */
        __asm__ volatile("" ::: "memory"); /* as if it were in a library that the compiler does not see */
    }
}

__attribute__((noinline)) static void fill(long *to, long first) {
    for (int i = 0; i < SIZE; i++) to[i] = first + i;
}

__attribute__((noinline)) static long add(const long *of) {
    long sum = 0;
    for (int i = 0; i < SIZE; i++) sum += of[i];
    return sum;
}

int main(void) {
    long sum = 0, *used = buffer;
    __asm__ volatile("" : "+r"(used)); /* for the compiler it could be any */
    for (int round = 0; round < ROUNDS; round++) {
#ifndef FIXED
        clear(used);
#endif
        fill(used, round);
        sum += add(used);
    }
    printf("%ld\n", sum);
    return 0;
}
