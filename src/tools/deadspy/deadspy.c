/**
 * @fileoverview The tool `deadspy`: stores that nobody reads. A byte that is written again without having been read since is
 * dead; it is attributed to the dead store and to the one that killed it, each with its calling context. Bytes that are never
 * read at all are listed apart: those in memory that was unmapped, and those that were there at the end.
 *
 * On <sonde/values.h>, from addresses alone. Each thread has a shadow of its memory with the spot that wrote each byte, if it
 * has not been read since. What threads share can't be decided from streams that are each in order only by themselves: memory
 * that several threads access is found out by lines of 64 bytes, and stores to it are counted apart.
 */
#include <sonde/value_report.h>
#include <sonde/value_shadow.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

SN_EXPORT extern const sn_tool sn_tool_descriptor;

enum { TOTAL_BYTES, TOTAL_DEAD, TOTAL_UNMAPPED, TOTAL_END, TOTAL_SHARED, TOTAL_STORES };
enum { CLASS_DEAD, CLASS_UNMAPPED, CLASS_END };
enum { LINE = 64, LINES = SN_VALUE_SHADOW_PAGE / LINE, SHARED = UINT16_MAX };

/** Who accessed the lines of a page: numbers of threads, or SHARED. One for all threads. */
typedef struct owners {
    _Atomic uint16_t lines[LINES];
} owners;

/** Spots of bytes that were written and not read since: 0 for all others. */
typedef struct store_page {
    uint32_t spots[SN_VALUE_SHADOW_PAGE];
    owners *owners;
} store_page;

typedef struct store_state {
    sn_value_shadow shadow;
    sn_findings findings;
    uint64_t totals[SN_REPORT_TOTALS];
    uint16_t number; /**< of the thread, from 1 on */
} store_state;

/* ------------------------------------------------------------------------- sharing */

static sn_value_shadow all_owners;
static pthread_mutex_t owners_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t thread_count;

static inline store_page *page_of(store_state *state, uint64_t address) {
    store_page *page = sn_value_shadow_page(&state->shadow, address);
    if (!page->owners) {
        pthread_mutex_lock(&owners_lock);
        page->owners = sn_value_shadow_page(&all_owners, address);
        pthread_mutex_unlock(&owners_lock);
    }
    return page;
}

