/**
 * @fileoverview The tool `redspy`: writes of what was there already. A write to memory or to a register is redundant if the
 * value written equals the one that it replaces; its bytes are attributed to the instruction that wrote the value before and
 * to this one, each with its calling context.
 *
 * On <sonde/values.h>: a record of a write has both values. Who wrote before is kept in a shadow of the thread's memory, and in
 * a table of its registers; a write is attributed to who wrote its first byte.
 */
#include <sonde/value_near.h>
#include <sonde/value_pairs.h>
#include <sonde/value_shadow.h>
#include <string.h>

SN_EXPORT extern const sn_tool sn_tool_descriptor;

enum {
    TOTAL_BYTES, TOTAL_REDUNDANT, TOTAL_MEMORY_BYTES, TOTAL_MEMORY_REDUNDANT, TOTAL_REGISTER_BYTES, TOTAL_REGISTER_REDUNDANT,
    TOTAL_FLOAT_BYTES, TOTAL_FLOAT_REDUNDANT, TOTAL_APPROXIMATE, TOTAL_WRITES, TOTAL_REDUNDANT_WRITES,
};
enum { CLASS_MEMORY, CLASS_REGISTERS, CLASS_APPROXIMATE };
enum { PLACES = 8, REGISTERS = 256 };

#define INLINE static inline __attribute__((always_inline))

typedef struct write_state {
    sn_value_shadow writers;             /**< spots of the last writes: sn_value_cells */
    uint32_t registers[PLACES][REGISTERS];
    sn_value_pairs equal, approximate;
    uint64_t totals[SN_REPORT_TOTALS];
} write_state;

static int64_t percent = 1;
static double tolerance; /**< the same as a part of 1 */
static bool looks_at_registers = true;

/* -------------------------------------------------------------------------- writers */

/** Bytes that are not whole cells of a page. */
static __attribute__((noinline)) uint32_t replace_bytes(write_state *state, uint64_t address, unsigned size, uint32_t spot) {
    uint32_t first = 0;
    for (unsigned done = 0, part; done < size; done += part) {
        unsigned offset = (address + done) % SN_VALUE_SHADOW_PAGE, room = SN_VALUE_SHADOW_PAGE - offset;
        sn_value_cells *page = sn_value_shadow_page(&state->writers, address + done);
        part = size - done < room ? size - done : room;
        if (!done) first = sn_value_cells_at(page, offset);
        sn_value_cells_set(page, offset, part, spot);
    }
    return first;
}

/** Make this write the last one of its bytes; returns the spot of the one before it at the first byte, 0 if there is none. */
INLINE uint32_t replace_writer(write_state *state, uint64_t address, unsigned size, uint32_t spot) {
    unsigned offset = address % SN_VALUE_SHADOW_PAGE;
    bool is_usual = size == 4 || size == 8 || size == 16;
    if (__builtin_expect(!is_usual || offset % SN_VALUE_CELL || offset + size > SN_VALUE_SHADOW_PAGE, 0))
        return replace_bytes(state, address, size, spot);
    sn_value_cells *page = sn_value_shadow_page(&state->writers, address);
    uint32_t *cells = &page->cells[offset / SN_VALUE_CELL], first = sn_value_cells_at(page, offset);
    for (unsigned i = 0; i < size / SN_VALUE_CELL; i++) cells[i] = spot;
    return first;
}

INLINE uint32_t replace_register_writer(write_state *state, unsigned place, uint64_t number, uint32_t spot) {
    uint32_t *last = &state->registers[place % PLACES][number % REGISTERS], before = *last;
    *last = spot;
    return before;
}

/* ------------------------------------------------------------------------------ runs */

/** Values are whole words, of which what the size leaves out is zero. */
INLINE bool is_equal(const uint64_t *value, unsigned words) {
    if (__builtin_expect(words == 1, 1)) return value[0] == value[1];
    uint64_t different = 0;
    for (unsigned i = 0; i < words; i++) different |= value[i] ^ value[words + i];
    return !different;
}

