/**
 * @fileoverview Sorting, thinning and merging of sorted tables. See <sonde/sorted.h>, whose macros are all callers.
 */
#include "sonde/sorted.h"

#include <stdbool.h>
#include <string.h>

#include "sonde/arena.h"

/** Elements: where they are, how large each is, where its key lies. */
typedef struct elements {
    char *items;
    size_t size, key;
} elements;

static uint64_t key_at(elements of, size_t at) {
    return sn_sorted_key_at(of.items, at, of.size, of.key);
}

static void copy(elements to, size_t at, const char *items, size_t from, size_t count) {
    memcpy(to.items + at * to.size, items + from * to.size, count * to.size);
}

/** From where on the elements from `first` to `end` are no longer in order. */
static size_t end_of_run(elements of, size_t first, size_t end) {
    size_t at = first + 1;
    while (at < end && key_at(of, at - 1) <= key_at(of, at))
        at++;
    return at < end ? at : end;
}

/** Two runs that lie side by side in `from` become one at the same place of `to`. */
static void merge_runs(elements to, elements from, size_t first, size_t second, size_t end) {
    size_t left = first, right = second;
    for (size_t at = first; at < end; at++) {
        bool takes_left = left < second && (right == end || key_at(from, left) <= key_at(from, right));
        copy(to, at, from.items, takes_left ? left : right, 1);
        *(takes_left ? &left : &right) += 1;
    }
}

/** One pass: each run is merged with the one behind it. Returns how many runs there were. */
static size_t merge_all(elements to, elements from, size_t count) {
    size_t runs = 0;
    for (size_t first = 0, second, end; first < count; first = end) {
        second = end_of_run(from, first, count);
        end = second < count ? end_of_run(from, second, count) : second;
        merge_runs(to, from, first, second, end);
        runs += end > second ? 2 : 1;
    }
    return runs;
}

/** Merges runs that are in order already, until there is one: what is sorted, or nearly so, costs a pass or two. */
void sn_sorted_order(void *items, size_t count, size_t size, size_t key) {
    elements from = {items, size, key}, to = from;
    if (count == 0 || end_of_run(from, 0, count) == count)
        return;
    char *others = sn_pages_allocate(count * size);
    to.items = others;
    while (merge_all(to, from, count) > 2) {
        char *merged = to.items;
        to.items = from.items;
        from.items = merged;
    }
    if (to.items != items)
        memcpy(items, to.items, count * size);
    sn_pages_release(others, count * size);
}

size_t sn_sorted_drop(void *items, size_t count, size_t size, size_t key) {
    elements all = {items, size, key};
    size_t kept = 0;
    for (size_t at = 0; at < count; at++) {
        if (kept && key_at(all, kept - 1) == key_at(all, at))
            continue;
        if (kept != at)
            copy(all, kept, items, at, 1);
        kept++;
    }
    return kept;
}

/** From the end on, so that nothing is written over before it has moved. */
void sn_sorted_join(void *items, size_t count, const void *from, size_t from_count, size_t size, size_t key) {
    elements all = {items, size, key};
    for (size_t at = count + from_count; from_count > 0;) {
        bool takes_old = count > 0 && key_at(all, count - 1) > sn_sorted_key_at(from, from_count - 1, size, key);
        if (takes_old)
            copy(all, --at, items, --count, 1);
        else
            copy(all, --at, from, --from_count, 1);
    }
}
