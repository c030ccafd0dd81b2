/**
 * @fileoverview Sets up the simulation. See setup.h.
 */
#include "setup.h"

#include "branches.h"

cache_settings cache_current;
const char *cache_given[CACHE_COUNT];

/** Complete a cache that the model has: as given, else as the processor is, else as Cachegrind's default. */
static void complete(const char *tool, unsigned cache, const cache_geometry *detected) {
    cache_geometry *geometry = &cache_current.geometries[cache];
    if (cache_given[cache] != NULL) {
        const char *wrong = cache_geometry_parse(geometry, cache_given[cache]);
        if (wrong != NULL) {
            sn_fail(2, "--%s=%s: %s", cache_names[cache], cache_given[cache], wrong);
        }
        return;
    }
    *geometry = *detected;
    if (geometry->size != 0) {
        cache_geometry_adjust(geometry);
    }
    if (cache_geometry_check(geometry) != NULL) {
        *geometry = cache_geometry_defaults[cache];
        sn_message("%s: the processor does not tell its %s cache; simulating %llu B, %llu-way, lines of %llu B",
                   tool, cache_names[cache], (unsigned long long)geometry->size, (unsigned long long)geometry->ways,
                   (unsigned long long)geometry->line);
    }
}

static void complete_geometries(const char *tool) {
    cache_geometry detected[CACHE_COUNT] = {0};
    cache_geometry_detect(detected);
    for (unsigned cache = 0; cache < CACHE_COUNT; cache++) {
        if (cache_current.model->has[cache]) {
            complete(tool, cache, &detected[cache]);
        } else if (cache_given[cache] != NULL) {
            sn_fail(2, "--%s: the model %s has no such cache", cache_names[cache], cache_current.model->name);
        }
    }
}

void cache_setup(const char *tool, const cache_model *model, void (*words)(const sn_batch *), void (*branches)(const sn_batch *)) {
    cache_current.model = model;
    complete_geometries(tool);
    if (cache_current.simulates_caches) {
        model->start(cache_current.geometries);
        cache_current.trace = sn_trace_new(&(sn_trace_options){.record_size = sizeof(uint64_t), .batch = words});
    }
    if (cache_current.simulates_branches) {
        cache_branches_start(branches);
    }
}

void cache_flush(sn_thread *thread) {
    if (cache_current.simulates_caches) {
        sn_trace_flush(thread, cache_current.trace);
    }
    if (cache_current.simulates_branches) {
        sn_trace_flush(thread, cache_branches_trace());
    }
}

void cache_describe(unsigned cache, char *text, size_t size) {
    const cache_geometry *geometry = &cache_current.geometries[cache];
    snprintf(text, size, "%llu B, %llu B, %llu-way associative", (unsigned long long)geometry->size,
             (unsigned long long)geometry->line, (unsigned long long)geometry->ways);
}
