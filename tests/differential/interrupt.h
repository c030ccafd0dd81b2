/**
 * @fileoverview Timer signals that arrive anywhere in the blocks, and a look at what their handler is shown.
 *
 * The handler changes nothing: every block must end as without it. Used by the runner with --interrupt.
 */
#ifndef SONDE_TESTS_DIFFERENTIAL_INTERRUPT_H
#define SONDE_TESTS_DIFFERENTIAL_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

/** Send SIGALRM every so many microseconds; after sn_executor_open. */
bool sn_interrupt_start(uint64_t microseconds);

/** How many signals arrived. */
uint64_t sn_interrupt_count(void);

/** How many of them arrived while a block ran. */
uint64_t sn_interrupt_inside(void);

/** The first instruction pointer that a handler saw outside the program's own code, or 0. */
uint64_t sn_interrupt_foreign(void);

#endif