/** The frequent types with sizes that are constants. */
INLINE bool is_near(const sn_value_record *record, const uint64_t *value, unsigned words) {
    if (!percent) return false;
    switch (record->type) {
    case SN_VALUE_SINGLE: return sn_value_near(value, value + 1, 4, 4, tolerance);
    case SN_VALUE_SINGLE_128: return sn_value_near(value, value + 2, 16, 4, tolerance);
    case SN_VALUE_DOUBLE: return sn_value_near(value, value + 1, 8, 8, tolerance);
    case SN_VALUE_DOUBLE_128: return sn_value_near(value, value + 2, 16, 8, tolerance);
    default: return sn_value_near(value, value + words, record->size, sn_value_near_element(record), tolerance);
    }
}

INLINE void take_write(write_state *state, const sn_value_record *record, uint64_t address, const uint64_t *value, uint32_t spot) {
    bool is_memory = record->place == SN_PLACE_MEMORY;
    unsigned words = (record->size + 7u) / 8;
    uint32_t writer = is_memory ? replace_writer(state, address, record->size, spot)
                                : replace_register_writer(state, record->place, address, spot);
    bool is_redundant = is_equal(value, words);
    if (is_redundant && is_memory) sn_value_objects_note(state, address, record->size);
    if (is_redundant) sn_value_pairs_add(&state->equal, writer, spot);
    else if (record->type >= SN_VALUE_SINGLE && is_near(record, value, words))
        sn_value_pairs_add(&state->approximate, writer, spot);
}

static void take_execution(write_state *state, const sn_value_run *run, const uint64_t *word) {
    for (uint32_t i = 0; i < run->count; i++) {
        const sn_value_record *record = &run->constants[i];
        if (record->moment & SN_VALUES_OVERWRITTEN) take_write(state, record, *word, word + 1, run->first_spot + record->spot);
        word += run->word_counts[i];
    }
}

static void take_runs(const sn_values_run_batch *batch) {
    write_state *state = batch->state;
    for (size_t i = 0; i < batch->count; i++) {
        const sn_value_run *run = &batch->runs[i];
        uint32_t most = run->first_spot + run->constants[run->count - 1].spot;
        sn_value_pairs_reach(&state->equal, most);
        sn_value_pairs_reach(&state->approximate, most);
        for (uint32_t k = 0; k < run->times; k++) take_execution(state, run, run->words + k * (size_t)run->stride);
    }
}

/* ------------------------------------------------------------------- life of memory */

static void unmapped(void *its, uint64_t start, uint64_t end) {
    write_state *state = its;
    for (uint64_t at = start; at < end; at += SN_VALUE_SHADOW_PAGE) {
        sn_value_cells *page = sn_value_shadow_find(&state->writers, at);
        if (page) sn_value_cells_clear(page);
    }
}

static void begin(void *its, int thread) {
    write_state *state = its;
    (void)thread;
    sn_value_shadow_begin(&state->writers, sizeof(sn_value_cells));
}

static void end_page(void *page, uint64_t address, void *data) {
    (void)address;
    (void)data;
    sn_value_cells_end(page);
}

static bool is_in_memory(const sn_value_site *site) { return site->place == SN_PLACE_MEMORY; }

static void add_executions(void *its, uint32_t spot, const sn_value_site *site, uint64_t times) {
    write_state *state = its;
    uint64_t bytes = times * site->size;
    (void)spot;
    state->totals[TOTAL_BYTES] += bytes;
    state->totals[is_in_memory(site) ? TOTAL_MEMORY_BYTES : TOTAL_REGISTER_BYTES] += bytes;
    state->totals[TOTAL_FLOAT_BYTES] += site->is_float ? bytes : 0;
    state->totals[TOTAL_WRITES] += times;
}

