/**
 * @fileoverview The tool `cache`: which lines of a program miss the caches, and, with --branch-sim=yes, mispredict branches.
 *
 * This file is the descriptor: options and callbacks, which the engine calls. record.c puts the trace, or counters, into the
 * code; thread.c has what each thread has, simulate.c works off the trace with a model (model.h), branches.c that of the
 * branches; profile.c sums up by source line and writes the profile, summary.c prints.
 */
#include <sonde/tool.h>

#include "branches.h"
#include "settings.h"
#include "summary.h"

SN_EXPORT extern const sn_tool sn_tool_descriptor;

cache_settings cache_current = {.simulates_caches = true};

static const char *given[CACHE_COUNT];
static const char *file = "cachegrind.out.%p";
static int model;

static const sn_option options[] = {
    {"I1", SN_OPTION_STRING, &given[CACHE_I1], "the processor's", "SIZE,WAYS,LINE", "first-level instruction cache"},
    {"D1", SN_OPTION_STRING, &given[CACHE_D1], "the processor's", "SIZE,WAYS,LINE", "first-level data cache"},
    {"L2", SN_OPTION_STRING, &given[CACHE_L2], "the processor's", "SIZE,WAYS,LINE",
     "second-level cache, where the model has one"},
    {"LL", SN_OPTION_STRING, &given[CACHE_LL], "the processor's", "SIZE,WAYS,LINE", "last-level cache"},
    {"cache-sim", SN_OPTION_FLAG, &cache_current.simulates_caches, "yes", NULL,
     "simulate caches; no: instruction counts alone"},
    {"branch-sim", SN_OPTION_FLAG, &cache_current.simulates_branches, "no", NULL, "simulate branch predictors"},
    {"model", SN_OPTION_CHOICE, &model, "cachegrind", CACHE_MODEL_NAMES,
     "which caches there are and how they work together"},
    {"cachegrind-out-file", SN_OPTION_STRING, &file, "cachegrind.out.%p", "FILE", "where the profile goes"},
    {0},
};

/** Complete a cache that the model has: as given, else as the processor is, else as Cachegrind's default. */
static void complete(unsigned cache, const cache_geometry *detected) {
    cache_geometry *geometry = &cache_current.geometries[cache];
    if (given[cache] != NULL) {
        const char *wrong = cache_geometry_parse(geometry, given[cache]);
        if (wrong != NULL) {
            sn_fail(2, "--%s=%s: %s", cache_names[cache], given[cache], wrong);
        }
        return;
    }
    *geometry = *detected;
    if (geometry->size != 0) {
        cache_geometry_adjust(geometry);
    }
    if (cache_geometry_check(geometry) != NULL) {
        *geometry = cache_geometry_defaults[cache];
        sn_message("cache: the processor does not tell its %s cache; simulating %llu B, %llu-way, lines of %llu B",
                   cache_names[cache], (unsigned long long)geometry->size, (unsigned long long)geometry->ways,
                   (unsigned long long)geometry->line);
    }
}

static void complete_geometries(void) {
    cache_geometry detected[CACHE_COUNT] = {0};
    cache_geometry_detect(detected);
    for (unsigned cache = 0; cache < CACHE_COUNT; cache++) {
        if (cache_current.model->has[cache]) {
            complete(cache, &detected[cache]);
        } else if (given[cache] != NULL) {
            sn_fail(2, "--%s: the model %s has no such cache", cache_names[cache], cache_current.model->name);
        }
    }
}

static void start(void) {
    cache_current.model = cache_models[model];
    complete_geometries();
    cache_current.file = sn_file_template("cachegrind-out-file", file);
    if (cache_current.simulates_caches) {
        cache_current.model->start(cache_current.geometries);
        cache_current.trace = sn_trace_new(&(sn_trace_options){.record_size = sizeof(uint64_t), .batch = cache_thread_batch});
    }
    if (cache_current.simulates_branches) {
        cache_branches_start(cache_thread_branches);
    }
}

static void instrument(sn_block *block) {
    sn_block_set_data(block, cache_record_new(block));
}

static void report(void) {
    cache_summary summary;
    cache_profile profile;
    cache_summarise(&summary);
    cache_profile_make(&profile, &summary);
    cache_profile_write(&profile);
    cache_print_summary(&sn_tool_descriptor, &profile);
    cache_profile_free(&profile);
    cache_summary_free(&summary);
}

/** Asked for from outside: all until now, but for what other threads have not yet handed over. */
static void dump(sn_thread *thread) {
    if (cache_current.simulates_caches) {
        sn_trace_flush(thread, cache_current.trace);
    }
    if (cache_current.simulates_branches) {
        cache_branches_flush(thread);
    }
    report();
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
    .end = report,
};
