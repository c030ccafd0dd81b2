/**
 * @fileoverview The heap over time as a page for browsers: bands and flame graphs. See massif.h; src/report/page/heap.js reads
 * what is written here.
 */
#include "report/massif.h"
#include "report/page_file.h"
#include "report/page_source.h"

typedef struct page {
    const sn_massif *massif;
    sn_page_names names;
    sn_json json;
} page;

static int64_t time_of(const sn_massif_snapshot *snapshot) { return (int64_t)snapshot->time; }
static int64_t heap_of(const sn_massif_snapshot *snapshot) { return (int64_t)snapshot->heap; }
static int64_t extra_of(const sn_massif_snapshot *snapshot) { return (int64_t)snapshot->extra; }
static int64_t stacks_of(const sn_massif_snapshot *snapshot) { return (int64_t)snapshot->stacks; }

static const struct {
    const char *name;
    int64_t (*value)(const sn_massif_snapshot *snapshot);
} lists[] = {{"time", time_of}, {"heap", heap_of}, {"extra", extra_of}, {"stacks", stacks_of}};

static void write_snapshots(page *page) {
    sn_json_object(&page->json, "snapshots");
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        sn_page_list list = sn_page_list_begin();
        for (size_t k = 0; k < page->massif->snapshots.count; k++)
            sn_page_list_add(&list, lists[i].value(&page->massif->snapshots.items[k]));
        sn_page_list_write(&list, &page->json, lists[i].name);
    }
    sn_json_close(&page->json);
}

static void write_tree(page *page, const sn_massif_snapshot *snapshot, size_t number) {
    const sn_massif_node *nodes = page->massif->nodes.items + snapshot->first;
    sn_page_list depths = sn_page_list_begin(), bytes = sn_page_list_begin(), names = sn_page_list_begin();
    for (uint32_t i = 0; i < snapshot->count; i++) {
        sn_page_list_add(&depths, nodes[i].depth);
        sn_page_list_add(&bytes, (int64_t)nodes[i].bytes);
        sn_page_list_add(&names, sn_page_name(&page->names, nodes[i].name));
    }
    sn_json_object(&page->json, NULL);
    sn_json_number(&page->json, "snapshot", number);
    sn_page_list_write(&depths, &page->json, "depths");
    sn_page_list_write(&bytes, &page->json, "bytes");
    sn_page_list_write(&names, &page->json, "names");
    sn_json_close(&page->json);
}

static void write_head(page *page) {
    const sn_massif *massif = page->massif;
    sn_json_string(&page->json, "kind", "massif");
    sn_json_array(&page->json, "files");
    sn_json_string(&page->json, NULL, massif->path);
    sn_json_close(&page->json);
    sn_json_string(&page->json, "command", massif->command);
    sn_json_array(&page->json, "descriptions");
    sn_json_string(&page->json, NULL, massif->description);
    sn_json_close(&page->json);
    sn_json_string(&page->json, "time_unit", massif->time_unit);
    sn_json_number(&page->json, "peak", massif->peak);
    sn_json_array(&page->json, "left_out");
    sn_json_close(&page->json);
}

void sn_massif_page_write(const char *path, const sn_massif *massif) {
    page page = {.massif = massif};
    sn_page_file file = sn_page_file_begin(path, &page.json);
    write_head(&page);
    write_snapshots(&page);
    sn_json_array(&page.json, "trees");
    for (size_t i = 0; i < massif->snapshots.count; i++)
        if (massif->snapshots.items[i].count > 0)
            write_tree(&page, &massif->snapshots.items[i], i);
    sn_json_close(&page.json);
    sn_page_names_end(&page.names, &page.json);
    sn_page_file_end(&file, &page.json);
}
