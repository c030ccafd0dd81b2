/**
 * @fileoverview The engine's own file descriptors: out of the client's way, and known.
 *
 * A client numbers its descriptors from 0, closes ranges of them, duplicates onto chosen numbers and counts what is
 * open. The engine's few lie near the top of the (soft) limit, at most 1023 (above only if the client has those itself),
 * are close-on-exec, and each is held in one variable that is registered here, so that the emulation of close,
 * close_range, dup2 and /proc/self/fd can ask whether a number is the engine's, and move it when the client wants that
 * very number.
 */
#ifndef SONDE_BASE_DESCRIPTOR_H
#define SONDE_BASE_DESCRIPTOR_H

#include <stdbool.h>

/** Move `descriptor` to a high number (the low one is closed), keep it in *holder, and register it. Returns the new
    number; -1, with errno set and *holder -1, if `descriptor` is -1 or too many are registered. Where the limit leaves no
    room above, the number stays as it was. `holder` must live until sn_descriptor_close(). */
int sn_descriptor_take(int *holder, int descriptor);

/** The same for a copy: `descriptor` itself stays open. */
int sn_descriptor_take_copy(int *holder, int descriptor);

/** Close what *holder holds, and set it to -1. Returns 0 or -1 with errno. */
int sn_descriptor_close(int *holder);

/** Whether `number` is one of the engine's. Any thread, any time. */
bool sn_descriptor_is_taken(int number);

/** The lowest of the engine's that is not below `from`; -1 if there is none. */
int sn_descriptor_next_taken(int from);

/** The client is about to make `number` its own: if it is one of the engine's, that one moves elsewhere. Returns false
    if it is and there is no room. */
bool sn_descriptor_give_way(int number);

#endif
