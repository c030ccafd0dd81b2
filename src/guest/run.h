/**
 * @fileoverview The border between the command line and the engine: run the client under a tool.
 */
#ifndef SONDE_GUEST_RUN_H
#define SONDE_GUEST_RUN_H

#include "sonde/tool.h"

/**
 * Load `program` and run it with `arguments` (argument zero included, NULL-terminated) and `environment` until it ends;
 * ends this process as the client ended. Called once, by src/cli/main.c, after the tool's start callback. A program
 * without a slash is looked up in PATH unless --exec-path= named the file.
 */
_Noreturn void sn_run(const sn_tool *tool, const char *program, const char *const *arguments,
                      const char *const *environment);

#endif
