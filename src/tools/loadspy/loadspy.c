/**
 * @fileoverview The tool `loadspy`: loads of what the same thread loaded from there before. A load is redundant if every byte
 * that it reads is what the thread's last load of that byte gave; its bytes are attributed to the pair of the earlier load and
 * this one, each with its calling context.
 *
 * On <sonde/values.h>: each thread has a shadow of its memory with the value of each byte as it was loaded last, and the spot
 * that loaded it.
 */
#include <sonde/value_report.h>
#include <sonde/value_shadow.h>
#include <stdlib.h>
#include <string.h>

SN_EXPORT extern const sn_tool sn_tool_descriptor;

enum {
    TOTAL_BYTES, TOTAL_REDUNDANT, TOTAL_INTEGER_BYTES, TOTAL_INTEGER_REDUNDANT, TOTAL_FLOAT_BYTES, TOTAL_FLOAT_REDUNDANT,
    TOTAL_APPROXIMATE, TOTAL_LOADS, TOTAL_REDUNDANT_LOADS,
};
enum { CLASS_EQUAL, CLASS_APPROXIMATE };

enum {
    CELL = 4, /**< bytes that have one spot, mostly */
    CELLS = SN_VALUE_SHADOW_PAGE / CELL,
    MOST_BYTES = 64,
};
#define MIXED UINT32_MAX

/** Shadow of a page. What was never loaded has the spot 0. */
typedef struct load_page {
    uint8_t values[SN_VALUE_SHADOW_PAGE];
    uint32_t cells[CELLS]; /**< spots of cells; MIXED: each byte has its own */
    uint32_t *bytes;       /**< spots of the bytes of mixed cells; NULL until there is one */
} load_page;

/** The last pair that ended in a spot, and where it is counted. */
typedef struct load_memo {
    uint32_t first, size;
    uint64_t times;        /**< not yet added to the finding */
} load_memo;

typedef struct load_state {
    sn_value_shadow shadow;
    sn_findings findings;
    load_memo *memos;      /**< by the second spot */
    uint32_t memo_count;
    uint64_t totals[SN_REPORT_TOTALS];
} load_state;

/** One load. */
typedef struct load {
    const sn_value_record *record; /**< its constants */
    const uint8_t *value;
    uint64_t address;
    uint32_t spot;
} load;

static int64_t percent = 1;
static double tolerance; /**< the same as a part of 1 */

/* ------------------------------------------------------------------ floating point */

/** Whether two numbers differ by at most the option's percentage of the greater one. */
static bool is_close(double a, double b) {
    double difference = a > b ? a - b : b - a, size_a = a < 0 ? -a : a, size_b = b < 0 ? -b : b;
    return difference <= (size_a > size_b ? size_a : size_b) * tolerance;
}

static double element_at(const uint8_t *at, unsigned size) {
    float single;
    double number;
    long double extended = 0;
    switch (size) {
    case 4: return memcpy(&single, at, sizeof single), single;
    case 8: return memcpy(&number, at, sizeof number), number;
    default: return memcpy(&extended, at, 10), (double)extended;
    }
}

static bool is_approximate(const load *now, const uint8_t *before) {
    const sn_value_record *record = now->record;
    const sn_value_site *site = sn_value_site_at(record->site);
    unsigned element = site->element_size;
    if (!percent || !site->is_float || (element != 4 && element != 8 && element != 10) || record->size % element)
        return false;
    for (unsigned at = 0; at < record->size; at += element)
        if (!is_close(element_at(now->value + at, element), element_at(before + at, element)))
            return false;
    return true;
}

/* ---------------------------------------------------------------------- what is found */

static void add(load_state *state, uint32_t first, uint32_t second, unsigned class_number, uint64_t bytes, uint64_t times) {
    sn_finding *finding = sn_findings_of(&state->findings, first, second, class_number);
    finding->amounts[0] += bytes;
    finding->amounts[1] += times;
}

static void settle(load_state *state, uint32_t spot) {
    load_memo *memo = &state->memos[spot];
    if (memo->times) add(state, memo->first, spot, CLASS_EQUAL, memo->times * memo->size, memo->times);
    memo->times = 0;
}

