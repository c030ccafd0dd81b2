/**
 * @fileoverview Events and their places. See events.h.
 */
#include "events.h"

#include "settings.h"
#include "simulator/settings.h"

/** The levels of the model that `calls` simulates. */
enum { LEVELS = 2 };

static void add_names(calls_events *events, const char *const *names, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        events->names[events->count++] = names[i];
    }
}

calls_events calls_events_now(void) {
    static const char *const data[] = {"Dr", "Dw", "I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw"};
    static const char *const branches[] = {"Bc", "Bcm", "Bi", "Bim"}, *const system[] = {"sysCount", "sysTime", "sysCpuTime"};
    static const unsigned system_counts[] = {[CALLS_TIME_MSEC] = 2, [CALLS_TIME_USEC] = 2, [CALLS_TIME_NSEC] = 3};
    calls_events events = {.names = {"Ir"}, .count = 1, .system_count = system_counts[calls_current.system_time]};
    events.data = events.count;
    add_names(&events, data, cache_current.simulates_caches ? CALLS_DATA_EVENTS : 0);
    events.branches = events.count;
    add_names(&events, branches, cache_current.simulates_branches ? CALLS_BRANCH_EVENTS : 0);
    events.system = events.count;
    add_names(&events, system, events.system_count);
    return events;
}

static void add_data(const cache_instruction *instruction, const uint64_t *site, uint64_t executions, uint64_t *costs) {
    costs[0] += instruction->reads * executions;
    costs[1] += instruction->writes * executions;
    if (site == NULL) {
        return;
    }
    costs[0] += site[CACHE_SITE_REFERENCES + CACHE_READ];
    costs[1] += site[CACHE_SITE_REFERENCES + CACHE_WRITE];
    for (unsigned level = 0; level < LEVELS; level++) {
        for (unsigned kind = 0; kind < CACHE_KINDS; kind++) {
            costs[2 + level * CACHE_KINDS + kind] += site[CACHE_SITE_MISSES + kind * CACHE_MOST_LEVELS + level];
        }
    }
}

static void add_branches(const cache_instruction *instruction, const uint64_t *site, uint64_t executions, uint64_t *costs) {
    if ((instruction->shape & (CACHE_CONDITIONAL | CACHE_INDIRECT)) != 0) {
        uint64_t *counts = costs + (instruction->shape & CACHE_INDIRECT ? 2 : 0);
        counts[0] += executions;
        counts[1] += site == NULL ? 0 : site[CACHE_SITE_MISPREDICTED];
    }
}

void calls_events_add(const calls_events *events, const cache_instruction *instruction, const uint64_t *site,
                      uint64_t executions, uint64_t *costs) {
    if (cache_current.simulates_caches) {
        add_data(instruction, site, executions, costs + events->data);
    }
    if (cache_current.simulates_branches) {
        add_branches(instruction, site, executions, costs + events->branches);
    }
}
