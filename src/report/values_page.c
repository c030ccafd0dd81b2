/**
 * @fileoverview What a tool found in values as a page for browsers. See values.h; src/report/page/values.js reads what is written
 * here.
 */
#include "report/page_file.h"
#include "report/values.h"
#include "sonde/json.h"

typedef struct page {
    const sn_values_file *file;
    sn_json json;
} page;

static void write_texts(page *page, const char *name, sn_values_span span) {
    sn_json_strings(&page->json, name, &page->file->texts.items[span.first], span.count);
}

/** [[name, value], ...]: in this order. */
static void write_amounts(page *page, const char *name, sn_values_span span) {
    sn_json_array(&page->json, name);
    for (uint32_t i = 0; i < span.count; i++) {
        sn_json_array(&page->json, NULL);
        sn_json_string(&page->json, NULL, page->file->amounts.items[span.first + i].name);
        sn_json_number(&page->json, NULL, page->file->amounts.items[span.first + i].value);
        sn_json_close(&page->json);
    }
    sn_json_close(&page->json);
}

static void write_place(page *page, const char *label, const sn_values_place *place) {
    sn_json_object(&page->json, NULL);
    sn_json_string(&page->json, "label", label);
    sn_json_string(&page->json, "instruction", place->instruction);
    sn_json_string(&page->json, "type", place->type);
    sn_json_number(&page->json, "size", place->size);
    sn_json_string(&page->json, "function", place->function);
    sn_json_string(&page->json, "file", place->file);
    sn_json_number(&page->json, "line", place->line);
    write_texts(page, "context", place->context);
    sn_json_close(&page->json);
}

static void write_finding(page *page, const sn_values_list *list, const sn_values_finding *finding) {
    sn_json_object(&page->json, NULL);
    sn_json_real(&page->json, "share", sn_values_share(page->file, list, finding));
    write_amounts(page, "amounts", finding->amounts);
    sn_json_string(&page->json, "remark", finding->remark);
    sn_json_string(&page->json, "kind", finding->kind);
    sn_json_string(&page->json, "name", finding->name);
    sn_json_string(&page->json, "module", finding->module);
    write_texts(page, "context", finding->context);
    sn_json_array(&page->json, "places");
    for (unsigned i = 0; i < 2; i++)
        if (finding->places[i].is_there) write_place(page, list->labels[i], &finding->places[i]);
    sn_json_close(&page->json);
    sn_json_close(&page->json);
}

static void write_list(page *page, const sn_values_list *list) {
    sn_json_object(&page->json, NULL);
    sn_json_string(&page->json, "title", list->title);
    sn_json_number(&page->json, "count", list->count);
    sn_json_array(&page->json, "findings");
    for (uint32_t i = 0; i < list->findings.count; i++)
        write_finding(page, list, &page->file->findings.items[list->findings.first + i]);
    sn_json_close(&page->json);
    sn_json_close(&page->json);
}

static void write_head(page *page) {
    const sn_values_file *file = page->file;
    sn_json_string(&page->json, "kind", "values");
    sn_json_string(&page->json, "file", file->path);
    sn_json_string(&page->json, "tool", file->tool);
    sn_json_string(&page->json, "title", file->title);
    write_texts(page, "command", file->command);
    write_amounts(page, "totals", file->totals);
    sn_json_array(&page->json, "threads");
    for (size_t i = 0; i < file->threads.count; i++) {
        sn_json_object(&page->json, NULL);
        sn_json_number(&page->json, "thread", file->threads.items[i].number);
        write_amounts(page, "totals", file->threads.items[i].totals);
        sn_json_close(&page->json);
    }
    sn_json_close(&page->json);
}

void sn_values_page_write(const char *path, const sn_values_file *file) {
    page page = {.file = file};
    sn_page_file out = sn_page_file_begin(path, &page.json);
    write_head(&page);
    sn_json_array(&page.json, "lists");
    for (size_t i = 0; i < file->lists.count; i++) write_list(&page, &file->lists.items[i]);
    sn_json_close(&page.json);
    sn_page_file_end(&out, &page.json);
}
