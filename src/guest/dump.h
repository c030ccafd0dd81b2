/**
 * @fileoverview Requests from outside: `sonde control PID WORD`, and `sonde dump PID` for what the tool knows so far.
 *
 * Who asks (cli/ask.c) makes a file in memory, the board, and sends a thread of the process SN_DUMP_SIGNAL with
 * SN_DUMP_CODE: a signal that the engine never blocks, with a code that no kernel and no instruction gives. Whether one
 * process may signal another is the kernel's decision. The signal's words say which descriptor of which process the board
 * is; the answering process opens it by /proc, believes only a file in memory of that name that belongs to its own user (or
 * to root), and answers there. A request whose board cannot be opened is not answered at all.
 *
 * The thread leaves client code at an instruction boundary; a wait in the kernel that the signal ended is begun again.
 */
#ifndef SONDE_GUEST_DUMP_H
#define SONDE_GUEST_DUMP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "jit/thread.h"

#define SN_DUMP_SIGNAL SIGILL
#define SN_DUMP_CODE (-61)
/** In the upper half of the signal's value; the descriptor's number is in the lower one. */
#define SN_DUMP_MAGIC UINT64_C(0x534e4432) /* "SND2" */
#define SN_DUMP_BOARD_NAME "sonde-dump"
/** The answer to a command stands behind the board, or, if that is asked for, what the tool prints. */
#define SN_DUMP_TEXT_AT 4096

typedef enum sn_dump_state {
    SN_DUMP_ASKED,
    SN_DUMP_TAKEN,   /**< being answered */
    SN_DUMP_DONE,
    SN_DUMP_UNABLE,  /**< not done: the answer says why */
    SN_DUMP_RECORD,  /**< the tool's output is no report that could go elsewhere */
    SN_DUMP_FAILED,  /**< it could not be written */
} sn_dump_state;

typedef struct sn_dump_board {
    uint64_t magic;
    uint32_t state;      /**< sn_dump_state; a futex */
    uint32_t command;    /**< sn_control_command */
    uint32_t wants_text; /**< of SN_CONTROL_DUMP: the tool's report goes here instead of to where its reports go */
    char tool[64];       /**< filled in by the answer */
} sn_dump_board;

/** The value to send. */
static inline void *sn_dump_value(int descriptor) {
    return (void *)(uintptr_t)(SN_DUMP_MAGIC << 32 | (uint32_t)descriptor);
}

/** Whether a signal is such a request, or one that the tool has taken from the client; it is noted then. For the signal handler. */
bool sn_dump_note(const siginfo_t *info);

/** Whether one was noted that nobody has answered. */
bool sn_dump_is_asked(void);

/** In a forked child: the requests were the parent's. */
void sn_dump_after_fork(void);

/** Answer all. In a client thread, with the client at a boundary or inside a tool's call. */
void sn_dump_answer(sn_thread *thread);

#endif
