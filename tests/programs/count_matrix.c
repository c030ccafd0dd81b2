/** @fileoverview Floating-point loops that the compiler makes vector code of, and x87. See freestanding.h. */
#include "freestanding.h"

enum { SIZE = 40 };

static double left[SIZE][SIZE], right[SIZE][SIZE], product[SIZE][SIZE];

static void fill(void) {
    for (int row = 0; row < SIZE; row++) {
        for (int column = 0; column < SIZE; column++) {
            left[row][column] = row + column;
            right[row][column] = row == column ? 2 : 0;
        }
    }
}

static void multiply(void) {
    for (int row = 0; row < SIZE; row++) {
        for (int middle = 0; middle < SIZE; middle++) {
            for (int column = 0; column < SIZE; column++) {
                product[row][column] += left[row][middle] * right[middle][column];
            }
        }
    }
}

int run(void) {
    long double sum = 0;
    fill();
    multiply();
    for (int row = 0; row < SIZE; row++) {
        for (int column = 0; column < SIZE; column++) {
            sum += product[row][column];
        }
    }
    return sum == 2.0L * SIZE * SIZE * (SIZE - 1) ? 0 : 1;
}
