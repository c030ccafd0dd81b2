/**
 * @fileoverview What a running process is asked to do with its tool: dump, zero, on, off, status. The words, and carrying
 * them out. Asked by other processes (dump.h) and by the program itself (request.h).
 */
#ifndef SONDE_GUEST_CONTROL_H
#define SONDE_GUEST_CONTROL_H

#include <stdbool.h>
#include <stdio.h>

#include "jit/thread.h"

/** The words in the order of sn_control_command; NULL ends them. */
extern const char *const sn_control_words[];

/** The command that a word names; false if none. */
bool sn_control_find(const char *word, sn_control_command *command);

/** Have it done: what is said to it, whole lines, goes to `answer`. Never SN_CONTROL_USUAL. In a client thread, with the
    client at a boundary or inside a tool's call. */
sn_control_outcome sn_control(sn_thread *thread, sn_control_command command, FILE *answer);

#endif
