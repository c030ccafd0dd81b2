/**
 * @fileoverview Adds up a matrix twice: row by row, as it lies in memory, and column by column. The manual's example for
 * the tool cache (docs/cache.md), and the demo.
 */
#include <stdio.h>

enum { SIDE = 1000 };

static int matrix[SIDE][SIDE];

__attribute__((noinline)) static long sum_by_rows(void) {
    long sum = 0;
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++)
            sum += matrix[row][column];
    return sum;
}

__attribute__((noinline)) static long sum_by_columns(void) {
    long sum = 0;
    for (int column = 0; column < SIDE; column++)
        for (int row = 0; row < SIDE; row++)
            sum += matrix[row][column];
    return sum;
}

int main(void) {
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++)
            matrix[row][column] = row ^ column;
    printf("%ld by rows, %ld by columns\n", sum_by_rows(), sum_by_columns());
    return 0;
}
