/**
 * @fileoverview What the client reads about itself in /proc: its own truth instead of the engine's.
 *
 * Called by the emulation of the system calls that take a path. A file is a snapshot of the moment when it was opened;
 * one that is kept open and read again later does not change.
 */
#ifndef SONDE_GUEST_PROCFS_H
#define SONDE_GUEST_PROCFS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Open `path` (as openat would, relative to `directory`) if it names maps, smaps, auxv, cmdline, environ, exe, stat or
 * status of this process: below /proc/self, /proc/thread-self, /proc/PID, and task/TID of those. Returns true with a
 * descriptor or -errno in *result, false when the host should answer.
 */
bool sn_procfs_open(int directory, const char *path, int flags, int mode, long *result);

/** If `path` names the exe link of this process, the client's program; else NULL. */
const char *sn_procfs_exe_path(const char *path);

/** Whether `path` (as openat would take it) names one of the engine's own descriptors in a folder that lists those of this
    process: for the client there is no such file. */
bool sn_procfs_hides(int directory, const char *path);

/** The same for a name in the folder that is open as `directory`. */
bool sn_procfs_hides_entry(int directory, const char *name);

/** Signal sets as the client sees them, bit N-1 for signal N. */
typedef struct sn_procfs_signals {
    uint64_t blocked, ignored, caught;
} sn_procfs_signals;

/** Who knows the client's signals says so here; `thread` is a kernel thread number. False: leave the host's figures. */
void sn_procfs_set_signals(bool (*ask)(int thread, sn_procfs_signals *signals));

#endif
