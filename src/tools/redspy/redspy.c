/**
 * @fileoverview The tool `redspy`: writes of what was there already. A write to memory or to a register is redundant if the
 * value written equals the one that it replaces; its bytes are attributed to the instruction that wrote the value before and
 * to this one, each with its calling context.
 *
 * On <sonde/values.h>: a record of a write has both values. Who wrote before is kept in a shadow of the thread's memory, by
 * units of 4 bytes, and in a table of its registers.
 */
#include <sonde/value_report.h>
#include <sonde/value_shadow.h>
#include <stdlib.h>
#include <string.h>

SN_EXPORT extern const sn_tool sn_tool_descriptor;

enum {
    TOTAL_BYTES, TOTAL_REDUNDANT, TOTAL_MEMORY_BYTES, TOTAL_MEMORY_REDUNDANT, TOTAL_REGISTER_BYTES, TOTAL_REGISTER_REDUNDANT,
    TOTAL_FLOAT_BYTES, TOTAL_FLOAT_REDUNDANT, TOTAL_APPROXIMATE, TOTAL_WRITES, TOTAL_REDUNDANT_WRITES,
};
enum { CLASS_MEMORY, CLASS_REGISTERS, CLASS_APPROXIMATE };
enum { UNIT = 4, UNITS = SN_VALUE_SHADOW_PAGE / UNIT, PLACES = 8, REGISTERS = 256 };

/** Redundant writes of a spot since the write before them came from another one than now: not yet added to a finding. */
typedef struct write_memo {
    uint32_t writer, size, class_number;
    uint64_t times;
} write_memo;

typedef struct write_state {
    write_memo *memos;                   /**< by spot */
    uint32_t memo_count;
    sn_value_shadow writers;             /**< spots of the last writes: uint32_t[UNITS] a page */
    uint32_t registers[PLACES][REGISTERS];
    sn_findings findings;
    uint64_t totals[SN_REPORT_TOTALS];
} write_state;

/** One write. */
typedef struct written {
    const sn_value_record *record;
    const sn_value_site *site;
    const uint8_t *value, *before;
    uint64_t address;
    uint32_t spot;
} written;

static int64_t percent = 1;
static double tolerance; /**< the same as a part of 1 */
static bool looks_at_registers = true;

/* ------------------------------------------------------------------ floating point */

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

/** Whether all elements are nearly what they were. */
static bool is_approximate(const written *now) {
    unsigned element = now->site->element_size, size = now->record->size;
    if (!percent || !now->site->is_float || (element != 4 && element != 8 && element != 10) || size % element) return false;
    for (unsigned at = 0; at < size; at += element)
        if (!is_close(element_at(now->value + at, element), element_at(now->before + at, element))) return false;
    return true;
}

/* -------------------------------------------------------------------------- writers */

static bool is_register(const written *now) { return now->site->place != SN_PLACE_MEMORY; }

/** Make this write the last one of its bytes; returns the spot of the one before it at the first byte, 0 if there is none. */
static uint32_t replace_writer(write_state *state, const written *now) {
    if (is_register(now)) {
        uint32_t *last = &state->registers[now->site->place % PLACES][now->address % REGISTERS], before = *last;
        *last = now->spot;
        return before;
    }
    uint32_t first = 0;
    for (uint64_t at = now->address; at < now->address + now->record->size; at = (at / UNIT + 1) * UNIT) {
        uint32_t *units = sn_value_shadow_page(&state->writers, at);
        uint32_t *unit = &units[at % SN_VALUE_SHADOW_PAGE / UNIT];
        if (at == now->address) first = *unit;
        *unit = now->spot;
    }
    return first;
}

/* ------------------------------------------------------------------------------ runs */

static void add(write_state *state, const written *now, uint32_t writer, unsigned class_number) {
    sn_finding *finding = sn_findings_of(&state->findings, writer, now->spot, class_number);
    finding->amounts[0] += now->record->size;
    finding->amounts[1]++;
}

static void settle(write_state *state, uint32_t spot) {
    write_memo *memo = &state->memos[spot];
    if (memo->times) {
        sn_finding *finding = sn_findings_of(&state->findings, memo->writer, spot, memo->class_number);
        finding->amounts[0] += memo->times * memo->size;
        finding->amounts[1] += memo->times;
    }
    memo->times = 0;
}

