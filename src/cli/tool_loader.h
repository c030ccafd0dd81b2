/**
 * @fileoverview Finding and opening tools.
 *
 * A tool NAME is the shared object NAME.so in one of the folders of SONDE_TOOLS, in the folder `tools` next to the
 * command, or where the build installs tools. A name with a slash is the path of a shared object.
 */
#ifndef SONDE_CLI_TOOL_LOADER_H
#define SONDE_CLI_TOOL_LOADER_H

#include "sonde/tool.h"

/** Open the tool `name`. Its absolute path goes to *path. Ends the run with one line if that can't be. */
const sn_tool *sn_tool_open(const char *name, const char **path);

/** Call `visit` with the name of each tool that can be found; a name may come twice. */
void sn_tools_visit(void (*visit)(const char *name, void *data), void *data);

#endif
