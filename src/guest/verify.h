/**
 * @fileoverview --debug-verify=yes: blocks are checked against their original code, single-stepped by the processor.
 *
 * Before a block is entered, the client's own instructions are stepped through from the same state; what they leave in
 * registers and memory is kept and undone; then the block runs, and the dispatcher compares. Nothing is forked, and no
 * other process is needed: the client's pages stay executable on the host in this mode, and every block is entered by
 * the dispatcher. While more than one thread lives nothing is checked, so that there is one check at a time.
 *
 * Called by the dispatcher and, through x86_64/verify_step.c, by the signal handler.
 */
#ifndef SONDE_GUEST_VERIFY_H
#define SONDE_GUEST_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/isa.h"
#include "jit/thread.h"

/** The dispatcher is about to enter a block at thread->pc. Under sn_jit_lock. */
void sn_verify_enter(sn_thread *thread, uint32_t block);

/** The dispatcher was entered. True: it has nothing to do but to let the thread go on, which enters the block. Does not
    return if the block that was left has done something else than its instructions. */
bool sn_verify_left(sn_thread *thread, uint32_t exit);

/** The thread goes another way: whatever was begun is of no use. */
void sn_verify_cancel(sn_thread *thread);

/** All blocks are forgotten. */
void sn_verify_forget(void);

/** For --stats=yes. */
void sn_verify_print_statistics(void);

/* ------------------------------------------------------- for the signal handler's side */

typedef enum sn_verify_phase {
    SN_VERIFY_IDLE,
    SN_VERIFY_ENTERING, /**< on the way to the first instruction */
    SN_VERIFY_STEPPING, /**< in the original code */
    SN_VERIFY_RUNNING,  /**< in the block */
} sn_verify_phase;

/** Why an entry into a block was not compared. */
typedef enum sn_verify_reason {
    SN_VERIFY_DONE, /**< it was */
    SN_VERIFY_NOT_CHOSEN,
    SN_VERIFY_NOT_REPEATABLE,
    SN_VERIFY_THREADS,
    SN_VERIFY_SIGNAL,
    SN_VERIFY_FAULT,
    SN_VERIFY_SHARED,
    SN_VERIFY_LENGTH,
    SN_VERIFY_REASONS,
} sn_verify_reason;

/** The phase that a thread is in. */
sn_verify_phase sn_verify_phase_of(const sn_thread *thread);

/** The client's registers in the middle of the original code. */
typedef struct sn_verify_place {
    uint64_t pc;
    uint64_t general[16];
} sn_verify_place;

/** The first instruction is next. False: leave for the dispatcher. */
bool sn_verify_start(sn_thread *thread, const sn_verify_place *place);
/** An instruction, or one iteration of it, is done. False: leave for the dispatcher. */
bool sn_verify_advance(sn_thread *thread, const sn_verify_place *place);
/** The instruction that was done last, or is next after sn_verify_start. */
const sn_insn *sn_verify_instruction(void);
/** The original code cannot be followed to its end. */
void sn_verify_abandon(sn_verify_reason reason);
/** The block raised a signal, which its original code had not done. */
void sn_verify_note_fault(int number);

#endif
