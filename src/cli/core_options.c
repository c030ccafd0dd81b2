/**
 * @fileoverview The core options. See core_options.h.
 *
 * Option tables store flags into bool and numbers into int64_t; the settings that are of another type, or are the
 * opposite of their option, are parsed into `parsed` and converted.
 */
#include "cli/core_options.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/filename.h"
#include "base/log.h"
#include "base/settings.h"

static struct {
    bool superblocks, links, fsgsbase, bmi2, fast_decode, admits_valgrind;
    int return_prediction;
    int64_t bisect_blocks, dump_block, break_block, block_limit, cache_size, exec_filters, exec_program, analysis_threads;
} parsed = {
    .superblocks = true,
    .links = true,
    .fsgsbase = true,
    .bmi2 = true,
    .fast_decode = true,
    .admits_valgrind = true,
    .bisect_blocks = -1,
    .dump_block = -1,
    .break_block = -1,
    .block_limit = 40,
    .exec_filters = -1,
    .exec_program = -1,
};

const char *sn_exec_path, *sn_exec_argument_zero, *sn_exec_limits;

const sn_option sn_core_options[] = {
    {"tool", SN_OPTION_STRING, &(const char *){NULL}, "", "NAME", "the tool, instead of the word TOOL"},
    {"trace-children", SN_OPTION_FLAG, &sn_settings_current.trace_children, "no", NULL,
     "follow the program into what it executes"},
    {"trace-children-skip", SN_OPTION_STRING, &sn_settings_current.trace_children_skip, "", "PATTERNS",
     "but not into these (comma-separated)"},
    {"log-file", SN_OPTION_STRING, &sn_settings_current.log_file, "standard error", "FILE", "where messages go"},
    {"output", SN_OPTION_STRING, &sn_settings_current.output, "the log", "FILE", "where the report goes"},
    {"only", SN_OPTION_LIST, &sn_settings_current.only, "everything", "PATTERN",
     "functions, files or modules"},
    {"skip", SN_OPTION_LIST, &sn_settings_current.skip, "nothing", "PATTERN",
     "but not these"},
    {"analysis-threads", SN_OPTION_NUMBER, &parsed.analysis_threads, "0", NULL,
     "threads for full trace buffers"},
    {"running-on-valgrind", SN_OPTION_FLAG, &parsed.admits_valgrind, "yes", NULL, "what its macro tells the program"},
    {"stats", SN_OPTION_FLAG, &sn_settings_current.stats, "no", NULL, "print the engine's counters at the end"},
    {0},
};

const sn_option sn_debug_options[] = {
    {"debug-bisect", SN_OPTION_NUMBER, &parsed.bisect_blocks, "off", NULL,
     "from block N on, translate one instruction a block, without instrumentation"},
    {"debug-dump-block", SN_OPTION_NUMBER, &parsed.dump_block, "off", NULL,
     "print block N: client code, analysis, emitted code"},
    {"debug-dump-blocks", SN_OPTION_FLAG, &sn_settings_current.dump_blocks, "no", NULL, "print every block"},
    {"debug-verify", SN_OPTION_FLAG, &sn_settings_current.verify_blocks, "no", NULL,
     "check every block against single-stepping"},
    {"debug-break-block", SN_OPTION_NUMBER, &parsed.break_block, "off", NULL,
     "translate block N wrongly, to see that --debug-verify finds it"},
    {"debug-block-limit", SN_OPTION_NUMBER, &parsed.block_limit, "40", NULL, "most instructions in a block"},
    {"debug-superblocks", SN_OPTION_FLAG, &parsed.superblocks, "yes", NULL, "go on behind branches within a block"},
    {"debug-return-prediction", SN_OPTION_CHOICE, &parsed.return_prediction, "auto", "auto|yes|no",
     "let the processor predict returns by their calls"},
    {"debug-links", SN_OPTION_FLAG, &parsed.links, "yes", NULL, "connect blocks directly"},
    {"debug-fsgsbase", SN_OPTION_FLAG, &parsed.fsgsbase, "yes", NULL,
     "write segment bases by instructions where the kernel allows them"},
    {"debug-bmi2", SN_OPTION_FLAG, &parsed.bmi2, "yes", NULL,
     "use shifts that leave the flags alone where the processor has them"},
    {"debug-fast-decode", SN_OPTION_FLAG, &parsed.fast_decode, "yes", NULL,
     "decode frequent instructions without the decoding library"},
    {"debug-cache-size", SN_OPTION_NUMBER, &parsed.cache_size, "as large as fits", "BYTES", "size of the code cache"},
    {0},
};

const sn_option sn_exec_options[] = {
    {"exec-path", SN_OPTION_STRING, &sn_exec_path, "", NULL, NULL},
    {"exec-arg0", SN_OPTION_STRING, &sn_exec_argument_zero, "", NULL, NULL},
    {"exec-limits", SN_OPTION_STRING, &sn_exec_limits, "", NULL, NULL},
    {"exec-filters", SN_OPTION_NUMBER, &parsed.exec_filters, "", NULL, NULL},
    {"exec-program", SN_OPTION_NUMBER, &parsed.exec_program, "", NULL, NULL},
    {0},
};

static void check_range(const char *name, int64_t value, int64_t least, int64_t most) {
    if (value < least || value > most)
        sn_fail(SN_STATUS_USAGE, "--%s must be from %lld to %lld", name, (long long)least, (long long)most);
}

void sn_core_options_apply(void) {
    sn_settings *settings = &sn_settings_current;
    if (parsed.bisect_blocks != -1)
        check_range("debug-bisect", parsed.bisect_blocks, 0, INT64_MAX);
    if (parsed.dump_block != -1)
        check_range("debug-dump-block", parsed.dump_block, 0, INT64_MAX);
    if (parsed.break_block != -1)
        check_range("debug-break-block", parsed.break_block, 0, INT64_MAX);
    check_range("analysis-threads", parsed.analysis_threads, 0, 64);
    check_range("debug-block-limit", parsed.block_limit, 1, 1000);
    check_range("debug-cache-size", parsed.cache_size, 0, INT64_C(1) << 40);
    if (parsed.exec_filters != -1)
        check_range("exec-filters", parsed.exec_filters, 0, INT_MAX);
    settings->exec_filters = (int)parsed.exec_filters;
    if (parsed.exec_program != -1)
        check_range("exec-program", parsed.exec_program, 0, INT_MAX);
    settings->exec_program = (int)parsed.exec_program;
    settings->bisect_blocks = (uint64_t)parsed.bisect_blocks;
    settings->dump_block = (uint64_t)parsed.dump_block;
    settings->break_block = (uint64_t)parsed.break_block;
    settings->block_limit = (unsigned)parsed.block_limit;
    settings->cache_size = (uint64_t)parsed.cache_size;
    settings->denies_valgrind = !parsed.admits_valgrind;
    settings->no_superblocks = !parsed.superblocks;
    settings->return_prediction = parsed.return_prediction;
    settings->analysis_threads = (unsigned)parsed.analysis_threads;
    settings->no_links = !parsed.links || settings->verify_blocks;
    settings->no_fsgsbase = !parsed.fsgsbase;
    settings->no_bmi2 = !parsed.bmi2;
    settings->no_fast_decode = !parsed.fast_decode;
    if (settings->log_file)
        settings->log_file = sn_filename_absolute(settings->log_file);
    if (settings->output)
        settings->output = sn_filename_absolute(settings->output);
    settings->following_exec = sn_exec_path != NULL;
}
