/**
 * @fileoverview Signal frames in the kernel's layout on this architecture.
 */
#ifndef SONDE_GUEST_X86_64_FRAME_H
#define SONDE_GUEST_X86_64_FRAME_H

#include <stdbool.h>
#include <ucontext.h>

#include "guest/signal.h"
#include "jit/thread.h"

/** Index of each general register, in hardware order, in a machine context. */
extern const unsigned char sn_context_index[16];

/**
 * Turn the host's frame, which holds the client's exact state at `thread->pc`, into the client's frame on the client's
 * stack, and the context into the state at the handler's start. `mask`: the client's mask that the frame shall restore.
 * False if the client's stack cannot be written.
 */
bool sn_frame_build(sn_thread *thread, ucontext_t *context, const siginfo_t *info, int number,
                    const sn_signal_action *action, uint64_t mask);

#endif
