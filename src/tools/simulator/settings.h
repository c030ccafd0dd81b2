/**
 * @fileoverview What is simulated, as the options of a tool say, once they are checked: setup.h. Written before the client
 * starts, read by all of the simulation and by the tool.
 */
#ifndef SONDE_TOOLS_SIMULATOR_SETTINGS_H
#define SONDE_TOOLS_SIMULATOR_SETTINGS_H

#include <sonde/tool.h>

#include "model.h"

typedef struct cache_settings {
    bool simulates_caches;
    bool simulates_branches;
    bool counts_branches;  /**< the tool counts how often conditional branches are taken; else the trace tells what is left out then */
    const cache_model *model;
    cache_geometry geometries[CACHE_COUNT]; /**< those that the model has are complete */
    sn_trace *trace;                        /**< words.h; NULL when no caches are simulated */
} cache_settings;

extern cache_settings cache_current;

#endif
