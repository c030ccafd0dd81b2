/**
 * @fileoverview What the check of blocks (guest/verify.c) needs of this architecture: the client's state as a value, and
 * single-stepping in the signal handler. Per-architecture file.
 */
#ifndef SONDE_GUEST_X86_64_VERIFY_STEP_H
#define SONDE_GUEST_X86_64_VERIFY_STEP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "isa/isa.h"
#include "jit/thread.h"

/** Everything that a block may change besides memory. */
typedef struct sn_client_state {
    uint64_t general[16];
    uint64_t pc, flags;
    uint64_t bases[2];
    uint8_t *extended; /**< sn_client_state_size() bytes, aligned */
} sn_client_state;

/** Bytes of the extended state that the engine saves. */
size_t sn_client_state_size(const sn_thread *thread);
void sn_client_state_save(sn_client_state *to, const sn_thread *thread);
void sn_client_state_load(const sn_client_state *from, sn_thread *thread);

/** Calls `differs` for each thing in which they differ; returns how often. Arithmetic flags count only where the code
    at the program counter looks at them. */
unsigned sn_client_state_compare(const sn_thread *thread, const sn_client_state *expected, const sn_client_state *got,
                                 void (*differs)(const char *what, uint64_t expected, uint64_t got));

/** Whether the client has the processor trap after each instruction itself. */
bool sn_client_steps_itself(const sn_thread *thread);

/** The signal handler asks first whether a signal belongs to the stepping. */
bool sn_verify_signal(sn_thread *thread, ucontext_t *context, const siginfo_t *info);

/** Leave the interrupted client code for the dispatcher, which then saves the state. (host_signal.c) */
void sn_leave_for_engine(sn_thread *thread, ucontext_t *context, uint32_t exit);

#endif
