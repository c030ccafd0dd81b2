/**
 * @fileoverview A tool that tests shadow memory: each store gives the bytes that it writes a shadow that follows from their
 * addresses, each load compares the code that loads the shadow with what C says of it. Ranges are compared with an array.
 */
#include <inttypes.h>
#include <sonde/shadow.h>
#include <stdlib.h>
#include <string.h>

static const sn_shadow_memory *shadow;
static int64_t bits = 8;
static uint64_t loads, stores, marked, wrong;

static uint64_t all(void) { return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1; }

/** The shadow that a store gives the byte at `address`: never zero. */
static SN_FAST uint64_t mark(uint64_t address) {
    uint64_t value = (address + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 7;
    value &= bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    return value ? value : 1;
}

static SN_FAST uint64_t mark_of_store(uint64_t address, uint64_t size) {
    uint64_t value = 0;
    for (uint64_t i = 0; i < size; i++) value |= mark(address + i) << (i * (uint64_t)bits);
    __atomic_fetch_add(&stores, 1, __ATOMIC_RELAXED);
    return value;
}

static SN_FAST void check_load(uint64_t address, uint64_t size, uint64_t found) {
    uint64_t expected = 0;
    if (sn_shadow_covers(address, size))
        for (uint64_t i = 0; i < size; i++) expected |= sn_shadow_get(shadow, address + i) << (i * (uint64_t)bits);
    __atomic_fetch_add(&loads, 1, __ATOMIC_RELAXED);
    if (found) __atomic_fetch_add(&marked, 1, __ATOMIC_RELAXED);
    if (found != expected) __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

/* ------------------------------------------------------------------------------------------------ ranges */

enum { MODEL = 3000, ROUNDS = 400 };
static uint64_t model[MODEL];

static unsigned below(unsigned limit) { return (unsigned)random() % limit; }

static void compare_all(uint64_t start) {
    for (unsigned i = 0; i < MODEL; i++)
        if (sn_shadow_get(shadow, start + i) != model[i]) sn_fail(3, "shadow of byte %u is not what was written", i);
}

static void one_change(uint64_t start) {
    unsigned size = below(below(4) ? 40 : MODEL / 2), from = below(MODEL - size), to = below(MODEL - size);
    uint64_t value = (uint64_t)random() * UINT64_C(0x9e3779b97f4a7c15) >> 3 & all();
    if (below(2)) {
        sn_shadow_fill(shadow, start + to, size, value);
        for (unsigned i = 0; i < size; i++) model[to + i] = value;
        uint64_t end = start + to + size, other = sn_shadow_find_other(shadow, start + to, end, value);
        if (other != end) sn_fail(3, "shadow of byte %u differs in a range that was filled", (unsigned)(other - start));
    } else {
        sn_shadow_copy(shadow, start + to, start + from, size);
        memmove(model + to, model + from, size * sizeof *model);
    }
}

static void check_finding(uint64_t start) {
    for (unsigned i = 0; i < ROUNDS; i++) {
        unsigned from = below(MODEL), end = from + below(MODEL - from), at = from;
        while (at < end && model[at] == model[from]) at++;
        if (sn_shadow_find_other(shadow, start + from, start + end, model[from]) != start + at)
            sn_fail(3, "the first other shadow from byte %u on is not found", from);
    }
}

static void check_ranges(uint64_t start) {
    memset(model, 0, sizeof model);
    for (unsigned i = 0; i < ROUNDS; i++) {
        one_change(start);
        compare_all(start);
    }
    check_finding(start);
    uint64_t large = UINT64_C(8) << 20;
    sn_shadow_fill(shadow, start - 5, large, all());
    sn_shadow_fill(shadow, start - 5, large, 0);
    if (sn_shadow_find_other(shadow, start - 5, start - 5 + large, 0) != start - 5 + large) sn_fail(3, "zero is not zero");
}

/* ------------------------------------------------------------------------------------------ large ranges */

/** Pieces of one value: 64 KiB of shadow each, so that there are 6 MiB of it, which begin anywhere. */
enum { PIECES = 96, LARGE_ROUNDS = 150 };
static uint8_t piece_values[PIECES]; /* numbers: 0, `all`, 1 */

static uint64_t piece_value(unsigned number) { return number == 1 ? all() : number / 2; }

static uint64_t piece_at(uint64_t start, unsigned piece) { return start + piece * (UINT64_C(524288) / (uint64_t)bits); }

static void one_large_change(uint64_t start) {
    unsigned size = 1 + below(below(3) ? PIECES : 4), from = below(PIECES - size + 1), to = below(PIECES - size + 1), value = below(3);
    uint64_t bytes = piece_at(0, size);
    if (below(4)) {
        sn_shadow_fill(shadow, piece_at(start, to), bytes, piece_value(value));
        memset(piece_values + to, (int)value, size);
    } else {
        sn_shadow_copy(shadow, piece_at(start, to), piece_at(start, from), bytes);
        memmove(piece_values + to, piece_values + from, size);
    }
}

static long resident_pages(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1) sn_fail(3, "/proc/self/statm says nothing");
    fclose(file);
    return pages;
}

static void check_large_ranges(uint64_t start) {
    long before = resident_pages();
    sn_shadow_fill(shadow, start, piece_at(0, 8 * PIECES), all());
    if (resident_pages() - before > 16 * PIECES * 3) sn_fail(3, "a large range of one value takes memory");
    sn_shadow_fill(shadow, start, piece_at(0, 8 * PIECES), 0);
    for (unsigned i = 0; i < LARGE_ROUNDS; i++) {
        one_large_change(start);
        for (unsigned piece = 0; piece < PIECES && i % 8 == 0; piece++) {
            uint64_t from = piece_at(start, piece), end = piece_at(start, piece + 1);
            if (sn_shadow_find_other(shadow, from, end, piece_value(piece_values[piece])) != end) sn_fail(3, "piece %u is not what was written", piece);
        }
    }
    sn_shadow_fill(shadow, start, piece_at(0, PIECES), 0);
    memset(piece_values, 0, sizeof piece_values);
}

static void start(void) {
    shadow = sn_shadow_memory_new((unsigned)bits);
    sn_shadow_share(shadow, all());
    check_large_ranges(UINT64_C(0x20000121));
    check_large_ranges(UINT64_C(0x170000000123));
    check_ranges(UINT64_C(0x20000123));     /* the low window */
    check_ranges(UINT64_C(0x170000000125)); /* and that of data */
}

/* ------------------------------------------------------------------------------------------ inserted code */

static void insert(sn_block *block, unsigned index, const sn_operand *operand, unsigned number) {
    bool fits = operand->size && operand->size <= 8 && !(operand->size & (operand->size - 1)) && operand->size * (unsigned)bits <= 64;
    if (operand->place != SN_PLACE_MEMORY || operand->is_conditional || !fits) return;
    if (operand->role & SN_ROLE_READ) {
        sn_insert_before(block, index);
        sn_value address = sn_operand_address(block, number);
        sn_value found = sn_shadow_load(block, shadow, address, operand->size);
        sn_value arguments[] = {address, sn_constant(block, operand->size), found};
        sn_call_fast(block, (void *)check_load, 3, arguments);
    }
    if (operand->role == SN_ROLE_WRITTEN && sn_block_instruction(block, index)->kind == SN_KIND_OTHER) {
        sn_insert_before(block, index);
        sn_value address = sn_operand_address(block, number);
        sn_insert_after(block, index);
        sn_value arguments[] = {address, sn_constant(block, operand->size)};
        sn_shadow_store(block, shadow, address, operand->size, sn_call_fast(block, (void *)mark_of_store, 2, arguments));
    }
}

static void instrument(sn_block *block) {
    for (unsigned index = 0; index < sn_block_size(block); index++) {
        if (sn_block_instruction(block, index)->accesses_vary) continue;
        unsigned count = 0;
        sn_block_operands(block, index, &count);
        for (unsigned i = 0; i < count; i++) {
            sn_operand operand = sn_block_operands(block, index, &count)[i];
            insert(block, index, &operand, i);
        }
    }
}

/* ------------------------------------------------------------------------------------------------- events */

static uint64_t unmapped_marks, moved_marks, left_behind;

static uint64_t marks_in(uint64_t from, uint64_t end) {
    uint64_t count = 0;
    while ((from = sn_shadow_find_other(shadow, from, end, 0)) < end) count++, from++;
    return count;
}

static void memory_unmapped(uint64_t from, uint64_t end) { unmapped_marks += marks_in(from, end); }

/** The first move is the program's own, later ones are those of its allocator. */
static void memory_moved(uint64_t from, uint64_t to, uint64_t size) {
    if (moved_marks) return;
    for (uint64_t i = 0; i < size; i++) {
        if (sn_shadow_get(shadow, to + i) == mark(from + i)) moved_marks++;
        if (sn_shadow_get(shadow, from + i)) left_behind++;
    }
}

static void end(void) {
    fprintf(sn_output(), "wrong %" PRIu64 " some %d unmapped %" PRIu64 " moved %" PRIu64 " left %" PRIu64 "\n", wrong,
            loads > 0 && marked > 0 && stores > 0, unmapped_marks, moved_marks, left_behind);
}

static const sn_option options[] = {
    {"bits", SN_OPTION_NUMBER, &bits, "8", NULL, "bits of shadow for a byte"},
    {0},
};

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE, .name = "shadow_memory", .version = "1", .description = "tests shadow memory",
    .options = options, .start = start, .instrument = instrument, .memory_unmapped = memory_unmapped,
    .memory_moved = memory_moved, .end = end,
};
