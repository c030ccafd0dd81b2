/**
 * @file bench/workloads/hello.c
 * @fileoverview What the workload that compiles and links with gcc compiles.
 */
#include <stdio.h>

int main(void) {
    puts("hello");
    return 0;
}
