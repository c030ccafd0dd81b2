/**
 * @file bench/workloads/matrix.c
 * @fileoverview Floating-point workload: multiplies square matrices and prints a checksum. Argument: repetitions.
 */
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 320 };

static double left[SIZE][SIZE], right[SIZE][SIZE], product[SIZE][SIZE];

static void multiply(void) {
    for (int row = 0; row < SIZE; row++) {
        for (int column = 0; column < SIZE; column++) product[row][column] = 0;
        for (int inner = 0; inner < SIZE; inner++)
            for (int column = 0; column < SIZE; column++)
                product[row][column] += left[row][inner] * right[inner][column];
    }
}

int main(int count, char **arguments) {
    int repetitions = count > 1 ? atoi(arguments[1]) : 1;
    for (int row = 0; row < SIZE; row++)
        for (int column = 0; column < SIZE; column++) {
            left[row][column] = (double)((row * 7 + column * 3) % 11) / 11;
            right[row][column] = (double)((row * 5 + column * 13) % 17) / 17;
        }
    double sum = 0;
    for (int repetition = 0; repetition < repetitions; repetition++) {
        multiply();
        for (int row = 0; row < SIZE; row++) {
            sum += product[row][(row + repetition) % SIZE];
            left[row][row] = product[row][row] / SIZE;
        }
    }
    printf("%.9e\n", sum);
    return 0;
}
