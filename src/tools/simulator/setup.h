/**
 * @fileoverview The options that say what is simulated, and setting it up: for the tools that simulate.
 */
#ifndef SONDE_TOOLS_SIMULATOR_SETUP_H
#define SONDE_TOOLS_SIMULATOR_SETUP_H

#include "settings.h"

/** Where a tool's options put what was given for each cache: SIZE,WAYS,LINE, or NULL. */
extern const char *cache_given[CACHE_COUNT];

/** A row of a tool's options for one of the caches. */
#define CACHE_OPTION(cache, name, help) {name, SN_OPTION_STRING, &cache_given[cache], "the processor's", "SIZE,WAYS,LINE", help}

/**
 * From the start callback, when `simulates_caches` and `simulates_branches` of the settings are as the options say: complete the
 * rest, the caches that were not given as the processor's are, and make the traces, whose batches go to `words` (words.h) and
 * to `branches` (branches.h). Fails the run with one line if a cache cannot be. `tool`: its name, for messages.
 */
void cache_setup(const char *tool, const cache_model *model, void (*words)(const sn_batch *), void (*branches)(const sn_batch *));

/** Hand over what the thread that calls has traced. */
void cache_flush(sn_thread *thread);

/** A cache of the model as profiles describe it: "32768 B, 64 B, 8-way associative". */
void cache_describe(unsigned cache, char *text, size_t size);

#endif
