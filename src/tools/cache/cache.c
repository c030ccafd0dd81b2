/**
 * @fileoverview The tool `cache`: which lines of a program miss the caches, and, with --branch-sim=yes, mispredict branches.
 *
 * This file is the descriptor: options and callbacks, which the engine calls. record.c puts the trace, or counters, into the
 * code; thread.c has what each thread has, simulate.c works off the trace with a model (model.h), branches.c that of the
 * branches; profile.c sums up by source line and writes the profile, summary.c prints.
 */
#include <sonde/tool.h>

#include "simulator/setup.h"
#include "summary.h"

SN_EXPORT extern const sn_tool sn_tool_descriptor;

static const char *file = "cachegrind.out.%p";
static int model;
static bool simulates_caches = true;

static const sn_option options[] = {
    CACHE_OPTION(CACHE_I1, "I1", "first-level instruction cache"),
    CACHE_OPTION(CACHE_D1, "D1", "first-level data cache"),
    CACHE_OPTION(CACHE_L2, "L2", "second-level cache, where the model has one"),
    CACHE_OPTION(CACHE_LL, "LL", "last-level cache"),
    {"cache-sim", SN_OPTION_FLAG, &simulates_caches, "yes", NULL,
     "simulate caches; no: instruction counts alone"},
    {"branch-sim", SN_OPTION_FLAG, &cache_current.simulates_branches, "no", NULL, "simulate branch predictors"},
    {"model", SN_OPTION_CHOICE, &model, "cachegrind", CACHE_MODEL_NAMES,
     "which caches there are and how they work together"},
    {"cachegrind-out-file", SN_OPTION_STRING, &file, "cachegrind.out.%p", "FILE", "where the profile goes"},
    {0},
};

static void start(void) {
    cache_current.simulates_caches = simulates_caches;
    cache_current.counts_branches = true;
    cache_profile_file = sn_file_template("cachegrind-out-file", file);
    cache_setup("cache", cache_models[model], cache_thread_batch, cache_thread_branches);
}

static void instrument(sn_block *block) {
    sn_block_set_data(block, cache_record_new(block));
}

static void report(bool is_end) {
    cache_summary summary;
    cache_profile profile;
    cache_summarise(&summary, is_end);
    cache_profile_make(&profile, &summary);
    cache_profile_write(&profile);
    cache_print_summary(&sn_tool_descriptor, &profile);
    cache_profile_free(&profile);
    cache_summary_free(&summary);
}

static void end(void) {
    report(true);
}

/** Asked for from outside: all until now, but for what other threads have not yet handed over. */
static void dump(sn_thread *thread) {
    cache_flush(thread);
    report(false);
}

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE,
    .name = "cache",
    .version = "1",
    .description = "simulate caches and branch predictors, by source line",
    .options = options,
    .start = start,
    .instrument = instrument,
    .thread_start = cache_thread_start,
    .thread_end = cache_thread_end,
    .fork_child = cache_thread_fork_child,
    .interrupted = cache_thread_interrupted,
    .dump = dump,
    .end = end,
};
