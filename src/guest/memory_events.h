/**
 * @fileoverview Memory that comes, goes, moves or changes its protection, told to the tool.
 *
 * Put around the system calls that change the client's address space (guest/syscall.c): what was there before is noted, and
 * afterwards the tool is told what is different. The change and its telling are one step under a lock, so that the tool
 * sees the events of all threads in the order in which they happened.
 */
#ifndef SONDE_GUEST_MEMORY_EVENTS_H
#define SONDE_GUEST_MEMORY_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "jit/thread.h"

/** What the loader mapped. */
void sn_memory_events_begin(void);

/** Whether a system call changes mappings. */
bool sn_memory_events_concern(uint64_t number);

/** Around such a call, if sn_events_wanted.memory. */
void sn_memory_events_before(sn_thread *thread, uint64_t number, const uint64_t arguments[6]);
void sn_memory_events_after(uint64_t number, const uint64_t arguments[6], int64_t result);

/** In a forked child. */
void sn_memory_events_after_fork(void);

#endif
