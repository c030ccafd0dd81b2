/**
 * @fileoverview Two call-graph profiles compared, by what functions cost themselves or inclusively. See callgrind.h.
 *
 * Functions are the same when names and files are: objects may be two builds. Made with the cachegrind kind's comparison.
 */
#include <string.h>

#include "base/log.h"
#include "report/callgrind.h"
#include "report/report.h"

/** The functions' costs as a profile of one row each, without lines. */
static sn_profile by_function(const sn_call_graph *graph, bool is_inclusive) {
    const sn_profile *lines = &graph->profile->lines;
    sn_profile profile = {.path = lines->path, .command = lines->command, .event_count = lines->event_count};
    memcpy(profile.events, lines->events, sizeof profile.events);
    for (uint32_t i = 0; i < graph->function_count; i++) {
        const sn_call_function *function = &graph->profile->functions.items[i];
        size_t row = sn_profile_row_of(&profile, function->file, function->name, 0);
        if (!sn_profile_add(&profile, row, is_inclusive ? sn_call_graph_inclusive(graph, i)
                                                        : sn_call_profile_self(graph->profile, i))) {
            sn_fail(SN_REPORT_DAMAGED, "'%s': the sum of the counts is too large", lines->path);
        }
    }
    memcpy(profile.totals, lines->totals, sizeof profile.totals);
    sn_profile_sort(&profile);
    return profile;
}

void sn_call_compare(const sn_call_graph *before, const sn_call_graph *after, bool is_by_inclusive, const char *sort,
                     size_t limit, bool is_json) {
    sn_profile sides[] = {by_function(before, is_by_inclusive), by_function(after, is_by_inclusive)};
    if (is_json) {
        sn_profile_compare_json(&sides[0], &sides[1],
                                is_by_inclusive ? "callgrind comparison, inclusive" : "callgrind comparison, self");
    } else {
        sn_profile_compare_text(&sides[0], &sides[1], sort, limit, is_by_inclusive ? "Function, inclusive" : "Function, self");
    }
    sn_profile_release(&sides[0]);
    sn_profile_release(&sides[1]);
}
