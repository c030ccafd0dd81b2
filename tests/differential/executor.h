/**
 * @fileoverview Runs one block of machine code from a given state and captures all the state it leaves.
 *
 * Owns the data places of layout.h, the signal handlers and the gate. The generator runs every block with it as the
 * block grows; the runner runs finished blocks with it, natively and under Sonde.
 */
#ifndef SONDE_TESTS_DIFFERENTIAL_EXECUTOR_H
#define SONDE_TESTS_DIFFERENTIAL_EXECUTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { SN_STATE_AREA = 16384 };

/** What a block starts from. The order of the first fields is known to x86_64/trampoline.S. */
typedef struct sn_start {
    uint64_t registers[16]; /**< by hardware number; 4 is the stack pointer */
    uint64_t flags;
    uint64_t entry;
    uint64_t fs_base, gs_base;
    uint64_t segments; /**< nonzero: the segment bases are set for the block; else fs stays the C library's */
    uint64_t seed;     /**< of vector state, x87 state and memory contents */
} sn_start;

/** What a block ends with. The order of the first fields is known to x86_64/trampoline.S. */
typedef struct sn_finish {
    uint64_t registers[16];
    uint64_t flags;
    uint64_t fs_base, gs_base;
    uint64_t instruction_pointer; /**< of the fault; 0 when the block ran to its end */
    int32_t signal, code;         /**< 0, 0 when the block ran to its end */
    uint64_t fault_address;       /**< si_addr */
    uint64_t trap, trap_error;    /**< the processor's exception number and error code */
    uint8_t extended[SN_STATE_AREA] __attribute__((aligned(64))); /**< xsave standard form */
} sn_finish;

extern sn_start sn_executor_start;
extern sn_finish sn_executor_finish;

/** Map the data places and install the handlers; false after saying why. */
bool sn_executor_open(void);

/** Fill memory and extended state from the seed; the state that every run of the block starts from. */
void sn_executor_prepare(const sn_start *start);

/** Run the prepared block once. The state is in sn_executor_finish, memory in the data places. */
void sn_executor_run(void);

/** Where the byte that runs find at an address of the data places is kept, to be changed between runs; NULL elsewhere. */
uint8_t *sn_executor_initial(uint64_t address);

/** The extended state that runs start from, to be changed between runs. */
extern uint8_t sn_executor_image[SN_STATE_AREA];

/** Let the state that the last run left, memory included, be what runs start from. */
void sn_executor_continue(uint64_t entry);

/** Hash of everything that the last run left. */
uint64_t sn_executor_hash(void);

/** One line: how the block ended and a hash of each group of state. */
void sn_executor_print(uint64_t number, FILE *out);

/** Every field of the state, one a line, and the memory lines that the block changed. */
void sn_executor_print_full(FILE *out);


#endif
