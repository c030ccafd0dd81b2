/**
 * @fileoverview The client as a process: its end, fork's locks, execve.
 */
#ifndef SONDE_GUEST_PROCESS_H
#define SONDE_GUEST_PROCESS_H

#include <stdint.h>

#include "jit/thread.h"

/** Take all engine locks, so that they are free in a copy of the process; called with the gate closed. */
void sn_process_before_fork(void);
/** Release them, in parent and child. */
void sn_process_after_fork_everywhere(void);
/** In the child. */
void sn_process_after_fork(sn_thread *thread);

/** The tool writes its report, output files are closed. Once; later calls return at once. */
void sn_process_end(sn_thread *thread);

/** Keep the end from happening meanwhile. */
void sn_process_lock_end(void);
void sn_process_unlock_end(void);

/** exit_group */
_Noreturn void sn_process_exit(sn_thread *thread, int status);

/** execve and execveat: native or under Sonde, as --trace-children says. Returns only on failure. */
long sn_process_exec(sn_thread *thread, uint64_t number, const uint64_t arguments[6]);

#endif
