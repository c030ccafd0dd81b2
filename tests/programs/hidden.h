/**
 * @fileoverview What keeps the compiler from seeing through programs that use undefined values on purpose: for memcheck_origins.c and
 * memcheck_values.c.
 */
#ifndef SONDE_TESTS_PROGRAMS_HIDDEN_H
#define SONDE_TESTS_PROGRAMS_HIDDEN_H

#include <stdint.h>

#define APART __attribute__((noinline, noclone))

static volatile uint64_t sum;
/** A condition whose outcome does not matter. */
#define SEE(what) do { if (what) sum++; } while (0)

/** The pointer, of whose block the compiler knows nothing from here on. */
static APART void *hide(void *pointer) {
    __asm__ volatile("" : "+r"(pointer));
    return pointer;
}

#endif
