/**
 * @fileoverview The tool `loadspy`: loads of what the same thread loaded from there before. A load is redundant if every byte
 * that it reads is what the thread's last load of that byte gave; its bytes are attributed to the pair of the earlier load and
 * this one, each with its calling context.
 *
 * On <sonde/values.h>: each thread has a shadow of its memory with the value of each byte as it was loaded last, and the spot
 * that loaded it. What costs is the loop over loads: the frequent types have code of their own, in which sizes are constants.
 */
#include <sonde/value_near.h>
#include <sonde/value_pairs.h>
#include <sonde/value_shadow.h>
#include <string.h>

SN_EXPORT extern const sn_tool sn_tool_descriptor;

#define INLINE static inline __attribute__((always_inline))

enum {
    TOTAL_BYTES, TOTAL_REDUNDANT, TOTAL_INTEGER_BYTES, TOTAL_INTEGER_REDUNDANT, TOTAL_FLOAT_BYTES, TOTAL_FLOAT_REDUNDANT,
    TOTAL_APPROXIMATE, TOTAL_LOADS, TOTAL_REDUNDANT_LOADS,
};
enum { CLASS_EQUAL, CLASS_APPROXIMATE };
enum { MOST_BYTES = 64 };

/** Shadow of a page. What was never loaded has the spot 0. */
typedef struct load_page {
    uint8_t values[SN_VALUE_SHADOW_PAGE];
    sn_value_cells spots;
} load_page;

typedef struct load_state {
    sn_value_shadow shadow;
    sn_value_pairs equal, approximate;
    uint64_t totals[SN_REPORT_TOTALS];
} load_state;

/** One load. */
typedef struct load {
    const sn_value_record *record; /**< its constants */
    const uint64_t *value;
    uint64_t address;
    uint32_t spot;
} load;

static int64_t percent = 1;
static double tolerance; /**< the same as a part of 1 */

/* --------------------------------------------------------------------- any load at all */

INLINE void add_whole(load_state *state, uint32_t first, const load *now, unsigned size) {
    sn_value_pairs_add(&state->equal, first, now->spot);
    sn_value_objects_note(state, now->address, size);
}

/** The bytes are redundant: attribute each run of them that one spot loaded. `unit`: bytes that have one of the `spots`. */
static void attribute(load_state *state, const load *now, const uint32_t *spots, unsigned unit, bool is_equal) {
    unsigned count = now->record->size / unit;
    sn_value_pairs *pairs = is_equal ? &state->equal : &state->approximate;
    if (is_equal) sn_value_objects_note(state, now->address, now->record->size);
    for (unsigned from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && spots[to] == spots[from];) to++;
        if (to - from == count) sn_value_pairs_add(pairs, spots[from], now->spot); /* counts as a redundant load, too */
        else sn_value_pairs_add_part(pairs, spots[from], now->spot, (to - from) * unit);
        if (is_equal && from == 0 && to < count) state->totals[TOTAL_REDUNDANT_LOADS]++;
    }
}

static bool is_near(const load *now, const void *before) {
    return percent && sn_value_near(now->value, before, now->record->size, sn_value_near_element(now->record), tolerance);
}

static __attribute__((noinline)) void load_bytes(load_state *state, const load *now) {
    uint8_t before[MOST_BYTES];
    const uint8_t *value = (const uint8_t *)now->value;
    uint32_t spots[MOST_BYTES];
    unsigned size = now->record->size;
    bool all_loaded = true;
    for (unsigned done = 0, part; done < size; done += part) {
        unsigned offset = (now->address + done) % SN_VALUE_SHADOW_PAGE, room = SN_VALUE_SHADOW_PAGE - offset;
        load_page *page = sn_value_shadow_page(&state->shadow, now->address + done);
        part = size - done < room ? size - done : room;
        memcpy(before + done, page->values + offset, part);
        memcpy(page->values + offset, value + done, part);
        for (unsigned i = 0; i < part; i++) all_loaded &= (spots[done + i] = sn_value_cells_at(&page->spots, offset + i)) != 0;
        sn_value_cells_set(&page->spots, offset, part, now->spot);
    }
    if (!all_loaded) return;
    bool is_equal = !memcmp(before, value, size);
    if (is_equal || is_near(now, before)) attribute(state, now, spots, 1, is_equal);
}

/** Whole cells, of which several spots loaded. Returns false, with nothing changed, if one of them is mixed. */
static __attribute__((noinline)) bool load_uneven(load_state *state, const load *now, load_page *page, unsigned offset) {
    uint32_t *cells = &page->spots.cells[offset / SN_VALUE_CELL], count = now->record->size / SN_VALUE_CELL;
    bool all_loaded = true, any_mixed = false;
    for (unsigned i = 0; i < count; i++) {
        all_loaded &= cells[i] != 0;
        any_mixed |= cells[i] == SN_VALUE_MIXED;
    }
    if (any_mixed) return false;
    bool is_equal = !memcmp(page->values + offset, now->value, now->record->size);
    if (all_loaded && (is_equal || is_near(now, page->values + offset))) attribute(state, now, cells, SN_VALUE_CELL, is_equal);
    memcpy(page->values + offset, now->value, now->record->size);
    for (unsigned i = 0; i < count; i++) cells[i] = now->spot;
    return true;
}