static uint32_t class_of_equal(void *its, const sn_value_site *second, uint64_t bytes, uint64_t whole) {
    write_state *state = its;
    state->totals[TOTAL_REDUNDANT] += bytes;
    state->totals[is_in_memory(second) ? TOTAL_MEMORY_REDUNDANT : TOTAL_REGISTER_REDUNDANT] += bytes;
    state->totals[TOTAL_FLOAT_REDUNDANT] += second->is_float ? bytes : 0;
    state->totals[TOTAL_REDUNDANT_WRITES] += whole;
    return is_in_memory(second) ? CLASS_MEMORY : CLASS_REGISTERS;
}

static uint32_t class_of_approximate(void *its, const sn_value_site *second, uint64_t bytes, uint64_t whole) {
    write_state *state = its;
    (void)second;
    (void)whole;
    state->totals[TOTAL_APPROXIMATE] += bytes;
    return CLASS_APPROXIMATE;
}

static void finish(void *its, int thread) {
    write_state *state = its;
    sn_value_shadow_visit(&state->writers, end_page, NULL);
    sn_value_shadow_end(&state->writers);
    sn_values_visit_spots(state, add_executions);
    sn_value_pairs_finish(&state->equal, state, class_of_equal);
    sn_value_pairs_finish(&state->approximate, state, class_of_approximate);
    sn_report_add(state, thread, state->totals, NULL);
}

static const sn_report_form form = {
    .tool = "redspy",
    .title = "writes of what was there before",
    .totals = {"bytes written", "redundant bytes", "bytes written to memory", "redundant bytes in memory",
               "bytes written to registers", "redundant bytes in registers", "floating-point bytes written",
               "floating-point redundant bytes", "approximately redundant bytes", "writes", "redundant writes"},
    .base = {0, TOTAL_BYTES + 1, 0, TOTAL_MEMORY_BYTES + 1, 0, TOTAL_REGISTER_BYTES + 1, 0, TOTAL_FLOAT_BYTES + 1,
             TOTAL_FLOAT_BYTES + 1, 0, TOTAL_WRITES + 1},
    .amounts = {"bytes", "times"},
    .classes = {{"memory", "Redundant writes to memory, by bytes", "written", "written again", TOTAL_MEMORY_REDUNDANT},
                {"registers", "Redundant writes to registers, by bytes", "written", "written again",
                 TOTAL_REGISTER_REDUNDANT},
                {"approximate", "Writes of nearly the same floating-point numbers, by bytes", "written", "written again",
                 TOTAL_APPROXIMATE}},
};

static const sn_option options[] = {
    {"approximate", SN_OPTION_NUMBER, &percent, "1", NULL,
     "floating-point numbers that differ by so many percent are nearly the same; 0: none"},
    {"registers", SN_OPTION_FLAG, &looks_at_registers, "yes", NULL, "look at registers too, not only at memory"},
    SN_REPORT_OPTIONS,
    SN_VALUES_OPTIONS,
    {0},
};

static void start(void) {
    if (percent < 0 || percent > 100) sn_fail(2, "--approximate=%lld: a number from 0 to 100 is wanted", (long long)percent);
    tolerance = (double)percent / 100;
    uint32_t registers = looks_at_registers ? SN_VALUES_GENERAL | SN_VALUES_VECTOR | SN_VALUES_MASK : 0;
    sn_values_start(&(sn_values_request){
        .places = SN_VALUES_MEMORY | registers, .moments = SN_VALUES_WRITTEN | SN_VALUES_OVERWRITTEN,
        .parts = SN_VALUES_BYTES | SN_VALUES_CONTEXT, .explicit_only = false, .filter = NULL,
        .state_size = sizeof(write_state), .begin = begin, .take_runs = take_runs, .unmapped = unmapped, .finish = finish});
}

static void end(void) {
    sn_values_end();
    sn_report_print(&form);
}

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE,
    .name = "redspy",
    .version = "1",
    .description = "writes of what was there before",
    .options = options,
    .start = start,
    SN_VALUES_CALLBACKS,
    .end = end,
};