/** The whole load is redundant, and one load was before it: mostly the same one as last time. */
static inline void add_pair(load_state *state, uint32_t first, const load *now) {
    load_memo *memo = &state->memos[now->spot];
    if (__builtin_expect(memo->first != first || memo->size != now->record->size, 0)) {
        settle(state, now->spot);
        memo->first = first;
        memo->size = now->record->size;
    }
    memo->times++;
}

/** Count a redundant load in the totals. */
static inline void total(load_state *state, const load *now, bool is_equal) {
    unsigned size = now->record->size;
    if (!is_equal) {
        state->totals[TOTAL_APPROXIMATE] += size;
        return;
    }
    state->totals[TOTAL_REDUNDANT_LOADS]++;
    state->totals[TOTAL_REDUNDANT] += size;
    state->totals[sn_value_is_float(now->record) ? TOTAL_FLOAT_REDUNDANT : TOTAL_INTEGER_REDUNDANT] += size;
}

/* --------------------------------------------------------------------- any load at all */

static uint32_t *spot_of_byte(load_page *page, unsigned offset) {
    uint32_t *cell = &page->cells[offset / CELL];
    if (*cell == MIXED) return &page->bytes[offset];
    return cell;
}

/** Give a byte a spot of its own. */
static void set_byte(load_page *page, unsigned offset, uint32_t spot) {
    uint32_t *cell = &page->cells[offset / CELL];
    if (*cell == spot) return;
    if (!page->bytes && !(page->bytes = calloc(SN_VALUE_SHADOW_PAGE, sizeof *page->bytes)))
        sn_fail(125, "loadspy: out of memory");
    uint32_t *bytes = &page->bytes[offset / CELL * CELL];
    for (unsigned i = 0; *cell != MIXED && i < CELL; i++) bytes[i] = *cell;
    *cell = MIXED;
    page->bytes[offset] = spot;
    if (bytes[0] == bytes[1] && bytes[1] == bytes[2] && bytes[2] == bytes[3]) *cell = spot;
}

/** The bytes are redundant: attribute each run of them that one spot loaded. */
static void attribute(load_state *state, const load *now, const uint32_t *spots, bool is_equal) {
    unsigned size = now->record->size;
    for (unsigned from = 0, to; from < size; from = to) {
        for (to = from + 1; to < size && spots[to] == spots[from];) to++;
        add(state, spots[from], now->spot, is_equal ? CLASS_EQUAL : CLASS_APPROXIMATE, to - from, 1);
    }
    total(state, now, is_equal);
}

static void load_bytes(load_state *state, const load *now) {
    uint8_t before[MOST_BYTES];
    uint32_t spots[MOST_BYTES];
    unsigned size = now->record->size;
    bool all_loaded = true;
    for (unsigned i = 0; i < size; i++) {
        load_page *page = sn_value_shadow_page(&state->shadow, now->address + i);
        unsigned offset = (now->address + i) % SN_VALUE_SHADOW_PAGE;
        before[i] = page->values[offset];
        spots[i] = *spot_of_byte(page, offset);
        all_loaded &= spots[i] != 0;
        page->values[offset] = now->value[i];
        set_byte(page, offset, now->spot);
    }
    bool is_equal = !memcmp(before, now->value, size);
    if (all_loaded && (is_equal || is_approximate(now, before))) attribute(state, now, spots, is_equal);
}

/* ---------------------------------------------------------------------- quick loads */

/** A load of whole cells of a page: `size` is a constant. Returns false, with nothing changed, if it is not like that: the
    cells have several spots. */
static inline __attribute__((always_inline)) bool load_cells(load_state *state, const load *now, load_page *page,
                                                             unsigned offset, unsigned size) {
    uint32_t *cells = &page->cells[offset / CELL], first = cells[0], different = 0;
    uint8_t *values = &page->values[offset];
    for (unsigned i = 1; i < size / CELL; i++) different |= cells[i] ^ first;
    if (different || first == MIXED) return false;
    uint64_t changed = 0;
    for (unsigned i = 0; i < size; i += CELL) {
        uint32_t was, is;
        memcpy(&was, values + i, CELL);
        memcpy(&is, now->value + i, CELL);
        changed |= was ^ is;
    }
    if (first && !changed) {
        add_pair(state, first, now);
        total(state, now, true);
    } else if (first && is_approximate(now, values)) {
        add(state, first, now->spot, CLASS_APPROXIMATE, size, 1);
        total(state, now, false);
    }
    if (changed || !first) memcpy(values, now->value, size);
    for (unsigned i = 0; i < size / CELL; i++) cells[i] = now->spot;
    return true;
}

