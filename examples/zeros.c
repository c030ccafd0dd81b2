/**
 * @file examples/zeros.c
 * @fileoverview For `sonde zerospy`: a matrix of which one element in 64 is not zero is multiplied by a vector as if it were
 * full. With -DFIXED only those elements are kept, each with its column.
 */
#include <stdio.h>

enum { SIZE = 512, EACH = 64, ROUNDS = 200 };

static double matrix[SIZE][SIZE], vector[SIZE], result[SIZE];
static double kept[SIZE][SIZE / EACH];
static int columns[SIZE][SIZE / EACH];

#ifdef FIXED
__attribute__((noinline)) static void multiply(void) {
    for (int row = 0; row < SIZE; row++) {
        double sum = 0;
        for (int k = 0; k < SIZE / EACH; k++) sum += kept[row][k] * vector[columns[row][k]];
        result[row] = sum;
    }
}
#else
__attribute__((noinline)) static void multiply(void) {
    for (int row = 0; row < SIZE; row++) {
        double sum = 0;
        for (int column = 0; column < SIZE; column++) sum += matrix[row][column] * vector[column]; /* zeros */
        result[row] = sum;
    }
}
#endif

int main(void) {
    for (int row = 0; row < SIZE; row++)
        for (int k = 0; k < SIZE / EACH; k++) {
            int column = k * EACH + row % EACH;
            matrix[row][column] = kept[row][k] = row + k + 1;
            columns[row][k] = column;
        }
    for (int i = 0; i < SIZE; i++) vector[i] = 1 + i % 3;
    double sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        multiply();
        vector[round % SIZE] += result[round % SIZE] > 0 ? 1 : 2;
        sum += result[(7 * round) % SIZE];
    }
    printf("%.3f\n", sum);
    return 0;
}