/* ---------------------------------------------------------------------- quick loads */

/** Whether the cells have one spot. */
INLINE bool have_one_spot(const uint32_t *cells, unsigned size) {
    uint64_t different = 0, pair;
    if (size == SN_VALUE_CELL) return true;
    for (unsigned i = 0; i < size / SN_VALUE_CELL; i += 2) {
        memcpy(&pair, cells + i, sizeof pair);
        different |= pair ^ sn_value_cells_pair(cells[0]);
    }
    return !different;
}

/** Whether the bytes, 4 or whole words, are the same. */
INLINE bool is_same(const uint8_t *bytes, const uint64_t *value, unsigned size) {
    uint64_t different = 0, word;
    if (size == sizeof(uint32_t)) return !memcmp(bytes, value, size);
    for (unsigned i = 0; i < size / 8; i++) {
        memcpy(&word, bytes + 8 * i, sizeof word);
        different |= word ^ value[i];
    }
    return !different;
}

INLINE void set_cells(uint32_t *cells, unsigned size, uint32_t spot) {
    uint64_t pair = sn_value_cells_pair(spot);
    if (size == SN_VALUE_CELL) cells[0] = spot;
    for (unsigned i = 0; i < size / SN_VALUE_CELL / 2; i++) memcpy(cells + 2 * i, &pair, sizeof pair);
}

/** A load of whole cells of a page. `size` (4, or words) and `element` (of floating-point numbers; 0: no such) are constants. */
INLINE void load_cells(load_state *state, const load *now, unsigned size, unsigned element) {
    unsigned offset = now->address % SN_VALUE_SHADOW_PAGE;
    if (__builtin_expect(offset % SN_VALUE_CELL || offset + size > SN_VALUE_SHADOW_PAGE, 0)) return load_bytes(state, now);
    load_page *page = sn_value_shadow_page(&state->shadow, now->address);
    uint32_t *cells = &page->spots.cells[offset / SN_VALUE_CELL], first = cells[0];
    uint8_t *before = &page->values[offset];
    if (__builtin_expect(!have_one_spot(cells, size) || first == SN_VALUE_MIXED, 0)) {
        if (!load_uneven(state, now, page, offset)) load_bytes(state, now);
        return;
    }
    set_cells(cells, size, now->spot);
    if (is_same(before, now->value, size)) {
        if (first) add_whole(state, first, now, size);
        return;
    }
    if (element && first && percent && sn_value_near(now->value, before, size, element, tolerance))
        sn_value_pairs_add(&state->approximate, first, now->spot);
    memcpy(before, now->value, size);
}

/** One or two bytes of a cell. */
INLINE void load_part(load_state *state, const load *now, unsigned size) {
    unsigned offset = now->address % SN_VALUE_SHADOW_PAGE;
    if (size == 2 && offset % 2) return load_bytes(state, now);
    load_page *page = sn_value_shadow_page(&state->shadow, now->address);
    uint32_t first = sn_value_cells_at(&page->spots, offset);
    if (size == 2 && sn_value_cells_at(&page->spots, offset + 1) != first) return load_bytes(state, now);
    if (memcmp(page->values + offset, now->value, size)) memcpy(page->values + offset, now->value, size);
    else if (first) add_whole(state, first, now, size);
    if (first != now->spot) sn_value_cells_set_part(&page->spots, offset, size, now->spot);
}

/** By its type, so that size and numbers are constants. */
INLINE void take_load(load_state *state, const load *now) {
    switch (now->record->type) {
    case SN_VALUE_INT8: return load_part(state, now, 1);
    case SN_VALUE_INT16: return load_part(state, now, 2);
    case SN_VALUE_INT32: return load_cells(state, now, 4, 0);
    case SN_VALUE_INT64: return load_cells(state, now, 8, 0);
    case SN_VALUE_INT128: return load_cells(state, now, 16, 0);
    case SN_VALUE_INT256: return load_cells(state, now, 32, 0);
    case SN_VALUE_SINGLE: return load_cells(state, now, 4, 4);
    case SN_VALUE_DOUBLE: return load_cells(state, now, 8, 8);
    case SN_VALUE_SINGLE_128: return load_cells(state, now, 16, 4);
    case SN_VALUE_DOUBLE_128: return load_cells(state, now, 16, 8);
    default: return load_bytes(state, now);
    }
}

/* ----------------------------------------------------------------------------- runs */

static void take_execution(load_state *state, const sn_value_run *run, const uint64_t *word) {
    for (uint32_t i = 0; i < run->count; i++) {
        load now = {.record = &run->constants[i], .value = word + 1, .address = *word,
                    .spot = run->first_spot + run->constants[i].spot};
        word += run->word_counts[i];
        if (run->word_counts[i] > 1) take_load(state, &now);
    }
}

