/**
 * @fileoverview The stack as it grows and shrinks: see frames.c.
 */
#ifndef MEMCHECK_FRAMES_H
#define MEMCHECK_FRAMES_H

#include <sonde/shadow.h>

/** From the start callback: `definedness` is the shadow of undefined bits, `origins` that of where they were made, or NULL. Without a
    call of it, the others do nothing. */
void mc_frames_init(const sn_shadow_memory *definedness, const sn_shadow_memory *origins);
/** A thread begins, with the stack pointer that it has. */
void mc_frames_thread_start(sn_thread *thread);
/** From the instrument callback, before all that follows data. */
void mc_frames_insert(sn_block *block);

#endif
