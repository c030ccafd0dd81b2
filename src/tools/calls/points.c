/**
 * @fileoverview Points in the program. See points.h.
 */
#include "points.h"

#include <fnmatch.h>
#include <stdio.h>

#include "dump.h"
#include "settings.h"
#include "thread.h"

bool calls_points_switch(void) {
    return calls_current.toggle_collect.count > 0 || !calls_current.collects_at_start;
}

/* ------------------------------------------------------------------------- functions */

static void dump_before(sn_thread *thread, const char *function) {
    char why[256];
    snprintf(why, sizeof why, "--dump-before=%s", function);
    calls_dump(thread, why);
}

static void dump_after(sn_thread *thread, const char *function) {
    char why[256];
    snprintf(why, sizeof why, "--dump-after=%s", function);
    calls_dump(thread, why);
}

static void zero_before(sn_thread *thread, const char *function) {
    (void)function;
    calls_accounts_zero(thread);
}

static void switch_collecting(sn_thread *thread, const char *function) {
    (void)function;
    calls_thread_switch_collecting(thread);
}

/** What happens when a function is entered, or is about to return. */
typedef struct point {
    const sn_texts *functions;
    bool at_entry, at_return;
    void (*action)(sn_thread *thread, const char *function);
} point;

static const point points[] = {
    {&calls_current.zero_before, true, false, zero_before},
    {&calls_current.dump_before, true, false, dump_before},
    {&calls_current.toggle_collect, true, true, switch_collecting},
    {&calls_current.dump_after, false, true, dump_after},
};

static const char *matching(const sn_texts *globs, const char *function) {
    for (size_t i = 0; i < globs->count; i++) {
        if (fnmatch(globs->items[i], function, 0) == 0) {
            return globs->items[i];
        }
    }
    return NULL;
}

static void insert_at(sn_block *block, unsigned index, const point *point) {
    sn_location location;
    uint64_t address = sn_block_instruction(block, index)->address;
    const char *glob = sn_locate(address, &location) && location.function != NULL
                           ? matching(point->functions, location.function) : NULL;
    if (glob != NULL) {
        sn_call_before(block, index, (void (*)(sn_thread *, void *))(uintptr_t)point->action, (void *)(uintptr_t)glob);
    }
}

static void insert_points(sn_block *block, unsigned index, bool is_entry) {
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        if (points[i].functions->count > 0 && (is_entry ? points[i].at_entry : points[i].at_return)) {
            insert_at(block, index, &points[i]);
        }
    }
}

/* ---------------------------------------------------------------------------- blocks */

static void dump_regularly(sn_thread *thread) {
    char why[64];
    *sn_slot_of(thread, calls_current.blocks) = (uint64_t)calls_current.blocks_to_dump;
    snprintf(why, sizeof why, "--dump-every-bb=%lld", (long long)calls_current.blocks_to_dump);
    calls_dump(thread, why);
}

static void count_down(sn_block *block, unsigned index) {
    sn_insert_before(block, index);
    sn_label goes_on = sn_label_new(block);
    sn_value left = sn_compute(block, SN_ADD, sn_slot_load(block, calls_current.blocks), sn_constant(block, UINT64_MAX));
    sn_slot_store(block, calls_current.blocks, left);
    sn_branch_if(block, SN_NOT_EQUAL, left, sn_constant(block, 0), goes_on);
    sn_value thread = sn_current_thread(block);
    sn_call(block, (void *)dump_regularly, 1, &thread);
    sn_label_here(block, goes_on);
}

static bool begins_basic_block(const sn_block *block, unsigned index) {
    return index == 0 || sn_block_instruction(block, index - 1)->kind != SN_KIND_OTHER;
}

void calls_points_insert_entries(sn_block *block) {
    for (unsigned index = 0; index < sn_block_size(block); index++) {
        if (calls_current.blocks_to_dump > 0 && begins_basic_block(block, index)) {
            count_down(block, index);
        }
        if (sn_block_begins_function(block, index)) {
            insert_points(block, index, true);
        }
    }
}

void calls_points_insert_returns(sn_block *block) {
    for (unsigned index = 0; index < sn_block_size(block); index++) {
        if (sn_block_instruction(block, index)->kind == SN_KIND_RETURN) {
            insert_points(block, index, false);
        }
    }
}

/* -------------------------------------------------------------------------- requests */

/** valgrind/callgrind.h: Vg_CallgrindClientRequest, from VG_USERREQ_TOOL_BASE('C', 'T') on. */
enum {
    DUMP_STATS = 'C' << 24 | 'T' << 16,
    ZERO_STATS,
    TOGGLE_COLLECT,
    DUMP_STATS_AT,
    START_INSTRUMENTATION,
    STOP_INSTRUMENTATION,
};

static void dump_at(sn_thread *thread, const char *place) {
    char why[256];
    snprintf(why, sizeof why, "Client Request: %s", place);
    calls_dump(thread, why);
}

/** Counts are multiplied by whether they are collected only once somebody switches. */
static void toggle(sn_thread *thread) {
    if (!calls_current.is_switchable) {
        calls_current.is_switchable = true;
        sn_instrumentation_renew();
    }
    calls_thread_switch_collecting(thread);
}

bool calls_points_request(sn_thread *thread, const uint64_t arguments[6], uint64_t *result) {
    switch (arguments[0]) {
    case DUMP_STATS:
        calls_dump(thread, "Client Request");
        break;
    case DUMP_STATS_AT:
        dump_at(thread, (const char *)(uintptr_t)arguments[1]);
        break;
    case ZERO_STATS:
        calls_accounts_zero(thread);
        break;
    case TOGGLE_COLLECT:
        toggle(thread);
        break;
    case START_INSTRUMENTATION:
        sn_instrumentation_enable(true);
        break;
    case STOP_INSTRUMENTATION:
        sn_instrumentation_enable(false);
        break;
    default:
        return false;
    }
    *result = 0;
    return true;
}
