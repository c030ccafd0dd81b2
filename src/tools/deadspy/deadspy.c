/**
 * @fileoverview The tool `deadspy`: stores that nobody reads. A byte that is written again without having been read since is
 * dead; it is attributed to the dead store and to the one that killed it, each with its calling context. Bytes that are never
 * read at all are listed apart: those of frames whose function returned, those in blocks of the heap that were freed, those in
 * memory that was unmapped, and those that were there at the end.
 *
 * On <sonde/values.h>, from addresses alone. Each thread has a shadow of its memory with the spot that wrote each byte, if it
 * has not been read since. What threads share can't be decided from streams that are each in order only by themselves: memory
 * that several threads access is found out by lines of 64 bytes, and stores to it are counted apart.
 */
#include <sonde/value_pairs.h>
#include <sonde/value_shadow.h>
#include <pthread.h>
#include <string.h>

SN_EXPORT extern const sn_tool sn_tool_descriptor;

#define INLINE static inline __attribute__((always_inline))

enum { TOTAL_BYTES, TOTAL_DEAD, TOTAL_FRAMES, TOTAL_FREED, TOTAL_UNMAPPED, TOTAL_END, TOTAL_SHARED, TOTAL_STORES };
enum { CLASS_DEAD, CLASS_FRAMES, CLASS_FREED, CLASS_UNMAPPED, CLASS_END };
enum { LINE = 64, LINES = SN_VALUE_SHADOW_PAGE / LINE, SHARED = UINT16_MAX };
/** A store this far below the lowest one of a frame still belongs to it; the largest frame. */
enum { FRAME_STEP = 4096, LARGEST_FRAME = 1 << 20 };

/** Who accessed the lines of a page: numbers of threads, or SHARED. One for all threads. */
typedef struct owners {
    _Atomic uint16_t lines[LINES];
} owners;

/** Spots of bytes that were written and not read since: 0 for all others. */
typedef struct store_page {
    sn_value_cells spots;
    owners *owners;
} store_page;

typedef struct store_state {
    sn_value_shadow shadow;
    sn_value_pairs dead;
    sn_findings findings;
    uint64_t totals[SN_REPORT_TOTALS];
    uint64_t lowest; /**< address on the stack that was stored to since the last return */
    uint16_t number; /**< of the thread, from 1 on */
} store_state;

/* ------------------------------------------------------------------------- sharing */

static sn_value_shadow all_owners;
static pthread_mutex_t owners_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t thread_count;

static __attribute__((noinline)) void find_owners(store_page *page, uint64_t address) {
    pthread_mutex_lock(&owners_lock);
    page->owners = sn_value_shadow_page(&all_owners, address);
    pthread_mutex_unlock(&owners_lock);
}

INLINE store_page *page_of(store_state *state, uint64_t address) {
    store_page *page = sn_value_shadow_page(&state->shadow, address);
    if (__builtin_expect(!page->owners, 0)) find_owners(page, address);
    return page;
}

