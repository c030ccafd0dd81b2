/**
 * @fileoverview A tool for the benchmark: records address and value of every load, and drops them; with --registers=yes, of
 * all operands in memory and registers, read and written. What a tool that looks at values costs at least.
 */
#include <sonde/values.h>

static bool registers;

static const sn_option options[] = {
    {"registers", SN_OPTION_FLAG, &registers, "no", NULL, "all operands in memory and registers, not only loads"},
    {NULL, 0, NULL, NULL, NULL, NULL},
};

static void start(void) {
    uint32_t all = SN_VALUES_MEMORY | SN_VALUES_GENERAL | SN_VALUES_VECTOR | SN_VALUES_MASK;
    sn_values_start(&(sn_values_request){.places = registers ? all : SN_VALUES_MEMORY,
                                         .moments = registers ? SN_VALUES_READ | SN_VALUES_WRITTEN : SN_VALUES_READ,
                                         .parts = SN_VALUES_BYTES});
}

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE, .name = "values", .version = "1", .description = "records values and drops them",
    .options = options, .start = start, .end = sn_values_end, SN_VALUES_CALLBACKS,
};
