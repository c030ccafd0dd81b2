/**
 * @fileoverview The texts of the client's files in /proc; procfs.c decides which one is wanted and hands it over.
 */
#ifndef SONDE_GUEST_PROCFS_TEXT_H
#define SONDE_GUEST_PROCFS_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "guest/procfs.h"

/** A text that grows, in memory from the kernel. All zero at first. */
typedef struct sn_growing_text {
    char *bytes;
    size_t size, capacity;
    bool failed; /**< there was no memory for all of it */
} sn_growing_text;

void sn_growing_add(sn_growing_text *text, const void *bytes, size_t size);
void sn_growing_release(sn_growing_text *text);

/** Append a whole file of the host; false if it can't be read. */
bool sn_growing_add_file(sn_growing_text *text, const char *path);

/** What the writers need: the host's file of that name, whose process or thread it is, and the client's signals. */
typedef struct sn_procfs_subject {
    const char *host_path;
    const sn_procfs_signals *signals; /**< NULL when unknown */
} sn_procfs_subject;

/** Each appends one file; false if that can't be done (the host then answers). */
bool sn_procfs_write_maps(sn_growing_text *text, const sn_procfs_subject *subject);
bool sn_procfs_write_smaps(sn_growing_text *text, const sn_procfs_subject *subject);
bool sn_procfs_write_auxv(sn_growing_text *text, const sn_procfs_subject *subject);
bool sn_procfs_write_cmdline(sn_growing_text *text, const sn_procfs_subject *subject);
bool sn_procfs_write_environ(sn_growing_text *text, const sn_procfs_subject *subject);
bool sn_procfs_write_stat(sn_growing_text *text, const sn_procfs_subject *subject);
bool sn_procfs_write_status(sn_growing_text *text, const sn_procfs_subject *subject);

#endif
