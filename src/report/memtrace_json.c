/**
 * @fileoverview Sums of a trace for programs: one JSON object. docs/memtrace.md describes it.
 */
#include "report/memtrace.h"
#include "sonde/json.h"

static void put_counts(sn_json *json, const sn_memtrace_counts *counts) {
    sn_json_number(json, "instructions", counts->of[MEMTRACE_FETCH]);
    sn_json_number(json, "loads", counts->of[MEMTRACE_LOAD]);
    sn_json_number(json, "stores", counts->of[MEMTRACE_STORE]);
    sn_json_number(json, "modifies", counts->of[MEMTRACE_MODIFY]);
    sn_json_number(json, "bytes", counts->bytes);
}

static void put_processes(sn_json *json, const sn_memtrace_tally *tally) {
    sn_json_array(json, "processes");
    for (size_t i = 0; i < tally->processes.count; i++) {
        const sn_memtrace_process *process = tally->processes.items[i];
        sn_json_object(json, NULL);
        sn_json_number(json, "id", process->id);
        sn_json_strings(json, "arguments", process->arguments.items, process->arguments.count);
        sn_json_boolean(json, "has ended", process->has_ended);
        sn_json_close(json);
    }
    sn_json_close(json);
}

static void put_threads(sn_json *json, const sn_memtrace_tally *tally) {
    sn_json_array(json, "threads");
    for (size_t i = 0; i < tally->threads.count; i++) {
        sn_json_object(json, NULL);
        sn_json_number(json, "process", tally->threads.items[i].process);
        sn_json_number(json, "id", tally->threads.items[i].id);
        put_counts(json, &tally->threads.items[i].counts);
        sn_json_close(json);
    }
    sn_json_close(json);
}

static void put_numbers(sn_json *json, const char *name, const char *what, sn_memtrace_number_rows rows, size_t limit) {
    sn_json_array(json, name);
    for (size_t i = 0; i < rows.count && i < limit; i++) {
        sn_json_object(json, NULL);
        sn_json_signed(json, what, rows.items[i].number);
        sn_json_number(json, "count", rows.items[i].count);
        sn_json_close(json);
    }
    sn_json_close(json);
    sn_vector_release(&rows);
}

static void put_places(sn_json *json, const char *name, sn_memtrace_rows rows, size_t limit) {
    sn_json_array(json, name);
    for (size_t i = 0; i < rows.count && i < limit; i++) {
        sn_json_object(json, NULL);
        sn_json_string(json, "function", rows.items[i].function);
        sn_json_string(json, "file", rows.items[i].file);
        sn_json_number(json, "line", rows.items[i].line);
        sn_json_string(json, "module", rows.items[i].module);
        put_counts(json, &rows.items[i].counts);
        sn_json_close(json);
    }
    sn_json_close(json);
    sn_vector_release(&rows);
}

static void put_pages(sn_json *json, sn_memtrace_tally *tally, size_t limit) {
    sn_memtrace_sort_pages(tally);
    sn_json_array(json, "pages");
    for (size_t i = 0; i < tally->pages.count && i < limit; i++) {
        sn_json_object(json, NULL);
        sn_json_number(json, "address", tally->pages.items[i].address);
        put_counts(json, &tally->pages.items[i].counts);
        sn_json_close(json);
    }
    sn_json_close(json);
    sn_json_number(json, "page count", tally->pages.count);
    sn_json_number(json, "page size", tally->page_size);
}

static void put_reuse(sn_json *json, const sn_memtrace_tally *tally) {
    sn_json_array(json, "reuse");
    for (unsigned i = 0; i < SN_REUSE_BUCKETS; i++) {
        if (!tally->reuse[i])
            continue;
        uint64_t from = i ? UINT64_C(1) << (i - 1) : 0;
        sn_json_object(json, NULL);
        sn_json_number(json, "from", from);
        sn_json_number(json, "to", i ? from + (from - 1) : 0);
        sn_json_number(json, "count", tally->reuse[i]);
        sn_json_close(json);
    }
    sn_json_close(json);
    sn_json_number(json, "first accesses", tally->reuse_never);
    sn_json_number(json, "line size", tally->line_size);
}

static bool shows(const sn_memtrace_report *report, sn_memtrace_view view) {
    return report->view == SN_VIEW_SUMMARY ? view != SN_VIEW_REUSE : report->view == view;
}

void sn_memtrace_print_json(const sn_memtrace_report *report) {
    sn_memtrace_tally *tally = report->tally;
    sn_json json;
    sn_json_begin(&json, stdout);
    sn_json_object(&json, NULL);
    sn_json_string(&json, "file", report->file);
    sn_json_string(&json, "incomplete", report->wrong);
    put_processes(&json, tally);
    sn_json_object(&json, "total");
    put_counts(&json, &tally->total);
    sn_json_close(&json);
    put_numbers(&json, "sizes", "size", sn_memtrace_sizes(tally), SIZE_MAX);
    put_threads(&json, tally);
    if (shows(report, SN_VIEW_FUNCTIONS))
        put_places(&json, "functions", sn_memtrace_by_function(tally), report->limit);
    if (shows(report, SN_VIEW_LINES))
        put_places(&json, "lines", sn_memtrace_by_line(tally), report->limit);
    if (shows(report, SN_VIEW_PAGES))
        put_pages(&json, tally, report->limit);
    if (shows(report, SN_VIEW_STRIDES)) {
        put_numbers(&json, "strides", "stride", sn_memtrace_strides(tally), report->limit);
        sn_json_number(&json, "stride count", tally->stride_count);
    }
    if (shows(report, SN_VIEW_REUSE))
        put_reuse(&json, tally);
    sn_json_close(&json);
    sn_json_finish(&json);
}
