/**
 * @fileoverview The limits on memory that the client was given: the engine reserves far more than they allow, so that
 * they are lifted for the process, shown to the client as they were, and applied to the client's mappings by the space.
 *
 * Called by cli (at the start), guest/syscall.c, guest/thread.c, guest/process.c and the texts of /proc.
 */
#ifndef SONDE_GUEST_LIMITS_H
#define SONDE_GUEST_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/procfs_text.h"
#include "jit/thread.h"

/** Take note of the limits and lift them as far as this process may. Before anything large is reserved. `handed_on` is
    what sn_limits_write of the engine before this one wrote, or NULL; false if it is malformed. */
bool sn_limits_init(const char *handed_on);

/** Whether a system call on the limits of `process` (0: its own) is about one of these. */
bool sn_limits_concern(const sn_thread *thread, uint64_t process, uint64_t resource);

/** prlimit64 for such a one: read it, and change it unless `new` is NULL. 0 or -errno. */
long sn_limits_change(sn_thread *thread, uint64_t resource, const sn_memory_limit *new, sn_memory_limit *old);

/** A child that shares memory but is a process of its own (vfork) begins with its parent's limits. */
void sn_limits_inherit(sn_thread *child, const sn_thread *parent);
/** In a forked child, before the thread counts as an ordinary one. */
void sn_limits_after_fork(const sn_thread *thread);

/** The client's limits as a text, for an engine that follows an execve: it could not lift them again. */
#define SN_LIMITS_TEXT_SIZE 128
void sn_limits_write(const sn_thread *thread, char text[SN_LIMITS_TEXT_SIZE]);

/** Give this process the client's limits, for a program that runs natively; undo that when execve failed. */
void sn_limits_before_exec(const sn_thread *thread);
void sn_limits_after_failed_exec(void);

/** /proc/self/limits. */
bool sn_procfs_write_limits(sn_growing_text *text, const sn_procfs_subject *subject);

#endif
