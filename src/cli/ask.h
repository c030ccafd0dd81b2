/**
 * @fileoverview Asking a process that runs under Sonde to do something with its tool: what `sonde dump` (dump_command.c) and
 * `sonde control` (control_command.c) share.
 */
#ifndef SONDE_CLI_ASK_H
#define SONDE_CLI_ASK_H

#include <stdbool.h>
#include <stdio.h>

#include "guest/control.h"
#include "guest/dump.h"

typedef struct sn_asked {
    int process;
    int held;                   /**< a descriptor that stands for it */
    int descriptor;             /**< of the board */
    sn_dump_board *board;
    sn_dump_state state;        /**< how it answered */
} sn_asked;

/** The number of a process that a word is; 0 if it is none. */
int sn_ask_number(const char *word);

/** Find the process; fails with one line if there is none, or if it does not run under Sonde. */
sn_asked sn_ask_find(int process);

/** Ask it, and wait for the answer; fails with one line if there is none. `wants_text`: see sn_dump_board. */
void sn_ask(sn_asked *asked, sn_control_command command, bool wants_text);

/** Copy what it has answered to a file; returns whether that could be written. */
bool sn_ask_copy_text(const sn_asked *asked, FILE *file);

#endif
