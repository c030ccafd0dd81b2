/**
 * @fileoverview The texts of --help, --help-debug and --version.
 */
#ifndef SONDE_CLI_HELP_H
#define SONDE_CLI_HELP_H

#include "sonde/tool.h"

/** Each prints to standard output and ends the process: status 0, or 1 if the text could not be written. */
_Noreturn void sn_help_general(void);
_Noreturn void sn_help_tool(const sn_tool *tool);
_Noreturn void sn_help_debug(void);
_Noreturn void sn_help_version(void);

#endif
