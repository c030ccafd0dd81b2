/**
 * @fileoverview Ignored contexts. See ignored.h.
 */
#include "ignored.h"

#include "names.h"
#include "settings.h"

enum { MOST_WAITING = 4096 };

static uint32_t waiting[MOST_WAITING];
static uint32_t waiting_count; /**< more than there is room for: all cells are looked at */

SN_FAST bool heap_cell_is_judged_to_count(heap_cell *cell) {
    if (cell->verdict == HEAP_COUNTS) {
        return true;
    }
    if (cell->verdict == HEAP_UNJUDGED) {
        uint32_t at = __atomic_fetch_add(&waiting_count, 1, __ATOMIC_RELAXED);
        if (at < MOST_WAITING) {
            waiting[at] = heap_cell_number(cell);
        }
        sn_heap_attend();
    }
    return false;
}

/** Whether the first function that does not only allocate is one of those. */
static bool is_ignored(sn_context context) {
    enum { DEEPEST = 64 };
    heap_place places[DEEPEST];
    unsigned count = heap_places_of(context, places, DEEPEST), first = 0;
    while (first < count && heap_is_named(places[first].function, &heap_current.alloc_functions)) {
        first++;
    }
    return first < count && heap_is_named(places[first].function, &heap_current.ignored_functions);
}

static void judge(heap_cell *cell, void (*count)(const heap_cell *cell)) {
    if (cell->verdict != HEAP_UNJUDGED || cell->ever == 0) {
        return;
    }
    cell->verdict = is_ignored(cell->context) ? HEAP_IGNORED : HEAP_COUNTS;
    if (cell->verdict == HEAP_COUNTS) {
        count(cell);
    }
}

static void judge_all(void *data) {
    void (*count)(const heap_cell *) = *(void (**)(const heap_cell *))data;
    uint32_t wait = waiting_count <= MOST_WAITING ? waiting_count : 0;
    for (uint32_t i = 0; i < wait; i++) {
        judge(heap_cell_at(waiting[i]), count);
    }
    for (uint32_t number = 1; waiting_count > MOST_WAITING && number <= heap_cell_count(); number++) {
        judge(heap_cell_at(number), count);
    }
    waiting_count = 0;
}

void heap_ignored_judge(void (*count)(const heap_cell *cell)) {
    if (__atomic_load_n(&waiting_count, __ATOMIC_ACQUIRE) != 0) {
        sn_while_still(judge_all, &count);
    }
}
