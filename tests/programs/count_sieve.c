/** @fileoverview Loops, branches and byte accesses: primes below 20,000. See freestanding.h. */
#include "freestanding.h"

static uint8_t composite[20000];

int run(void) {
    unsigned primes = 0;
    for (size_t i = 2; i < sizeof composite; i++) {
        if (composite[i]) {
            continue;
        }
        primes++;
        for (size_t k = i + i; k < sizeof composite; k += i) {
            composite[k] = 1;
        }
    }
    return primes == 2262 ? 0 : 1;
}