static inline bool load_byte(load_state *state, const load *now, load_page *page, unsigned offset) {
    uint32_t first = *spot_of_byte(page, offset);
    bool is_equal = page->values[offset] == *now->value;
    if (first && is_equal) {
        add_pair(state, first, now);
        total(state, now, true);
    }
    page->values[offset] = *now->value;
    if (first != now->spot) set_byte(page, offset, now->spot);
    return true;
}

static bool load_quickly(load_state *state, const load *now) {
    unsigned offset = now->address % SN_VALUE_SHADOW_PAGE, size = now->record->size;
    if (size > 1 && (offset % CELL || offset + size > SN_VALUE_SHADOW_PAGE)) return false;
    load_page *page = sn_value_shadow_page(&state->shadow, now->address);
    switch (size) {
    case 1: return load_byte(state, now, page, offset);
    case 4: return load_cells(state, now, page, offset, 4);
    case 8: return load_cells(state, now, page, offset, 8);
    case 16: return load_cells(state, now, page, offset, 16);
    case 32: return load_cells(state, now, page, offset, 32);
    case 64: return load_cells(state, now, page, offset, 64);
    default: return false;
    }
}

/* ----------------------------------------------------------------------------- runs */

static void make_memos(load_state *state, uint32_t spot) {
    if (spot < state->memo_count) return;
    uint32_t room = spot + spot / 4 + 1024;
    state->memos = reallocarray(state->memos, room, sizeof *state->memos);
    if (!state->memos) sn_fail(125, "loadspy: out of memory");
    memset(state->memos + state->memo_count, 0, (room - state->memo_count) * sizeof *state->memos);
    state->memo_count = room;
}

static void take_execution(load_state *state, const sn_value_run *run, const uint64_t *word) {
    for (uint32_t i = 0; i < run->count; i++) {
        load now = {.record = &run->constants[i], .value = (const uint8_t *)(word + 1), .address = *word,
                    .spot = run->first_spot + run->constants[i].spot};
        word += run->word_counts[i];
        if (run->word_counts[i] > 1 && !load_quickly(state, &now)) load_bytes(state, &now);
    }
}

/** What is the same for all executions. */
static void take_totals(load_state *state, const sn_value_run *run) {
    for (uint32_t i = 0; i < run->count; i++) {
        if (run->word_counts[i] <= 1) continue;
        uint64_t bytes = (uint64_t)run->times * run->constants[i].size;
        state->totals[TOTAL_LOADS] += run->times;
        state->totals[TOTAL_BYTES] += bytes;
        state->totals[sn_value_is_float(&run->constants[i]) ? TOTAL_FLOAT_BYTES : TOTAL_INTEGER_BYTES] += bytes;
    }
}

static void take_runs(const sn_values_run_batch *batch) {
    load_state *state = batch->state;
    for (size_t i = 0; i < batch->count; i++) {
        const sn_value_run *run = &batch->runs[i];
        make_memos(state, run->first_spot + run->constants[run->count - 1].spot);
        take_totals(state, run);
        for (uint32_t k = 0; k < run->times; k++) take_execution(state, run, run->words + k * (size_t)run->stride);
    }
}

/* ------------------------------------------------------------------- life of memory */

/** What is mapped there next is other memory. */
static void unmapped(void *its, uint64_t start, uint64_t end) {
    load_state *state = its;
    for (uint64_t at = start; at < end; at += SN_VALUE_SHADOW_PAGE) {
        load_page *page = sn_value_shadow_find(&state->shadow, at);
        if (page) memset(page->cells, 0, sizeof page->cells);
    }
}

static void begin(void *its, int thread) {
    load_state *state = its;
    (void)thread;
    sn_value_shadow_begin(&state->shadow, sizeof(load_page));
}

static void free_bytes(void *its, uint64_t address, void *data) {
    load_page *page = its;
    (void)address;
    (void)data;
    free(page->bytes);
}

static void finish(void *its, int thread) {
    load_state *state = its;
    for (uint32_t spot = 0; spot < state->memo_count; spot++) settle(state, spot);
    sn_value_shadow_visit(&state->shadow, free_bytes, NULL);
    free(state->memos);
    sn_report_add(state, thread, state->totals, &state->findings);
    sn_value_shadow_end(&state->shadow);
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
