/**
 * @file bench/workloads/fib.c
 * @fileoverview Recursive calls: almost nothing but calls and returns. Argument: which number to compute.
 */
#include <stdio.h>
#include <stdlib.h>

/* The suite compiles this file with -O1: at -O2 gcc unrolls the recursion, and few calls would be left. */
__attribute__((noinline)) static unsigned long fib(unsigned number) {
    return number < 2 ? number : fib(number - 1) + fib(number - 2);
}

int main(int count, char **arguments) {
    printf("%lu\n", fib(count > 1 ? (unsigned)atoi(arguments[1]) : 30));
    return 0;
}
