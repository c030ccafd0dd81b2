/**
 * @fileoverview Which of the client's code a tool sees: --only= and --skip=.
 *
 * The patterns are shell globs over functions, source files and modules. A piece of code is selected if a pattern of
 * --only= names it (or there are none) and no pattern of --skip= does. Decided by address, once for each instruction that
 * is translated; code inlined into a function belongs to that function. The translator (jit/translate.c) asks before it
 * lets the tool instrument, tools ask by sn_selected() of sonde/tool.h.
 */
#ifndef SONDE_SERVICE_SELECT_H
#define SONDE_SERVICE_SELECT_H

#include <stdbool.h>

/** Read the patterns of sn_settings_current and have the translator ask from now on. Once, before the client starts. */
void sn_select_init(void);

/** Whether `glob` matches the function `name` (as demangled), with its parameter list or without. */
bool sn_select_matches_function(const char *glob, const char *name);

/** Whether `glob` matches a path: all of it if the glob holds a slash, else the last part. */
bool sn_select_matches_path(const char *glob, const char *path);

#endif
