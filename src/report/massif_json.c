/**
 * @fileoverview Massif's files as JSON. See massif.h; docs/heap-report.md describes the members.
 */
#include "report/massif.h"
#include "sonde/json.h"

static const char *const details[] = {[SN_MASSIF_EMPTY] = "empty", [SN_MASSIF_DETAILED] = "detailed", [SN_MASSIF_PEAK] = "peak"};

/** The tree as a list, with depths: JSON readers do not like deep nesting. */
static void write_tree(sn_json *json, const sn_massif *massif, const sn_massif_snapshot *snapshot) {
    sn_json_array(json, "tree");
    for (uint32_t i = 0; i < snapshot->count; i++) {
        const sn_massif_node *node = &massif->nodes.items[snapshot->first + i];
        sn_json_object(json, NULL);
        sn_json_number(json, "depth", node->depth);
        sn_json_number(json, "bytes", node->bytes);
        sn_json_string(json, "name", node->name);
        sn_json_close(json);
    }
    sn_json_close(json);
}

void sn_massif_print_json(const sn_massif *massif) {
    sn_json json;
    sn_json_begin(&json, stdout);
    sn_json_object(&json, NULL);
    sn_json_string(&json, "kind", "massif");
    sn_json_string(&json, "file", massif->path);
    sn_json_string(&json, "command", massif->command);
    sn_json_string(&json, "description", massif->description);
    sn_json_string(&json, "time_unit", massif->time_unit);
    sn_json_number(&json, "peak", massif->peak);
    sn_json_array(&json, "snapshots");
    for (size_t i = 0; i < massif->snapshots.count; i++) {
        const sn_massif_snapshot *snapshot = &massif->snapshots.items[i];
        sn_json_object(&json, NULL);
        sn_json_number(&json, "time", snapshot->time);
        sn_json_number(&json, "heap", snapshot->heap);
        sn_json_number(&json, "extra", snapshot->extra);
        sn_json_number(&json, "stacks", snapshot->stacks);
        sn_json_string(&json, "detail", details[snapshot->detail]);
        write_tree(&json, massif, snapshot);
        sn_json_close(&json);
    }
    sn_json_close(&json);
    sn_json_close(&json);
    sn_json_finish(&json);
}
