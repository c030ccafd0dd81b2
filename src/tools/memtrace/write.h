/**
 * @fileoverview Blocks of the trace file: packing them and writing each by one write, so that a file that is cut, or that
 * several threads and processes write to, holds whole blocks.
 *
 * Owns the lock of the output and what is known to be written of the static tables. encode.c hands over events; memtrace.c
 * begins and ends.
 */
#ifndef SONDE_TOOLS_MEMTRACE_WRITE_H
#define SONDE_TOOLS_MEMTRACE_WRITE_H

#include <sonde/tool.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What packs blocks: each thread has its own, so that they pack side by side. */
typedef struct memtrace_packer memtrace_packer;
memtrace_packer *memtrace_packer_new(void);
void memtrace_packer_free(memtrace_packer *packer);

/** What the trace has: MEMTRACE_HAS_..., for the process block, which is written before all else. */
void memtrace_write_set_flags(uint32_t flags);

/** Write events of a thread, after all sites and blocks that exist by now. `kind`: MEMTRACE_EVENTS or _FIRST_EVENTS. */
void memtrace_write_events(memtrace_packer *packer, uint32_t kind, int thread, uint32_t predictions, const void *payload,
                           size_t size);

/** Write the end block; what comes afterwards waits in memory, since Sonde closes the output: until
    memtrace_write_reopen() says that the process goes on (execve has failed), which returns whether it was closed. */
void memtrace_write_end(bool is_binary);
bool memtrace_write_reopen(void);

/** Write lines of a thread to the output, behind a line that names the thread if those before were another's. */
void memtrace_write_lines(int thread, const char *lines, size_t size);

/** Where modules are, for the offsets of sites: called as they are mapped. */
void memtrace_note_module(const char *path, uint64_t start, uint64_t end);

/** In a forked child: the lock is free, and nothing is written yet. */
void memtrace_write_after_fork(void);

#endif
