/**
 * @fileoverview The tool `none`: runs the program under the engine and adds nothing.
 *
 * Owns only its descriptor, which the engine opens. It measures what the engine itself costs and checks that a program
 * runs unchanged.
 */
#include <sonde/tool.h>

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE,
    .name = "none",
    .version = "1",
    .description = "run the program, report nothing",
};
