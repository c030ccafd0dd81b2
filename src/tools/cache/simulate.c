/**
 * @fileoverview The simulation. See simulate.h; event.h says what the trace's records mean.
 */
#include "simulate.h"

#include <stdlib.h>

#include "settings.h"

void cache_simulation_init(cache_simulation *simulation, cache_sites *sites) {
    *simulation = (cache_simulation){.sites = sites};
    if (cache_current.simulates_caches) {
        simulation->core = cache_current.model->core_new();
    }
    if (cache_current.simulates_branches) {
        simulation->predictor = calloc(1, sizeof *simulation->predictor);
        if (simulation->predictor == NULL) {
            sn_fail(125, "cache: out of memory");
        }
    }
}

void cache_simulation_release(cache_simulation *simulation) {
    if (simulation->core != NULL) {
        cache_current.model->core_free(simulation->core);
    }
    free(simulation->predictor);
    *simulation = (cache_simulation){0};
}

static void count(cache_simulation *simulation, const cache_event *event, unsigned counter) {
    cache_site_counters(simulation->sites, event->site)[counter]++;
}

static inline void refer(cache_simulation *simulation, const cache_event *event, unsigned kind) {
    const cache_reference reference = {
        .address = event->address, .size = event->size, .kind = kind, .site = event->site};
    unsigned missed = cache_current.model->refer(simulation->core, &reference);
    if (missed != 0) {
        uint64_t *counters =
            cache_site_counters(simulation->sites, event->site) + CACHE_SITE_MISSES + kind * CACHE_MOST_LEVELS;
        for (unsigned level = 0; level < missed; level++) {
            counters[level]++;
        }
    }
}

/** All that is no ordinary reference. */
static void other_event(cache_simulation *simulation, const cache_event *event) {
    uint64_t address = cache_site_address(event->site);
    bool is_wrong = false;
    switch (event->kind) {
    case CACHE_EVENT_VARYING + CACHE_READ:
    case CACHE_EVENT_VARYING + CACHE_WRITE:
        count(simulation, event, CACHE_SITE_REFERENCES + event->kind - CACHE_EVENT_VARYING);
        refer(simulation, event, event->kind - CACHE_EVENT_VARYING);
        return;
    case CACHE_EVENT_CUT:
        count(simulation, event, CACHE_SITE_CUTS);
        return;
    case CACHE_EVENT_TAKEN:
    case CACHE_EVENT_NOT_TAKEN:
        is_wrong = cache_predictor_conditional(simulation->predictor, address, event->kind == CACHE_EVENT_TAKEN);
        break;
    case CACHE_EVENT_INDIRECT:
        is_wrong = cache_predictor_indirect(simulation->predictor, address, event->address);
        break;
    }
    if (is_wrong) {
        count(simulation, event, CACHE_SITE_MISPREDICTED);
    }
}

void cache_simulate(cache_simulation *simulation, const cache_event *events, size_t event_count) {
    for (const cache_event *event = events; event < events + event_count; event++) {
        if (event->kind < CACHE_KINDS) {
            refer(simulation, event, event->kind);
        } else {
            other_event(simulation, event);
        }
    }
}
