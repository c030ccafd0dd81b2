/**
 * @fileoverview Where the differential test puts code and data: fixed addresses, the same natively and under Sonde.
 *
 * Registers hold addresses and blocks compute with them, so that two runs can only be compared when every address is
 * the same. All places lie inside the windows that the engine gives its client (src/jit/layout.h) and are free in an
 * ordinary process too. Each data place has unmapped pages on both sides.
 */
#ifndef SONDE_TESTS_DIFFERENTIAL_LAYOUT_H
#define SONDE_TESTS_DIFFERENTIAL_LAYOUT_H

#include <stdint.h>

/** One jump back to the executor, at an address that blocks can name. */
#define SN_GATE UINT64_C(0x1f000000)

/** Code of blocks: low is within reach of the engine's fast table, high is not. */
#define SN_LOW_CODE UINT64_C(0x20000000)
#define SN_HIGH_CODE UINT64_C(0x120000000000)
#define SN_CODE_SPAN UINT64_C(0x20000000)

/** What fills the code places between blocks: int3. */
#define SN_BREAKPOINT 0xcc

#define SN_ARENA_SIZE UINT64_C(0x4000)
#define SN_LOW_ARENA UINT64_C(0x50000000)
#define SN_HIGH_ARENA UINT64_C(0x120040000000)

#define SN_STACK_SIZE UINT64_C(0x2000)
#define SN_LOW_STACK UINT64_C(0x51000000)
#define SN_HIGH_STACK UINT64_C(0x120041000000)

/** A page that blocks may only read: indices for gathers and scatters. */
#define SN_CONSTANTS UINT64_C(0x52000000)
#define SN_CONSTANTS_SIZE UINT64_C(0x1000)

/** A page for loop counters: no random operand ever points here. */
#define SN_COUNTERS UINT64_C(0x53000000)
#define SN_COUNTERS_SIZE UINT64_C(0x1000)

#endif
