/**
 * @fileoverview `sonde dump PID [--to=FILE]`: asks a process that runs under Sonde for what its tool knows so far.
 */
#ifndef SONDE_CLI_DUMP_COMMAND_H
#define SONDE_CLI_DUMP_COMMAND_H

/** Do what the words behind `dump` (NULL-terminated) say, and exit. */
_Noreturn void sn_dump_command(const char *const *words);

#endif
