/**
 * @fileoverview Calling contexts as JSON: what the file says, with names in place of their numbers. See contexts.h.
 */
#include "report/contexts.h"
#include "sonde/json.h"

static void print_frame(sn_json *json, const char *name, const sn_contexts_frame *frame) {
    sn_json_object(json, name);
    sn_json_string(json, "function", frame->function);
    sn_json_string(json, "file", frame->file);
    sn_json_number(json, "line", frame->line);
    sn_json_string(json, "module", frame->module);
    sn_json_close(json);
}

static void print_place(sn_json *json, const char *name, const sn_contexts_file *file, sn_contexts_place place) {
    sn_json_array(json, name);
    for (uint32_t i = 0; i < place.count; i++) {
        print_frame(json, NULL, &file->frames.items[file->frame_lists.items[place.first + i]]);
    }
    sn_json_close(json);
}

static void print_counts(sn_json *json, const char *name, const sn_contexts_file *file, const int64_t *counts) {
    sn_json_object(json, name);
    for (unsigned event = 0; event < file->event_count; event++) {
        sn_json_signed(json, file->events[event], counts[event]);
    }
    sn_json_close(json);
}

static void print_contexts(sn_json *json, const sn_contexts_file *file) {
    static const char *const how[] = {"first", "call", "jump", "signal"};
    sn_json_array(json, "contexts");
    for (size_t i = 1; i < file->contexts.count; i++) {
        const sn_contexts_context *context = &file->contexts.items[i];
        sn_json_object(json, NULL);
        sn_json_number(json, "number", i);
        sn_json_number(json, "caller", context->caller);
        sn_json_string(json, "entered", how[context->how]);
        print_frame(json, "function", &file->frames.items[context->function]);
        print_place(json, "site", file, context->site);
        sn_json_close(json);
    }
    sn_json_close(json);
}

static void print_values(sn_json *json, const sn_contexts_file *file) {
    sn_json_array(json, "values");
    for (size_t i = 0; i < file->values.count; i++) {
        sn_json_object(json, NULL);
        sn_json_number(json, "context", file->values.items[i].context);
        print_place(json, "place", file, file->values.items[i].place);
        print_counts(json, "counts", file, sn_contexts_counts(file, i));
        sn_json_close(json);
    }
    sn_json_close(json);
}

void sn_contexts_print_json(const sn_contexts_view *view) {
    const sn_contexts_file *file = view->file;
    sn_json json;
    sn_json_begin(&json, stdout);
    sn_json_object(&json, NULL);
    sn_json_string(&json, "kind", "contexts");
    sn_json_array(&json, "files");
    sn_json_string(&json, NULL, file->path);
    sn_json_close(&json);
    sn_json_string(&json, "tool", file->tool);
    sn_json_signed(&json, "process", file->process);
    sn_json_string(&json, "command", file->command);
    sn_json_strings(&json, "events", file->events, file->event_count);
    print_counts(&json, "totals", file, file->totals);
    print_contexts(&json, file);
    print_values(&json, file);
    sn_json_close(&json);
    sn_json_finish(&json);
}
