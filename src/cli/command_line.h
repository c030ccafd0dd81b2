/**
 * @fileoverview The command line, taken apart: `sonde TOOL [options] [--] PROGRAM [arguments]`.
 *
 * In two steps, since which options there are depends on the tool, and the tool on the command line: first the words are
 * told apart, then, with the tool opened, the options are parsed.
 */
#ifndef SONDE_CLI_COMMAND_LINE_H
#define SONDE_CLI_COMMAND_LINE_H

#include <stdbool.h>

#include "sonde/tool.h"

typedef struct sn_command_line {
    const char *tool;           /**< name or path; NULL if none is named */
    const char *const *options; /**< all words with a dash, in order, except -- and those that only ask for text */
    unsigned option_count;
    const char *const *client;  /**< program and arguments, NULL-terminated */
    bool help, help_debug, version;
} sn_command_line;

/** Tell the words apart. Ends the run on a tool named twice. */
void sn_command_line_split(const char *const *words, sn_command_line *line);

/** Parse the options: core ones into sn_settings_current, the tool's by its table (`tool` may be NULL). Ends the run
    with one line on the first that is wrong. */
void sn_command_line_parse(const sn_command_line *line, const sn_tool *tool);

/** Fill in sn_settings_current.engine_arguments for children: the tool by its path, and the options. */
void sn_command_line_keep(const sn_command_line *line, const char *tool_path);

#endif
