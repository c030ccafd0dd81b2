/**
 * @fileoverview One profile as JSON. See cachegrind.h; docs/report.md describes the members.
 */
#include <stdio.h>

#include "report/cachegrind.h"
#include "sonde/json.h"

static void write_counts(sn_json *json, const char *name, const sn_profile *profile, const int64_t *counts) {
    sn_json_object(json, name);
    for (unsigned event = 0; event < profile->event_count; event++) {
        sn_json_signed(json, profile->events[event], counts[event]);
    }
    sn_json_close(json);
}

static void write_function(sn_json *json, const sn_profile *profile, const sn_profile_function *function) {
    sn_json_object(json, NULL);
    sn_json_string(json, "function", function->function);
    sn_json_string(json, "file", function->file);
    write_counts(json, "counts", profile, function->counts);
    sn_json_array(json, "lines");
    for (size_t i = function->first; i < function->first + function->count; i++) {
        sn_json_object(json, NULL);
        sn_json_number(json, "line", profile->rows.items[i].line);
        write_counts(json, "counts", profile, sn_profile_counts(profile, i));
        sn_json_close(json);
    }
    sn_json_close(json);
    sn_json_close(json);
}

void sn_profile_print_json(const sn_profile_view *view) {
    const sn_profile *profile = view->profile;
    sn_json json;
    sn_json_begin(&json, stdout);
    sn_json_object(&json, NULL);
    sn_json_string(&json, "kind", "cachegrind");
    sn_json_strings(&json, "files", view->files, view->file_count);
    sn_json_string(&json, "command", profile->command);
    sn_json_strings(&json, "descriptions", profile->descriptions.items, profile->descriptions.count);
    sn_json_strings(&json, "events", profile->events, profile->event_count);
    write_counts(&json, "totals", profile, profile->totals);
    sn_json_array(&json, "functions");
    for (size_t i = 0; i < view->functions.count; i++) {
        write_function(&json, profile, &view->functions.items[i]);
    }
    sn_json_close(&json);
    sn_json_close(&json);
    sn_json_finish(&json);
}