/** Mostly the write before is by the same instruction as last time. */
static void add_redundant(write_state *state, const written *now, uint32_t writer) {
    write_memo *memo = &state->memos[now->spot];
    if (memo->writer != writer || memo->size != now->record->size) {
        settle(state, now->spot);
        *memo = (write_memo){.writer = writer, .size = now->record->size,
                             .class_number = is_register(now) ? CLASS_REGISTERS : CLASS_MEMORY};
    }
    memo->times++;
}

/** Values are whole words, of which what the size leaves out is zero. */
static bool is_equal(const written *now) {
    const uint64_t *value = (const uint64_t *)now->value, *before = (const uint64_t *)now->before;
    uint64_t different = 0;
    for (unsigned i = 0; i < (now->record->size + 7u) / 8; i++) different |= value[i] ^ before[i];
    return !different;
}

static void count_redundant(write_state *state, const written *now) {
    unsigned size = now->record->size;
    state->totals[TOTAL_REDUNDANT] += size;
    state->totals[is_register(now) ? TOTAL_REGISTER_REDUNDANT : TOTAL_MEMORY_REDUNDANT] += size;
    if (now->site->is_float) state->totals[TOTAL_FLOAT_REDUNDANT] += size;
    state->totals[TOTAL_REDUNDANT_WRITES]++;
}

static void take_write(write_state *state, const written *now) {
    uint32_t writer = replace_writer(state, now);
    unsigned size = now->record->size;
    if (is_equal(now)) {
        add_redundant(state, now, writer);
        count_redundant(state, now);
    } else if (is_approximate(now)) {
        add(state, now, writer, CLASS_APPROXIMATE);
        state->totals[TOTAL_APPROXIMATE] += size;
    }
    state->totals[TOTAL_BYTES] += size;
    state->totals[is_register(now) ? TOTAL_REGISTER_BYTES : TOTAL_MEMORY_BYTES] += size;
    if (now->site->is_float) state->totals[TOTAL_FLOAT_BYTES] += size;
    state->totals[TOTAL_WRITES]++;
}

static void take_execution(write_state *state, const sn_value_run *run, const uint64_t *word) {
    for (uint32_t i = 0; i < run->count; i++) {
        const sn_value_record *record = &run->constants[i];
        written now = {.record = record, .site = sn_value_site_at(record->site), .value = (const uint8_t *)(word + 1),
                       .before = (const uint8_t *)(word + 1 + (record->size + 7) / 8), .address = *word,
                       .spot = run->first_spot + record->spot};
        word += run->word_counts[i];
        if (record->moment & SN_VALUES_OVERWRITTEN) take_write(state, &now);
    }
}

static void make_memos(write_state *state, uint32_t spot) {
    if (spot < state->memo_count) return;
    uint32_t room = spot + spot / 4 + 1024;
    state->memos = reallocarray(state->memos, room, sizeof *state->memos);
    if (!state->memos) sn_fail(125, "redspy: out of memory");
    memset(state->memos + state->memo_count, 0, (room - state->memo_count) * sizeof *state->memos);
    state->memo_count = room;
}

static void take_runs(const sn_values_run_batch *batch) {
    for (size_t i = 0; i < batch->count; i++) {
        const sn_value_run *run = &batch->runs[i];
        make_memos(batch->state, run->first_spot + run->constants[run->count - 1].spot);
        for (uint32_t k = 0; k < run->times; k++) take_execution(batch->state, run, run->words + k * (size_t)run->stride);
    }
}

/* ------------------------------------------------------------------- life of memory */

static void unmapped(void *its, uint64_t start, uint64_t end) {
    write_state *state = its;
    for (uint64_t at = start; at < end; at += SN_VALUE_SHADOW_PAGE) {
        void *page = sn_value_shadow_find(&state->writers, at);
        if (page) memset(page, 0, UNITS * sizeof(uint32_t));
    }
}

static void begin(void *its, int thread) {
    write_state *state = its;
    (void)thread;
    sn_value_shadow_begin(&state->writers, UNITS * sizeof(uint32_t));
}

static void finish(void *its, int thread) {
    write_state *state = its;
    for (uint32_t spot = 0; spot < state->memo_count; spot++) settle(state, spot);
    free(state->memos);
    sn_report_add(state, thread, state->totals, &state->findings);
    sn_value_shadow_end(&state->writers);
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
