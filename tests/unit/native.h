/**
 * @fileoverview Running one instruction natively from a chosen state, for tests that compare what the engine says of it
 * with what the processor does. Owns the page that it runs in and the handler of the signals that it may raise.
 */
#ifndef SONDE_TESTS_UNIT_NATIVE_H
#define SONDE_TESTS_UNIT_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The state before the instruction; offsets are known to x86_64/native.S. The stack pointer stays the process's own. */
typedef struct native_state {
    uint64_t general[16];
    uint64_t flags;
    uint64_t bases[2]; /**< of the first and the second thread segment */
    uint64_t mask[8];
    uint64_t short_vector[8];
    uint8_t vector[32][64] __attribute__((aligned(64)));
} native_state;

typedef struct native_result {
    int signal; /**< 0: it ran to its end */
    uint64_t counter; /**< the register that counts repetitions, afterwards */
} native_result;

/** Whether this processor and system can do it: 512-bit vectors, and the instructions for segment bases. */
bool native_is_possible(void);

/** Map the page of code at a fixed low address, which every address below 2 GiB can be reached from. */
void native_open(void);
void native_close(void);

/** Where the instruction will be. */
uint64_t native_address(void);

native_result native_run(const native_state *state, const uint8_t *code, size_t length);

#endif
