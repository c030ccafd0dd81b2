/**
 * @fileoverview `sonde control PID WORD`: has a process that runs under Sonde do something with its tool: dump, zero, on,
 * off, status.
 */
#ifndef SONDE_CLI_CONTROL_COMMAND_H
#define SONDE_CLI_CONTROL_COMMAND_H

/** Do what the words behind `control` (NULL-terminated) say, and exit: with 0 if it was done. */
_Noreturn void sn_control_command_run(const char *const *words);

#endif
