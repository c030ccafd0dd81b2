/**
 * @fileoverview Two versions of the client's code in the cache, side by side, between which each thread changes by itself: see
 * sn_versions_start() in sonde/tool.h. Most runs have one, version 0.
 *
 * A block belongs to one version, and leads only to blocks of the same: exits are linked within it, and each version has its
 * own table of indirect targets (layout.h). Code at the beginning of blocks counts the instructions down that the thread has
 * left in its version (x86_64/countdown.c), and leaves the cache when there are none; the dispatcher lets the thread go on at
 * the same address in the other version. No other thread is stopped, and nothing is translated anew.
 *
 * In version 1 all blocks count. In version 0, which is to be fast, only heads do: those that are reached by a jump or call back to
 * lower addresses, or by an indirect jump or call. Whoever comes by none of these only goes forward, or returns to behind a
 * call that was made before, and does not so for long. (An indirect jump to behind a call is taken for a return: a loop that is
 * closed by nothing else is not left.) How many instructions a head stands for is known from version 1, where heads count twice.
 */
#ifndef SONDE_JIT_VERSIONS_H
#define SONDE_JIT_VERSIONS_H

#include <stdbool.h>
#include <stdint.h>

#define SN_VERSIONS 2
/** The one in which all blocks count. */
#define SN_VERSION_COUNTED 1

struct sn_thread;

/** Whether there are two. */
bool sn_versions_are_two(void);

/* Heads: under sn_jit_lock; nothing where there is one version. */
/** Code was made that will return to the address. */
void sn_versions_note_return(uint64_t address);
/** A branch goes back to the address. */
void sn_versions_note_head(uint64_t address);
/** An indirect branch leads to the address. */
void sn_versions_note_branch(uint64_t address);
bool sn_versions_is_head(uint64_t address);

/** How often threads have changed, for statistics. */
uint64_t sn_versions_changes(void);

/** The thread has not run yet; its `borrowed` is set. */
void sn_versions_thread_begins(struct sn_thread *thread);

/** Whether the thread, which is at an instruction, is to go on in the other version. */
bool sn_versions_is_due(const struct sn_thread *thread);
/** Whoever else wants to know, before the thread is in that version: false if it should stay where it is for now, and is
    asked again soon. Once, before the first translation. */
void sn_versions_listen(bool (*changes)(struct sn_thread *thread, unsigned version));
/** Let it, and tell the tool. In the engine, without locks. */
void sn_versions_change(struct sn_thread *thread);

#endif
