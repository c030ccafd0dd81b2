/**
 * @fileoverview Records of heap files as JSON. See heap.h; docs/heap-report.md describes the members.
 */
#include <inttypes.h>
#include <stdio.h>

#include "report/heap.h"

void sn_heapfile_write_stack(sn_json *json, const char *name, const sn_heapfile_stacks *stacks, uint32_t number) {
    const sn_heapfile_stack *stack = &stacks->items.items[number];
    sn_json_strings(json, name, &stacks->frames.items[stack->first], stack->count);
}

void sn_heapfile_write_address(sn_json *json, const char *name, uint64_t address) {
    char text[24];
    snprintf(text, sizeof text, "0x%" PRIx64, address);
    sn_json_string(json, name, text);
}

static void write_sums(sn_json *json, const sn_heapfile_sums *sums, const sn_heapfile_records *of) {
    static const char *const uses[] = {[SN_HEAPFILE_READ] = "read", [SN_HEAPFILE_WRITTEN] = "written",
                                       [SN_HEAPFILE_NEVER_READ] = "never_read", [SN_HEAPFILE_NEVER_USED] = "never_used"};
    sn_json_signed(json, "blocks", sums->blocks);
    sn_json_signed(json, "usable", sums->usable);
    sn_json_signed(json, "requested", sums->requested);
    sn_json_signed(json, "slop", sums->slop);
    if (of->mode == SN_HEAPFILE_CUMULATIVE) {
        sn_json_signed(json, "freed", sums->freed);
        sn_json_signed(json, "lived", sums->lived);
    }
    for (unsigned i = 0; of->has_uses && i < SN_HEAPFILE_USES; i++)
        sn_json_signed(json, uses[i], sums->uses[i]);
}

static void write_sizes(sn_json *json, const sn_heapfile_records *records, const sn_heapfile_record *record) {
    sn_json_array(json, "sizes");
    for (uint32_t i = record->size; i != SN_HEAPFILE_NONE; i = records->sizes.items[i].next) {
        const sn_heapfile_size *size = &records->sizes.items[i];
        if (size->count == 0)
            continue;
        sn_json_object(json, NULL);
        sn_json_number(json, "usable", size->usable);
        sn_json_signed(json, "blocks", size->count);
        sn_json_close(json);
    }
    sn_json_close(json);
}

static void write_addresses(sn_json *json, const sn_heapfile_view *view, uint32_t record) {
    const sn_heapfile *file = &view->files[view->file_count - 1];
    if (view->records->first_block.count == 0)
        return;
    sn_json_array(json, "addresses");
    for (uint32_t i = view->records->first_block.items[record]; i < view->records->first_block.items[record + 1]; i++)
        sn_heapfile_write_address(json, NULL, file->blocks.items[view->records->blocks.items[i]].address);
    sn_json_close(json);
}

static void write_record(sn_json *json, const sn_heapfile_view *view, uint32_t number) {
    const sn_heapfile_record *record = &view->records->items.items[number];
    sn_json_object(json, NULL);
    sn_json_string(json, "section", sn_heapfile_section_names[record->section]);
    write_sums(json, &record->sums, view->records);
    write_sizes(json, view->records, record);
    write_addresses(json, view, number);
    sn_heapfile_write_stack(json, "allocated_at", &view->records->stacks, record->stack);
    sn_json_array(json, "reported_at");
    for (unsigned i = 0; i < 2 && record->reports[i] != SN_HEAPFILE_NONE; i++)
        sn_heapfile_write_stack(json, NULL, &view->records->stacks, record->reports[i]);
    sn_json_close(json);
    sn_json_close(json);
}

static void write_leaks(sn_json *json, const sn_heapfile_view *view) {
    sn_json_object(json, "leaks");
    for (unsigned verdict = 0; verdict < SN_HEAPFILE_VERDICTS; verdict++) {
        sn_json_object(json, sn_heapfile_verdict_names[verdict]);
        sn_json_number(json, "blocks", view->leaks->totals[verdict].blocks);
        sn_json_number(json, "bytes", view->leaks->totals[verdict].bytes);
        sn_json_array(json, "contexts");
        for (size_t i = 0; i < view->leaks->rows.count; i++) {
            const sn_heapfile_leak_row *row = &view->leaks->rows.items[i];
            if (row->verdict != verdict)
                continue;
            sn_json_object(json, NULL);
            sn_json_number(json, "blocks", row->sums.blocks);
            sn_json_number(json, "bytes", row->sums.bytes);
            sn_heapfile_write_stack(json, "allocated_at", &view->records->stacks, view->records->items.items[row->record].stack);
            sn_json_close(json);
        }
        sn_json_close(json);
        sn_json_close(json);
    }
    sn_json_close(json);
}

/** What Sonde's own dumps tell of themselves; null of others. */
static void write_origins(sn_json *json, const sn_heapfile_view *view) {
    sn_json_array(json, "commands");
    for (size_t i = 0; i < view->file_count; i++)
        sn_json_string(json, NULL, view->files[i].command);
    sn_json_close(json);
    sn_json_array(json, "causes");
    for (size_t i = 0; i < view->file_count; i++)
        sn_json_string(json, NULL, view->files[i].cause);
    sn_json_close(json);
}

void sn_heapfile_print_json(const sn_heapfile_view *view) {
    sn_json json;
    sn_json_begin(&json, stdout);
    sn_json_object(&json, NULL);
    sn_json_string(&json, "kind", view->file_count == 1 ? "heap" : "heap comparison");
    sn_json_strings(&json, "files", view->paths, view->file_count);
    sn_json_string(&json, "mode", sn_heapfile_mode_names[view->records->mode]);
    write_origins(&json, view);
    sn_json_array(&json, "options");
    for (size_t i = 0; i < view->file_count; i++)
        sn_json_string(&json, NULL, view->files[i].options);
    sn_json_close(&json);
    sn_json_object(&json, "total");
    write_sums(&json, &view->records->total, view->records);
    sn_json_close(&json);
    sn_json_array(&json, "records");
    for (size_t i = 0; i < view->records->shown.count; i++)
        write_record(&json, view, view->records->shown.items[i]);
    sn_json_close(&json);
    if (view->leaks != NULL)
        write_leaks(&json, view);
    sn_json_close(&json);
    sn_json_finish(&json);
}