static void take_runs(const sn_values_run_batch *batch) {
    load_state *state = batch->state;
    for (size_t i = 0; i < batch->count; i++) {
        const sn_value_run *run = &batch->runs[i];
        uint32_t most = run->first_spot + run->constants[run->count - 1].spot;
        sn_value_pairs_reach(&state->equal, most);
        sn_value_pairs_reach(&state->approximate, most);
        for (uint32_t k = 0; k < run->times; k++) take_execution(state, run, run->words + k * (size_t)run->stride);
    }
}

/* ------------------------------------------------------------------- life of memory */

/** What is mapped there next is other memory. */
static void unmapped(void *its, uint64_t start, uint64_t end) {
    load_state *state = its;
    for (uint64_t at = start; at < end; at += SN_VALUE_SHADOW_PAGE) {
        load_page *page = sn_value_shadow_find(&state->shadow, at);
        if (page) sn_value_cells_clear(&page->spots);
    }
}

static void begin(void *its, int thread) {
    load_state *state = its;
    (void)thread;
    sn_value_shadow_begin(&state->shadow, sizeof(load_page));
}

static void end_page(void *page, uint64_t address, void *data) {
    (void)address;
    (void)data;
    sn_value_cells_end(&((load_page *)page)->spots);
}

static void add_executions(void *its, uint32_t spot, const sn_value_site *site, uint64_t times) {
    load_state *state = its;
    (void)spot;
    state->totals[TOTAL_LOADS] += times;
    state->totals[TOTAL_BYTES] += times * site->size;
    state->totals[site->is_float ? TOTAL_FLOAT_BYTES : TOTAL_INTEGER_BYTES] += times * site->size;
}

static uint32_t class_of_equal(void *its, const sn_value_site *second, uint64_t bytes, uint64_t whole) {
    load_state *state = its;
    state->totals[TOTAL_REDUNDANT] += bytes;
    state->totals[second->is_float ? TOTAL_FLOAT_REDUNDANT : TOTAL_INTEGER_REDUNDANT] += bytes;
    state->totals[TOTAL_REDUNDANT_LOADS] += whole;
    return CLASS_EQUAL;
}

static uint32_t class_of_approximate(void *its, const sn_value_site *second, uint64_t bytes, uint64_t whole) {
    load_state *state = its;
    (void)second;
    (void)whole;
    state->totals[TOTAL_APPROXIMATE] += bytes;
    return CLASS_APPROXIMATE;
}

static void finish(void *its, int thread) {
    load_state *state = its;
    sn_value_shadow_visit(&state->shadow, end_page, NULL);
    sn_value_shadow_end(&state->shadow);
    sn_values_visit_spots(state, add_executions);
    sn_value_pairs_finish(&state->equal, state, class_of_equal);
    sn_value_pairs_finish(&state->approximate, state, class_of_approximate);
    sn_report_add(state, thread, state->totals, NULL);
}

static const sn_report_form form = {
    .tool = "loadspy",
    .title = "loads of what was loaded before",
    .totals = {"bytes loaded", "redundant bytes", "integer bytes loaded", "integer redundant bytes",
               "floating-point bytes loaded", "floating-point redundant bytes", "approximately redundant bytes", "loads",
               "redundant loads"},
    .base = {0, TOTAL_BYTES + 1, 0, TOTAL_INTEGER_BYTES + 1, 0, TOTAL_FLOAT_BYTES + 1, TOTAL_FLOAT_BYTES + 1, 0,
             TOTAL_LOADS + 1},
    .amounts = {"bytes", "times"},
    .classes = {{"redundant", "Redundant loads, by bytes", "loaded", "loaded again", TOTAL_REDUNDANT},
                {"approximate", "Loads of nearly the same floating-point numbers, by bytes", "loaded", "loaded again",
                 TOTAL_APPROXIMATE}},
};

static const sn_option options[] = {
    {"approximate", SN_OPTION_NUMBER, &percent, "1", NULL,
     "floating-point numbers that differ by so many percent are nearly the same; 0: none"},
    SN_REPORT_OPTIONS,
    SN_VALUES_OPTIONS,
    {0},
};

static void start(void) {
    if (percent < 0 || percent > 100) sn_fail(2, "--approximate=%lld: a number from 0 to 100 is wanted", (long long)percent);
    tolerance = (double)percent / 100;
    sn_values_start(&(sn_values_request){.places = SN_VALUES_MEMORY, .moments = SN_VALUES_READ,
                                         .parts = SN_VALUES_BYTES | SN_VALUES_CONTEXT,
                                         .state_size = sizeof(load_state), .begin = begin, .take_runs = take_runs,
                                         .unmapped = unmapped, .finish = finish});
}

static void end(void) {
    sn_values_end();
    sn_report_print(&form);
}

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE,
    .name = "loadspy",
    .version = "1",
    .description = "loads of what was loaded before",
    .options = options,
    .start = start,
    SN_VALUES_CALLBACKS,
    .end = end,
};