/** Whether only this thread has accessed the line. */
static inline bool is_own(const store_state *state, store_page *page, unsigned offset) {
    _Atomic uint16_t *owner = &page->owners->lines[offset / LINE];
    uint16_t known = *owner;
    if (__builtin_expect(known == state->number, 1)) return true;
    if (!known && __atomic_compare_exchange_n((uint16_t *)owner, &known, state->number, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return true;
    *owner = SHARED;
    return false;
}

/* ------------------------------------------------------------------- loads and stores */

static void add(store_state *state, uint32_t first, uint32_t second, unsigned class_number, uint64_t bytes) {
    sn_finding *finding = sn_findings_of(&state->findings, first, second, class_number);
    finding->amounts[0] += bytes;
    finding->amounts[1]++;
}

/** Bytes of one line. */
static inline __attribute__((always_inline)) void load_in_line(store_state *state, store_page *page, unsigned offset, unsigned size) {
    is_own(state, page, offset);
    uint32_t *spots = page->spots + offset;
    for (unsigned i = 0; i < size; i++) spots[i] = 0;
}

/** What is there dies: each run of bytes that one store wrote. */
static void kill_bytes(store_state *state, const uint32_t *spots, unsigned size, uint32_t killer) {
    for (unsigned from = 0, to; from < size; from = to) {
        for (to = from + 1; to < size && spots[to] == spots[from];) to++;
        if (!spots[from]) continue;
        add(state, spots[from], killer, CLASS_DEAD, to - from);
        state->totals[TOTAL_DEAD] += to - from;
    }
}

static inline __attribute__((always_inline)) void store_in_line(store_state *state, store_page *page, unsigned offset, unsigned size, uint32_t spot) {
    uint32_t *spots = page->spots + offset, any = 0;
    bool own = is_own(state, page, offset);
    for (unsigned i = 0; i < size; i++) any |= spots[i];
    if (any && own) kill_bytes(state, spots, size, spot);
    for (unsigned i = 0; i < size; i++) spots[i] = own ? spot : 0;
    if (!own) state->totals[TOTAL_SHARED] += size;
}

/** An access of the usual sizes, which are constants here, inside a line. Returns false for all others. */
static bool access_quickly(store_state *state, uint64_t address, unsigned size, uint32_t spot, bool is_store) {
    unsigned offset = address % SN_VALUE_SHADOW_PAGE;
    if (offset % LINE + size > LINE) return false;
    store_page *page = page_of(state, address);
    switch (size) {
#define SIZE(n)                                                              \
    case n:                                                                  \
        if (is_store) store_in_line(state, page, offset, n, spot);           \
        else load_in_line(state, page, offset, n);                           \
        return true;
        SIZE(1) SIZE(4) SIZE(8) SIZE(16)
#undef SIZE
    default: return false;
    }
}

/** An access of any size, line by line. */
static void access_bytes(store_state *state, uint64_t address, uint64_t size, uint32_t spot, bool is_store) {
    for (uint64_t part; size; address += part, size -= part) {
        unsigned offset = address % SN_VALUE_SHADOW_PAGE, room = LINE - offset % LINE;
        part = size < room ? size : room;
        store_page *page = page_of(state, address);
        if (is_store) store_in_line(state, page, offset, (unsigned)part, spot);
        else load_in_line(state, page, offset, (unsigned)part);
    }
}

static void take_execution(store_state *state, const sn_value_run *run, const uint64_t *word) {
    for (uint32_t i = 0; i < run->count; i++) {
        const sn_value_record *record = &run->constants[i];
        bool is_store = record->moment & SN_VALUES_WRITTEN;
        uint32_t spot = run->first_spot + record->spot;
        if (!access_quickly(state, *word, record->size, spot, is_store))
            access_bytes(state, *word, record->size, spot, is_store);
        state->totals[TOTAL_BYTES] += is_store ? record->size : 0;
        state->totals[TOTAL_STORES] += is_store;
        word += run->word_counts[i];
    }
}

static void take_runs(const sn_values_run_batch *batch) {
    for (size_t i = 0; i < batch->count; i++) {
        const sn_value_run *run = &batch->runs[i];
        for (uint32_t k = 0; k < run->times; k++) take_execution(batch->state, run, run->words + k * (size_t)run->stride);
    }
}

/* ------------------------------------------------------------------- life of memory */

/** Bytes of a page that were not read until now are never. */
static void end_page(store_state *state, store_page *page, unsigned class_number) {
    for (unsigned from = 0, to; page->owners && from < SN_VALUE_SHADOW_PAGE; from = to) {
        for (to = from + 1; to < SN_VALUE_SHADOW_PAGE && page->spots[to] == page->spots[from] && to % LINE;) to++;
        if (!page->spots[from] || !is_own(state, page, from)) continue;
        add(state, page->spots[from], 0, class_number, to - from);
        state->totals[class_number == CLASS_END ? TOTAL_END : TOTAL_UNMAPPED] += to - from;
    }
    memset(page->spots, 0, sizeof page->spots);
}

static void unmapped(void *its, uint64_t start, uint64_t end) {
    store_state *state = its;
    for (uint64_t at = start; at < end; at += SN_VALUE_SHADOW_PAGE) {
        store_page *page = sn_value_shadow_find(&state->shadow, at);
        if (!page) continue;
        end_page(state, page, CLASS_UNMAPPED);
        if (page->owners) memset(page->owners, 0, sizeof *page->owners); /* what comes there next is other memory */
    }
}

static void end_shadow_page(void *page, uint64_t address, void *state) {
    (void)address;
    end_page(state, page, CLASS_END);
}

/** A fork's child begins with one thread, to which all memory belongs. */
static void forget_parent(void) {
    static _Atomic int process;
    int mine = sn_client_process();
    if (process && process != mine) sn_value_shadow_begin(&all_owners, sizeof(owners));
    process = mine;
}

static void begin(void *its, int thread) {
    store_state *state = its;
    (void)thread;
    forget_parent();
    uint32_t number = ++thread_count;
    state->number = number < SHARED ? (uint16_t)number : SHARED - 1;
    sn_value_shadow_begin(&state->shadow, sizeof(store_page));
}

static void finish(void *its, int thread) {
    store_state *state = its;
    sn_value_shadow_visit(&state->shadow, end_shadow_page, state);
    sn_report_add(state, thread, state->totals, &state->findings);
    sn_value_shadow_end(&state->shadow);
}

static const sn_report_form form = {
    .tool = "deadspy",
    .title = "stores that nobody reads",
    .totals = {"bytes stored", "dead bytes: overwritten unread", "bytes unmapped unread", "bytes unread at the end",
               "bytes stored to shared memory", "stores"},
    .base = {0, TOTAL_BYTES + 1, TOTAL_BYTES + 1, TOTAL_BYTES + 1, TOTAL_BYTES + 1, 0},
    .amounts = {"bytes", "times"},
    .classes = {{"dead", "Dead stores, by bytes", "stored", "overwritten", TOTAL_DEAD},
                {"unmapped", "Stores to memory that was unmapped unread, by bytes", "stored", NULL, TOTAL_UNMAPPED},
                {"end", "Stores that were unread at the end of their thread, by bytes", "stored", NULL, TOTAL_END}},
};

static const sn_option options[] = {SN_REPORT_OPTIONS, SN_VALUES_OPTIONS, {0}};

static void start(void) {
    sn_value_shadow_begin(&all_owners, sizeof(owners));
    sn_values_start(&(sn_values_request){
        .places = SN_VALUES_MEMORY, .moments = SN_VALUES_READ | SN_VALUES_WRITTEN, .parts = SN_VALUES_CONTEXT,
        .system_calls = true, .state_size = sizeof(store_state), .begin = begin, .take_runs = take_runs,
        .unmapped = unmapped, .finish = finish});
}

static void end(void) {
    sn_values_end();
    sn_report_print(&form);
}

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE,
    .name = "deadspy",
    .version = "1",
    .description = "stores that nobody reads",
    .options = options,
    .start = start,
    SN_VALUES_CALLBACKS,
    .end = end,
};
