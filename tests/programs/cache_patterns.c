/**
 * @fileoverview Programs whose cache misses follow from their access pattern alone: PATTERN is one of the functions below.
 *
 * Without a C library, statically linked, so that all of what is executed is here. For tests/test_cache.py.
 */
#include "freestanding.h"

enum { SIDE = 256, NODES = 20000, BLOCK = 16, MULTIPLIED = 96 };

static volatile double matrix[SIDE][SIDE] __attribute__((aligned(4096)));

/** Row by row: each line is used whole before the next one. */
__attribute__((unused)) static int rows(void) {
    double sum = 0;
    for (int round = 0; round < 3; round++)
        for (int row = 0; row < SIDE; row++)
            for (int column = 0; column < SIDE; column++)
                sum += matrix[row][column]; /* the line that misses */
    return sum != 0;
}

/** Column by column: each access is to another line, and the same sets are used over and over. */
__attribute__((unused)) static int columns(void) {
    double sum = 0;
    for (int round = 0; round < 3; round++)
        for (int column = 0; column < SIDE; column++)
            for (int row = 0; row < SIDE; row++)
                sum += matrix[row][column]; /* the line that misses */
    return sum != 0;
}

static struct node {
    struct node *next;
    volatile uint64_t value;
    uint64_t unused[6];
} nodes[NODES] __attribute__((aligned(4096)));

/** A list through nodes in no order. */
__attribute__((unused)) static int list(void) {
    static uint32_t order[NODES];
    uint64_t random = 1, sum = 0;
    for (uint32_t i = 0; i < NODES; i++)
        order[i] = i;
    for (uint32_t i = NODES - 1; i > 0; i--) {
        random = random * UINT64_C(6364136223846793005) + 1;
        uint32_t other = (uint32_t)((random >> 33) % (i + 1)), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (uint32_t i = 0; i < NODES; i++)
        nodes[order[i]].next = i + 1 < NODES ? &nodes[order[i + 1]] : NULL;
    for (int round = 0; round < 4; round++)
        for (const struct node *node = &nodes[order[0]]; node != NULL; node = node->next)
            sum += node->value; /* the line that misses */
    return sum != 0;
}

/** Matrices multiplied block by block. */
__attribute__((unused)) static int blocks(void) {
    static volatile double left[MULTIPLIED][MULTIPLIED], right[MULTIPLIED][MULTIPLIED], product[MULTIPLIED][MULTIPLIED];
    for (int i = 0; i < MULTIPLIED; i += BLOCK)
        for (int j = 0; j < MULTIPLIED; j += BLOCK)
            for (int k = 0; k < MULTIPLIED; k += BLOCK)
                for (int row = i; row < i + BLOCK; row++)
                    for (int column = j; column < j + BLOCK; column++)
                        for (int inner = k; inner < k + BLOCK; inner++)
                            product[row][column] += left[row][inner] * right[inner][column]; /* the line that misses */
    return product[5][7] != 0;
}

int run(void) {
    return PATTERN();
}
