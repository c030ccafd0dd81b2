/**
 * @fileoverview Does nothing but allocate and free: blocks of 1 to 1024 bytes, most of them small, up to 20,000 at a time, freed in
 * another order than they came. Argument: how many millions.
 */
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 20000 };

int main(int count, char **arguments) {
    static char *blocks[MOST];
    unsigned long rounds = (count > 1 ? strtoul(arguments[1], NULL, 10) : 1) * 1000000, sum = 0;
    unsigned random = 1;
    for (unsigned long i = 0; i < rounds; i++) {
        random = random * 1664525 + 1013904223;
        unsigned place = (random >> 8) % MOST, size = 1 + (random >> 22) % (random >> 31 ? 1024 : 64);
        free(blocks[place]);
        blocks[place] = malloc(size);
        blocks[place][0] = (char)i;
        sum += size;
    }
    printf("%lu\n", sum);
    return 0;
}
