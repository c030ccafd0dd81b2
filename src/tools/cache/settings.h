/**
 * @fileoverview What the options of the tool `cache` say, once they are checked. Written by cache.c before the client
 * starts, read by all of the tool.
 */
#ifndef SONDE_TOOLS_CACHE_SETTINGS_H
#define SONDE_TOOLS_CACHE_SETTINGS_H

#include <sonde/tool.h>

#include "model.h"

typedef struct cache_settings {
    bool simulates_caches;
    bool simulates_branches;
    const cache_model *model;
    cache_geometry geometries[CACHE_COUNT]; /**< those that the model has are complete */
    const char *file;                       /**< name of the profile, as sn_file_create() wants it */
    sn_trace *trace;                        /**< words.h; NULL when no caches are simulated: counters tell all */
} cache_settings;

extern cache_settings cache_current;

#endif
