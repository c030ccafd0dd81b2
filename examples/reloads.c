/**
 * @file examples/reloads.c
 * @fileoverview For `sonde loadspy`: a loop that loads the same three values again and again, because the compiler has to
 * assume that what the loop stores may change them. With -DFIXED it keeps them in local variables.
 */
#include <stdio.h>

enum { COUNT = 4000, ROUNDS = 5000 };

struct line {
    double factor, shift;
    double *points;
};

static double points[COUNT];
static struct line line = {.factor = -1, .shift = 1, .points = points};

__attribute__((noinline)) static void move(struct line *of) {
#ifdef FIXED
    double factor = of->factor, shift = of->shift, *points = of->points;
    for (int i = 0; i < COUNT; i++) points[i] = points[i] * factor + shift;
#else
    for (int i = 0; i < COUNT; i++) of->points[i] = of->points[i] * of->factor + of->shift; /* loaded again */
#endif
}

int main(void) {
    struct line *moved = &line;
    __asm__ volatile("" : "+r"(moved)); /* for the compiler it could be any */
    for (int i = 0; i < COUNT; i++) points[i] = i;
    for (int round = 0; round < ROUNDS; round++) move(moved);
    printf("%.3f\n", points[COUNT - 1]);
    return 0;
}
