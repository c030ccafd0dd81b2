/**
 * @fileoverview Files that tools write beside their report: sn_file_create() and its like of sonde/tool.h.
 *
 * Owns their descriptors, out of the client's way, and whether one of them could not be written.
 */
#ifndef SONDE_BASE_TOOL_FILE_H
#define SONDE_BASE_TOOL_FILE_H

#include <stdbool.h>

/** Whether some file could not be written in full since this was last asked. */
bool sn_tool_files_failed(void);

#endif
