/**
 * @fileoverview A tool's function that runs soon in the engine: sn_attend() of sonde/tool.h.
 */
#ifndef SONDE_GUEST_ATTEND_H
#define SONDE_GUEST_ATTEND_H

#include "jit/thread.h"

/** The dispatcher is about to go back to client code, and a function was asked for. */
void sn_attend_now(sn_thread *thread);

#endif
