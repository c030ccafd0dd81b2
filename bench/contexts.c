/**
 * @fileoverview A tool that has Sonde keep shadow stacks, and asks for no context: what they cost alone.
 */
#include <sonde/tool.h>

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE,
    .name = "contexts",
    .version = "1",
    .description = "keep shadow stacks",
    .start = sn_contexts_enable,
};
