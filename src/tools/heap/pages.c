/**
 * @fileoverview Pages. See pages.h. A sorted list of ranges, each with the context that mapped it; what the loader mapped has none.
 */
#include "pages.h"

#include <sonde/sorted.h>

#include "settings.h"
#include "timeline.h"

typedef struct range {
    uint64_t start, end;
    sn_context context;
} range;

static SN_VECTOR(range) ranges;

static bool has_begun; /**< before, the program is loaded, which nobody has called for */

void heap_pages_init(void) {
    sn_contexts_enable();
}

void heap_pages_thread_start(void) {
    has_begun = true;
}

/** Index of the first range that ends above `address`. */
static size_t lower(uint64_t address) {
    return sn_sorted_position(&ranges, end, address + 1);
}

static void insert_at(size_t at, range new) {
    *sn_vector_insert(&ranges, at) = new;
}

static void add(uint64_t start, uint64_t end, sn_context context) {
    insert_at(lower(start), (range){start, end, context});
    heap_bytes_come(sn_running_thread(), context, end - start);
}

/** Take [start, end) out, where it is; what lies around it in the same ranges stays. Returns who mapped the first of it. */
static sn_context take_out(uint64_t start, uint64_t end) {
    sn_context first = SN_NO_CONTEXT;
    for (size_t at = lower(start); at < ranges.count && ranges.items[at].start < end; at = lower(start)) {
        range old = ranges.items[at];
        uint64_t low = old.start > start ? old.start : start, high = old.end < end ? old.end : end;
        first = first != SN_NO_CONTEXT ? first : old.context;
        sn_vector_remove(&ranges, at, 1);
        heap_bytes_go(sn_running_thread(), old.context, high - low);
        if (high < old.end) {
            insert_at(at, (range){high, old.end, old.context});
        }
        if (old.start < low) {
            insert_at(at, (range){old.start, low, old.context});
        }
    }
    return first;
}

/** Whether the events are wanted, and whose they are. */
static bool is_wanted(void) {
    return heap_current.pages_as_heap;
}

static void take_snapshot(void) {
    if (has_begun) {
        heap_timeline_take(sn_running_thread());
    }
}

void heap_pages_mapped(const sn_memory_range *mapped) {
    if (!is_wanted()) {
        return;
    }
    uint64_t start = mapped->start;
    if (mapped->is_stack) {
        /* Told with all the room that it may grow into: as Massif does, what the kernel gives it at first is counted. */
        enum { FIRST_STACK = 132 * 1024 };
        start = mapped->end - start > FIRST_STACK ? mapped->end - FIRST_STACK : start;
    }
    add(start, mapped->end, has_begun ? sn_context_of(sn_running_thread()) : SN_NO_CONTEXT);
    take_snapshot();
}

void heap_pages_unmapped(uint64_t start, uint64_t end) {
    if (is_wanted()) {
        take_out(start, end);
        take_snapshot();
    }
}

void heap_pages_moved(uint64_t from, uint64_t to, uint64_t size) {
    if (is_wanted()) {
        sn_context context = take_out(from, from + size);
        add(to, to + size, context);
        take_snapshot();
    }
}
