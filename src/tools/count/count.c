/**
 * @fileoverview The tool `count`: how many instructions, basic blocks, branches, calls, loads and stores a program
 * executes, and in which functions.
 *
 * This file is the descriptor: options and callbacks, which the engine calls. record.c puts the counters into the code,
 * thread.c sums them up, functions.c finds out where they belong, text.c and json.c print.
 */
#include <sonde/tool.h>

#include "report.h"

SN_EXPORT extern const sn_tool sn_tool_descriptor;

enum { FORMAT_TEXT, FORMAT_JSON };

static int64_t function_limit = 10;
static int format = FORMAT_TEXT;

static const sn_option options[] = {
    {.name = "functions",
     .type = SN_OPTION_NUMBER,
     .value = &function_limit,
     .default_text = "10",
     .help = "list this many functions, those with the most instructions first"},
    {.name = "format",
     .type = SN_OPTION_CHOICE,
     .value = &format,
     .default_text = "text",
     .choices = "text|json",
     .help = "form of the report"},
    {0},
};

static void start(void) {
    if (function_limit < 0) {
        sn_fail(2, "count: --functions= must not be negative");
    }
}

static void instrument(sn_block *block) {
    sn_block_set_data(block, count_record_new(block));
}

static void end(void) {
    count_summary summary;
    count_summarise(&summary);
    count_functions functions;
    count_functions_find(&functions, &summary, (uint64_t)function_limit);
    count_report report = {
        .tool = &sn_tool_descriptor,
        .summary = &summary,
        .functions = &functions,
    };
    if (format == FORMAT_JSON) {
        count_print_json(&report);
    } else {
        count_print_text(&report);
    }
    count_functions_free(&functions);
    count_summary_free(&summary);
}

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE,
    .name = "count",
    .version = "1",
    .description = "count instructions, branches, calls and memory accesses",
    .options = options,
    .start = start,
    .instrument = instrument,
    .thread_start = count_thread_start,
    .thread_end = count_thread_end,
    .fork_child = count_thread_fork_child,
    .interrupted = count_thread_interrupted,
    .end = end,
};
