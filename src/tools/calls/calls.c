/**
 * @fileoverview The tool `calls`: who calls whom, how often and at what cost, as Callgrind does.
 *
 * This file is the descriptor: options and callbacks, which the engine calls. record.c puts counters into the code, arcs.c
 * has what each thread knows of its calls, separate.c tells functions apart by their callers, cells.c has what was counted for
 * each of these; thread.c sums up; functions.c finds names, profile.c sorts, writer.c writes.
 * simulated.c has the simulation of caches and branches, ledger.c what calls cost of it, events.c says what is counted at all.
 * points.c is where the user wants a dump, a new beginning, or collecting switched.
 */
#include <sonde/tool.h>

#include "dump.h"
#include "points.h"
#include "record.h"
#include "separate.h"
#include "settings.h"
#include "simulator/setup.h"
#include "thread.h"

SN_EXPORT extern const sn_tool sn_tool_descriptor;

calls_settings calls_current = {
    .dumps_lines = true, .compresses_names = true, .compresses_positions = true, .collects_at_start = true, .skips_stubs = true, .levels = 1};

static const char *file = "callgrind.out.%p";
static bool instruments_at_start = true;

static const sn_option options[] = {
    {"callgrind-out-file", SN_OPTION_STRING, &file, "callgrind.out.%p", "FILE", "where the profile goes"},
    {"dump-line", SN_OPTION_FLAG, &calls_current.dumps_lines, "yes", NULL, "costs by source line"},
    {"dump-instr", SN_OPTION_FLAG, &calls_current.dumps_instructions, "no", NULL, "costs by instruction"},
    {"compress-strings", SN_OPTION_FLAG, &calls_current.compresses_names, "yes", NULL, "write each name once"},
    {"compress-pos", SN_OPTION_FLAG, &calls_current.compresses_positions, "yes", NULL, "write near positions by their distance"},
    {"collect-jumps", SN_OPTION_FLAG, &calls_current.collects_jumps, "no", NULL, "count jumps inside of functions"},
    {"collect-systime", SN_OPTION_CHOICE, &calls_current.system_time, "no", "no|msec|usec|nsec",
     "count system calls and measure their time"},
    {"cache-sim", SN_OPTION_FLAG, &cache_current.simulates_caches, "no", NULL, "count references to data, and simulate caches"},
    {"branch-sim", SN_OPTION_FLAG, &cache_current.simulates_branches, "no", NULL, "simulate branch predictors"},
    CACHE_OPTION(CACHE_I1, "I1", "first-level instruction cache"),
    CACHE_OPTION(CACHE_D1, "D1", "first-level data cache"),
    CACHE_OPTION(CACHE_LL, "LL", "last-level cache"),
    {"separate-threads", SN_OPTION_FLAG, &calls_current.separates_threads, "no", NULL, "a profile for each thread"},
    {"separate-callers", SN_OPTION_NUMBER, &calls_current.callers, "0", NULL,
     "tell a function's costs apart by so many of its callers"},
    {"separate-callers", SN_OPTION_NUMBERED, &calls_current.callers_of, "none", "FUNCTION",
     "the same for one function (a glob; several times)"},
    {"separate-recs", SN_OPTION_NUMBER, &calls_current.levels, "1", NULL,
     "tell apart so many levels of a function's recursion"},
    {"separate-recs", SN_OPTION_NUMBERED, &calls_current.levels_of, "none", "FUNCTION",
     "the same for one function (a glob; several times)"},
    {"skip-plt", SN_OPTION_FLAG, &calls_current.skips_stubs, "yes", NULL,
     "no: the linker's stubs (PLT) are functions of their own"},
    {"instr-atstart", SN_OPTION_FLAG, &instruments_at_start, "yes", NULL,
     "no: run at full speed until the program asks for instrumentation, or somebody from outside"},
    {"collect-atstart", SN_OPTION_FLAG, &calls_current.collects_at_start, "yes", NULL,
     "no: count nothing until collecting is switched on"},
    {"toggle-collect", SN_OPTION_LIST, &calls_current.toggle_collect, "none", "FUNCTION",
     "collect only inside of this function (a glob; several times)"},
    {"dump-before", SN_OPTION_LIST, &calls_current.dump_before, "none", "FUNCTION", "write a profile when it is entered"},
    {"dump-after", SN_OPTION_LIST, &calls_current.dump_after, "none", "FUNCTION", "write a profile when it returns"},
    {"zero-before", SN_OPTION_LIST, &calls_current.zero_before, "none", "FUNCTION", "begin at zero when it is entered"},
    {"dump-every-bb", SN_OPTION_NUMBER, &calls_current.blocks_to_dump, "0", "BLOCKS",
     "write a profile whenever so many basic blocks were executed"},
    {0},
};

static void start(void) {
    if (!calls_current.dumps_lines && !calls_current.dumps_instructions) {
        sn_message("a profile needs places: lines are used, since --dump-instr=yes is not given");
        calls_current.dumps_lines = true;
    }
    if (calls_current.blocks_to_dump < 0) {
        sn_fail(2, "--dump-every-bb=%lld: a number of blocks is wanted", (long long)calls_current.blocks_to_dump);
    }
    if (calls_current.toggle_collect.count > 0) {
        calls_current.collects_at_start = false;
    }
    calls_current.file = sn_file_template("callgrind-out-file", file);
    calls_current.total = sn_counter_new(1);
    calls_current.iterations = sn_counter_new(2);
    calls_current.collecting = sn_slot_new();
    calls_current.thread = sn_slot_new();
    calls_current.blocks = sn_slot_new();
    calls_current.is_switchable = calls_points_switch();
    calls_threads_init();
    calls_separate_init();
    calls_simulated_setup(calls_thread_words, calls_thread_branches);
    if (!instruments_at_start) {
        sn_instrumentation_enable(false);
    }
}

static void instrument(sn_block *block) {
    calls_points_insert_entries(block);
    sn_block_set_data(block, calls_record_new(block));
    calls_points_insert_returns(block);
}

static void interrupted(sn_thread *thread, void *data, unsigned completed) {
    if (data != NULL) {
        calls_record_cut(thread, data, completed);
        calls_simulated_cut(thread, data, completed);
    }
}

static void dump(sn_thread *thread) {
    calls_dump(thread, "Dump requested from outside");
}

/** Dumping is what it is for every tool; instrumentation as well. */
static sn_control_outcome control(sn_thread *thread, sn_control_command command, FILE *answer) {
    switch (command) {
    case SN_CONTROL_ZERO:
        calls_accounts_zero(thread);
        return SN_CONTROL_DONE;
    case SN_CONTROL_STATUS:
        fprintf(answer, "%d profiles written; collecting in this thread: %s\n", calls_dumps(),
                *sn_slot_of(thread, calls_current.collecting) != 0 ? "on" : "off");
        return SN_CONTROL_DONE;
    default:
        return SN_CONTROL_USUAL;
    }
}

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE,
    .name = "calls",
    .version = "1",
    .description = "who calls whom, how often and at what cost",
    .options = options,
    .start = start,
    .instrument = instrument,
    .thread_start = calls_thread_start,
    .thread_end = calls_thread_end,
    .fork_child = calls_thread_fork_child,
    .interrupted = interrupted,
    .system_call_before = calls_thread_system_call_before,
    .system_call_after = calls_thread_system_call_after,
    .request = calls_points_request,
    .dump = dump,
    .control = control,
    .end = calls_dump_last,
};