static __attribute__((noinline)) bool becomes_own(const store_state *state, _Atomic uint16_t *owner) {
    uint16_t known = 0;
    if (__atomic_compare_exchange_n((uint16_t *)owner, &known, state->number, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return true;
    __atomic_store_n((uint16_t *)owner, SHARED, __ATOMIC_RELAXED);
    return false;
}

/** Whether only this thread has accessed the line. */
INLINE bool is_own(const store_state *state, store_page *page, unsigned offset) {
    _Atomic uint16_t *owner = &page->owners->lines[offset / LINE];
    if (__builtin_expect(__atomic_load_n((uint16_t *)owner, __ATOMIC_RELAXED) == state->number, 1)) return true;
    return becomes_own(state, owner);
}

/* ------------------------------------------------------------------- loads and stores */

INLINE void add_whole(store_state *state, uint32_t first, uint32_t killer, uint64_t address, unsigned size) {
    sn_value_pairs_add(&state->dead, first, killer);
    sn_value_objects_note(state, address, size);
}

/** What is there dies: each run of bytes that one store wrote. */
static __attribute__((noinline)) void kill_bytes(store_state *state, const store_page *page, uint64_t address, unsigned size,
                                                 uint32_t killer, bool is_whole) {
    unsigned offset = address % SN_VALUE_SHADOW_PAGE;
    for (unsigned from = offset, to; from < offset + size; from = to) {
        uint32_t spot = sn_value_cells_at(&page->spots, from);
        for (to = from + 1; to < offset + size && sn_value_cells_at(&page->spots, to) == spot;) to++;
        if (spot && is_whole && to - from == size) sn_value_pairs_add(&state->dead, spot, killer);
        else if (spot) sn_value_pairs_add_part(&state->dead, spot, killer, to - from);
        if (spot) sn_value_objects_note(state, address + (from - offset), to - from);
    }
}

/** Any bytes of one line. `is_whole`: they are all that the record accesses, and as much as its site says. */
static __attribute__((noinline)) void access_line(store_state *state, uint64_t address, unsigned size, uint32_t spot,
                                                  bool is_store, bool is_whole) {
    unsigned offset = address % SN_VALUE_SHADOW_PAGE;
    store_page *page = page_of(state, address);
    bool own = is_own(state, page, offset);
    if (is_store && own) kill_bytes(state, page, address, size, spot, is_whole);
    if (is_store && !own) state->totals[TOTAL_SHARED] += size;
    sn_value_cells_set(&page->spots, offset, size, is_store && own ? spot : 0);
}

/** An access of any size, line by line. */
static __attribute__((noinline)) void access_bytes(store_state *state, uint64_t address, const sn_value_record *record,
                                                   uint32_t spot, bool is_store) {
    uint64_t size = record->size, part;
    bool is_whole = address % LINE + size <= LINE && record->type != SN_VALUE_OTHER;
    for (; size; address += part, size -= part) {
        unsigned room = LINE - address % LINE;
        part = size < room ? size : room;
        access_line(state, address, (unsigned)part, spot, is_store, is_whole);
    }
}

/** A load or store of words, whole cells of a line. `size` is a constant: 4, 8 or 16. */
INLINE void access_cells(store_state *state, uint64_t address, const sn_value_record *record, uint32_t spot, bool is_store,
                         unsigned size) {
    unsigned offset = address % SN_VALUE_SHADOW_PAGE;
    if (__builtin_expect(address % SN_VALUE_CELL || address % LINE + size > LINE, 0))
        return access_bytes(state, address, record, spot, is_store);
    store_page *page = page_of(state, address);
    uint32_t *cells = &page->spots.cells[offset / SN_VALUE_CELL], first = cells[0];
    uint64_t pairs[2] = {0}, becomes = sn_value_cells_pair(is_store ? spot : 0), whole = sn_value_cells_pair(first);
    if (__builtin_expect(!is_own(state, page, offset), 0)) return access_bytes(state, address, record, spot, is_store);
    if (is_store) {
        memcpy(pairs, cells, size);
        bool any = pairs[0] | pairs[1];
        bool one = size == 4 || (pairs[0] == whole && (size == 8 || pairs[1] == whole));
        if (any && one && first != SN_VALUE_MIXED) add_whole(state, first, spot, address, size);
        else if (any) kill_bytes(state, page, address, size, spot, true);
    }
    for (unsigned i = 0; i < size; i += 8) memcpy(cells + i / SN_VALUE_CELL, &becomes, size < 8 ? size : 8);
}

/** One byte. */
INLINE void access_byte(store_state *state, uint64_t address, const sn_value_record *record, uint32_t spot, bool is_store) {
    unsigned offset = address % SN_VALUE_SHADOW_PAGE;
    store_page *page = page_of(state, address);
    if (__builtin_expect(!is_own(state, page, offset), 0)) return access_bytes(state, address, record, spot, is_store);
    uint32_t first = sn_value_cells_at(&page->spots, offset), becomes = is_store ? spot : 0;
    if (is_store && first) add_whole(state, first, spot, address, 1);
    if (first != becomes) sn_value_cells_set_part(&page->spots, offset, 1, becomes);
}

INLINE void take_access(store_state *state, uint64_t address, const sn_value_record *record, uint32_t spot, bool is_store) {
    switch (record->size) {
    case 1: return access_byte(state, address, record, spot, is_store);
    case 4: return access_cells(state, address, record, spot, is_store, 4);
    case 8: return access_cells(state, address, record, spot, is_store, 8);
    case 16: return access_cells(state, address, record, spot, is_store, 16);
    default: return access_bytes(state, address, record, spot, is_store);
    }
}

/* -------------------------------------------------------------- bytes never read at all */

/** Two cells at once: mostly nothing is left. */
INLINE bool is_empty(const uint32_t *cells) {
    uint64_t pair;
    memcpy(&pair, cells, sizeof pair);
    return !pair;
}

/** Bytes of a page that were not read until now are never. */
static void end_bytes(store_state *state, store_page *page, unsigned start, unsigned end, unsigned class_number) {
    for (unsigned from = start, to; page->owners && from < end; from = to) {
        to = from + 2 * SN_VALUE_CELL;
        if (to <= end && from % SN_VALUE_CELL == 0 && is_empty(&page->spots.cells[from / SN_VALUE_CELL])) continue;
        uint32_t spot = sn_value_cells_at(&page->spots, from);
        for (to = from + 1; to < end && sn_value_cells_at(&page->spots, to) == spot && to % LINE;) to++;
        bool counts = spot && is_own(state, page, from);
        if (spot) sn_value_cells_set(&page->spots, from, to - from, 0);
        if (!counts) continue;
        sn_finding *finding = sn_findings_of(&state->findings, spot, 0, class_number);
        finding->amounts[0] += to - from;
        finding->amounts[1]++;
        state->totals[TOTAL_FRAMES + class_number - CLASS_FRAMES] += to - from;
    }
}

/** A function returns through `address`: what lies below is gone. */
static void end_frame(store_state *state, uint64_t address) {
    uint64_t from = state->lowest ? state->lowest : address - FRAME_STEP; /* the first return says where the stack is */
    state->lowest = address + sizeof(uint64_t);
    if (from >= address || address - from > LARGEST_FRAME) return; /* nothing was stored, or it is another stack */
    for (uint64_t part; from < address; from += part) {
        unsigned offset = from % SN_VALUE_SHADOW_PAGE, room = SN_VALUE_SHADOW_PAGE - offset;
        store_page *page = sn_value_shadow_page(&state->shadow, from);
        part = address - from < room ? address - from : room;
        end_bytes(state, page, offset, offset + (unsigned)part, CLASS_FRAMES);
    }
}

static void take_execution(store_state *state, const sn_value_run *run, const uint64_t *word) {
    for (uint32_t i = 0; i < run->count; i++) {
        const sn_value_record *record = &run->constants[i];
        uint64_t address = *word;
        if (record->moment & SN_VALUES_WRITTEN) {
            if (state->lowest - address - 1 < FRAME_STEP) state->lowest = address;
            take_access(state, address, record, run->first_spot + record->spot, true);
        } else {
            take_access(state, address, record, run->first_spot + record->spot, false);
        }
        word += run->word_counts[i];
    }
    if (run->constants[run->count - 1].is_return) end_frame(state, word[-1]);
}

/** System calls access what they are told to: their sites have no size. */
static void add_system_call(store_state *state, const sn_value_run *run) {
    const sn_value_record *record = &run->constants[0];
    const sn_value_site *site = sn_value_site_at(record->site);
    if (site->is_system_call && (record->moment & SN_VALUES_WRITTEN)) state->totals[TOTAL_BYTES] += record->size;
}

static void take_runs(const sn_values_run_batch *batch) {
    store_state *state = batch->state;
    for (size_t i = 0; i < batch->count; i++) {
        const sn_value_run *run = &batch->runs[i];
        sn_value_pairs_reach(&state->dead, run->first_spot + run->constants[run->count - 1].spot);
        if (run->constants[0].type == SN_VALUE_OTHER) add_system_call(state, run);
        for (uint32_t k = 0; k < run->times; k++) take_execution(state, run, run->words + k * (size_t)run->stride);
    }
}

/* ------------------------------------------------------------------- life of memory */

static void unmapped(void *its, uint64_t start, uint64_t end) {
    store_state *state = its;
    for (uint64_t at = start; at < end; at += SN_VALUE_SHADOW_PAGE) {
        store_page *page = sn_value_shadow_find(&state->shadow, at);
        if (!page) continue;
        end_bytes(state, page, 0, SN_VALUE_SHADOW_PAGE, CLASS_UNMAPPED);
        if (page->owners) memset(page->owners, 0, sizeof *page->owners); /* what comes there next is other memory */
    }
}

static void end_shadow_page(void *its, uint64_t address, void *state) {
    store_page *page = its;
    (void)address;
    end_bytes(state, page, 0, SN_VALUE_SHADOW_PAGE, CLASS_END);
    sn_value_cells_end(&page->spots);
}

/** A fork's child begins with one thread, to which all memory belongs. */
static void forget_parent(void) {
    static _Atomic int process;
    int mine = sn_client_process();
    if (process && process != mine) sn_value_shadow_begin(&all_owners, sizeof(owners));
    process = mine;
}

/** What is allocated there next is another object. */
static void freed(void *its, uint64_t start, uint64_t end) {
    store_state *state = its;
    for (uint64_t part; start < end; start += part) {
        unsigned offset = start % SN_VALUE_SHADOW_PAGE, room = SN_VALUE_SHADOW_PAGE - offset;
        store_page *page = sn_value_shadow_find(&state->shadow, start);
        part = end - start < room ? end - start : room;
        if (page) end_bytes(state, page, offset, offset + (unsigned)part, CLASS_FREED);
    }
}

static void begin(void *its, int thread) {
    store_state *state = its;
    (void)thread;
    forget_parent();
    uint32_t number = ++thread_count;
    state->number = number < SHARED ? (uint16_t)number : SHARED - 1;
    sn_value_shadow_begin(&state->shadow, sizeof(store_page));
}

static void add_executions(void *its, uint32_t spot, const sn_value_site *site, uint64_t times) {
    store_state *state = its;
    (void)spot;
    if (site->moment != SN_VALUES_WRITTEN) return;
    state->totals[TOTAL_BYTES] += times * site->size;
    state->totals[TOTAL_STORES] += times;
}

static uint32_t class_of_pair(void *its, const sn_value_site *second, uint64_t bytes, uint64_t whole) {
    store_state *state = its;
    (void)second;
    (void)whole;
    state->totals[TOTAL_DEAD] += bytes;
    return CLASS_DEAD;
}

static void finish(void *its, int thread) {
    store_state *state = its;
    sn_value_shadow_visit(&state->shadow, end_shadow_page, state);
    sn_value_shadow_end(&state->shadow);
    sn_values_visit_spots(state, add_executions);
    sn_value_pairs_finish(&state->dead, state, class_of_pair);
    sn_report_add(state, thread, state->totals, &state->findings);
}

static const sn_report_form form = {
    .tool = "deadspy",
    .title = "stores that nobody reads",
    .totals = {"bytes stored", "dead bytes: overwritten unread", "bytes unread when their function returned",
               "bytes freed unread", "bytes unmapped unread", "bytes unread at the end", "bytes stored to shared memory", "stores"},
    .base = {0, TOTAL_BYTES + 1, TOTAL_BYTES + 1, TOTAL_BYTES + 1, TOTAL_BYTES + 1, TOTAL_BYTES + 1, TOTAL_BYTES + 1, 0},
    .amounts = {"bytes", "times"},
    .classes = {{"dead", "Dead stores, by bytes", "stored", "overwritten", TOTAL_DEAD},
                {"frames", "Stores to frames that were unread when their function returned, by bytes", "stored", NULL,
                 TOTAL_FRAMES},
                {"freed", "Stores to blocks of the heap that were freed unread, by bytes", "stored", NULL, TOTAL_FREED},
                {"unmapped", "Stores to memory that was unmapped unread, by bytes", "stored", NULL, TOTAL_UNMAPPED},
                {"end", "Stores that were unread at the end of their thread, by bytes", "stored", NULL, TOTAL_END}},
};

static const sn_option options[] = {SN_REPORT_OPTIONS, SN_VALUES_OPTIONS, {0}};

static void start(void) {
    sn_value_shadow_begin(&all_owners, sizeof(owners));
    sn_values_start(&(sn_values_request){
        .places = SN_VALUES_MEMORY, .moments = SN_VALUES_READ | SN_VALUES_WRITTEN, .parts = SN_VALUES_CONTEXT,
        .system_calls = true, .state_size = sizeof(store_state), .begin = begin, .take_runs = take_runs,
        .unmapped = unmapped, .freed = freed, .finish = finish});
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
