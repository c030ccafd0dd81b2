/**
 * @fileoverview The report of the tool `count` as JSON; docs/count.md describes the members. Called by count.c.
 */
#include <sonde/json.h>

#include "report.h"

static void print_sizes(sn_json *json, const char *name, const uint64_t accesses[COUNT_SIZES]) {
    sn_json_object(json, name);
    sn_json_number(json, "total", count_all_sizes(accesses));
    sn_json_object(json, "by_size");
    for (unsigned class = 0; class < COUNT_SIZES; class++) {
        if (accesses[class] != 0) {
            sn_json_number(json, count_size_names[class], accesses[class]);
        }
    }
    sn_json_close(json);
    sn_json_close(json);
}

/** The members of a tally, into the object that is open. */
static void print_tally(sn_json *json, const count_tally *tally) {
    sn_json_number(json, "instructions", tally->instructions);
    sn_json_number(json, "string_iterations", tally->string_iterations);
    sn_json_number(json, "basic_blocks", tally->basic_blocks);
    sn_json_object(json, "conditional_branches");
    sn_json_number(json, "total", tally->taken + tally->not_taken);
    sn_json_number(json, "taken", tally->taken);
    sn_json_number(json, "not_taken", tally->not_taken);
    sn_json_close(json);
    sn_json_object(json, "calls");
    sn_json_number(json, "total", tally->calls + tally->indirect_calls);
    sn_json_number(json, "direct", tally->calls);
    sn_json_number(json, "indirect", tally->indirect_calls);
    sn_json_close(json);
    print_sizes(json, "loads", tally->loads);
    print_sizes(json, "stores", tally->stores);
}

static void print_threads(sn_json *json, const count_summary *summary) {
    sn_json_array(json, "threads");
    for (size_t i = 0; i < summary->threads.count; i++) {
        sn_json_object(json, NULL);
        sn_json_signed(json, "id", summary->threads.items[i].id);
        sn_json_boolean(json, "ended", summary->threads.items[i].ended);
        print_tally(json, &summary->threads.items[i].tally);
        sn_json_close(json);
    }
    sn_json_close(json);
    if (summary->unlisted_count != 0) {
        sn_json_object(json, "other_threads");
        sn_json_number(json, "count", summary->unlisted_count);
        print_tally(json, &summary->unlisted);
        sn_json_close(json);
    }
}

static void print_functions(sn_json *json, const count_functions *functions) {
    sn_json_number(json, "function_count", functions->list.count);
    sn_json_array(json, "functions");
    for (size_t i = 0; i < functions->listed; i++) {
        const count_function *function = &functions->list.items[i];
        sn_json_object(json, NULL);
        sn_json_string(json, "name", function->name);
        sn_json_number(json, "address", function->address);
        sn_json_string(json, "file", function->file);
        sn_json_number(json, "line", function->line);
        sn_json_string(json, "module", function->module);
        sn_json_number(json, "instructions", function->instructions);
        sn_json_close(json);
    }
    sn_json_close(json);
}

static void print_command(sn_json *json) {
    const char *const *arguments;
    int count = sn_client_arguments(&arguments);
    sn_json_strings(json, "command", arguments, (size_t)count);
}

void count_print_json(const count_report *report) {
    sn_json json;
    sn_json_begin(&json, sn_output());
    sn_json_object(&json, NULL);
    sn_json_string(&json, "tool", report->tool->name);
    sn_json_string(&json, "version", report->tool->version);
    print_command(&json);
    sn_json_signed(&json, "process", sn_client_process());
    sn_json_object(&json, "total");
    print_tally(&json, &report->summary->total);
    sn_json_close(&json);
    print_threads(&json, report->summary);
    print_functions(&json, report->functions);
    sn_json_close(&json);
    sn_json_finish(&json);
}
