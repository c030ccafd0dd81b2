/**
 * @fileoverview Processor state and tiles: what their instructions access, against the processor, as accesses_native.c does
 * it for the others; and the client's registers out of a saved image (guest/x86_64/state.c), against the registers.
 */
#include "unit.h"

#include <cpuid.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/x86_64/state.h"
#include "isa/isa.h"
#include "native.h"

enum {
    PAGE = 4096,
    PAGES = 6,
    SIZE = PAGES * PAGE,
    BUFFER = 0x20000000,
    AREA = 16384,       /**< room for an image of the components below */
    LEGACY = 512,
    HEADER_SIZE = 64,
    MXCSR = 24,
    MOST_ACCESSES = 4096,
    TRIALS = 3000,
    SHOWN_FAILURES = 20,
    NO_PAGE = -1,
};
enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };
/** x87, SSE, AVX, and the three of AVX-512. */
static const uint64_t components = 0xe7;

static uint8_t *const buffer = (uint8_t *)(uintptr_t)BUFFER;
static uint8_t image[AREA] __attribute__((aligned(64)));
static uint64_t random_word = UINT64_C(0x853c49e6748fea9b);
static unsigned failures;
static int hidden_page = NO_PAGE;

static uint64_t draw(void) {
    random_word ^= random_word << 13;
    random_word ^= random_word >> 7;
    random_word ^= random_word << 17;
    return random_word * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t draw_below(uint64_t limit) { return (draw() >> 20) % limit; }

static uint64_t read_control(uint32_t number) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(number));
    return (uint64_t)high << 32 | low;
}

static void complain(const uint8_t *code, size_t length, const char *what, uint64_t mask, uint64_t in_use) {
    char text[128];
    if (failures++ >= SHOWN_FAILURES) return;
    fprintf(stderr, "%s: %s, mask %#llx, in use %#llx, page %d\n", what,
            sn_disassemble(code, length, 0, text, sizeof text), (unsigned long long)mask, (unsigned long long)in_use,
            hidden_page);
}

/* ---------------------------------------------------------------------- common to all */

static bool open_buffer(void) {
    if (!native_is_possible() || (read_control(0) & components) != components) return false;
    void *mapping =
        mmap(buffer - PAGE, SIZE + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert_ptr_equal(mapping, buffer - PAGE);
    assert_int_equal(mprotect(buffer, SIZE, PROT_READ | PROT_WRITE), 0);
    native_open();
    failures = 0;
    return true;
}

static void close_buffer(void) {
    native_close();
    munmap(buffer - PAGE, SIZE + 2 * PAGE);
}

static bool touches_hidden(uint64_t address, uint64_t size) {
    uint64_t start = (uint64_t)BUFFER + (uint64_t)hidden_page * PAGE;
    return hidden_page != NO_PAGE && address < start + PAGE && address + size > start;
}

static bool copy(void *to, const void *from, size_t size) {
    if (touches_hidden((uint64_t)from, size)) return false;
    memcpy(to, from, size);
    return true;
}

static native_result run_with_hidden_page(const native_state *state, const uint8_t *code, size_t length) {
    if (hidden_page != NO_PAGE) mprotect(buffer + hidden_page * PAGE, PAGE, PROT_NONE);
    native_result result = native_run(state, code, length);
    if (hidden_page != NO_PAGE) mprotect(buffer + hidden_page * PAGE, PAGE, PROT_READ | PROT_WRITE);
    return result;
}

/** A random image in the standard format whose state can be loaded. Returns which components it sets. */
static uint64_t draw_image(void) {
    uint64_t *words = (uint64_t *)(void *)image, present = draw() & draw_below(2) ? components : draw() & components;
    static const uint32_t mxcsr = 0x1f80;
    for (size_t i = 0; i < sizeof image / 8; i++) words[i] = draw();
    memset(image, 0, 24);
    memcpy(image, &(uint16_t){0x37f}, 2);
    memcpy(image + 2, &(uint16_t){(uint16_t)(draw_below(8) << 11)}, 2);
    memcpy(image + MXCSR, &mxcsr, sizeof mxcsr);
    memset(image + LEGACY, 0, HEADER_SIZE);
    memcpy(image + LEGACY, &present, sizeof present);
    return present;
}

/* --------------------------------------------------------------------------- saving */

#define NOTE_USE(where) "mov $1, %%ecx\n\txgetbv\n\tmov %%eax, " where "(%[used])\n\t"
/** Load the image, and save from that state; returns which components were in use just before and, in the upper half, just
    after: they are not the same when the system interrupted. */
#define DEFINE_SAVER(name, instruction)                                                                                \
    static uint64_t name(void *area, uint64_t mask) {                                                                  \
        uint64_t in_use[1] = {0}, low = (uint32_t)components, high = components >> 32;                                 \
        __asm__ volatile("xrstor64 (%[image])\n\t" NOTE_USE("")                                                        \
                         "mov %k[mask_low], %%eax\n\tmov %k[mask_high], %%edx\n\t" instruction " (%[area])\n\t"        \
                         NOTE_USE("4") "vzeroupper\n\tfninit"                                                          \
                         : "+a"(low), "+d"(high)                                                                       \
                         : [image] "r"(image), [used] "r"(in_use), [mask_low] "r"(mask), [mask_high] "r"(mask >> 32),  \
                           [area] "D"(area)                                                                            \
                         : "rcx", "memory");                                                                           \
        return in_use[0];                                                                                              \
    }

DEFINE_SAVER(save, "xsave")
DEFINE_SAVER(save_wide, "xsave64")
DEFINE_SAVER(save_compacted, "xsavec")
DEFINE_SAVER(save_compacted_wide, "xsavec64")
DEFINE_SAVER(save_changed, "xsaveopt")
DEFINE_SAVER(save_changed_wide, "xsaveopt64")

typedef struct form {
    uint8_t code[5]; /**< with rdi as the address */
    uint8_t length;
    bool compacted;
    uint64_t (*save)(void *area, uint64_t mask);
} form;

static const form save_forms[] = {
    {{0x0f, 0xae, 0x27}, 3, false, save},         {{0x48, 0x0f, 0xae, 0x27}, 4, false, save_wide},
    {{0x0f, 0xc7, 0x27}, 3, true, save_compacted}, {{0x48, 0x0f, 0xc7, 0x27}, 4, true, save_compacted_wide},
    {{0x0f, 0xae, 0x37}, 3, false, save_changed}, {{0x48, 0x0f, 0xae, 0x37}, 4, false, save_changed_wide},
};

enum { SAVE_FORMS = sizeof save_forms / sizeof save_forms[0] };

static size_t enumerate(const uint8_t *code, size_t length, native_state *registers, uint64_t in_use,
                        const uint8_t *tiles, sn_access *accesses) {
    sn_insn insn;
    sn_access_state state = {.general = registers->general,
                             .vector = (const uint8_t(*)[64])registers->vector,
                             .mask = registers->mask,
                             .short_vector = registers->short_vector,
                             .tiles = tiles,
                             .enabled_state = read_control(0),
                             .in_use = in_use,
                             .copy = copy};
    assert_true(sn_decode(code, length, native_address(), &insn) && sn_accesses_vary(&insn));
    size_t count = sn_accesses_of(&insn, &state, 0, 0, accesses, MOST_ACCESSES);
    assert_true(count < MOST_ACCESSES);
    return count;
}

/** Bytes that were enumerated as written, against those that changed. The header of the standard format keeps what it says
    of components that were not asked for, so that its first word may stay as it is. */
static const char *compare_changes(const uint8_t *changed, const sn_access *accesses, size_t count, bool header_may_stay) {
    static uint8_t written[SIZE];
    memset(written, 0, sizeof written);
    for (size_t i = 0; i < count; i++)
        if (accesses[i].role == SN_ROLE_WRITTEN) memset(written + (accesses[i].address - BUFFER), 1, accesses[i].size);
    for (unsigned i = 0; i < SIZE; i++) {
        if (changed[i] && !written[i]) return "a byte changed that was not enumerated";
        bool may_stay = header_may_stay && i - LEGACY < 8;
        if (written[i] && !changed[i] && !may_stay) return "an enumerated byte did not change";
    }
    return NULL;
}

/** Save over two fillings until no interruption came between; returns what was in use. */
static uint64_t save_undisturbed(const form *f, uint64_t mask, uint8_t *changed) {
    enum { MOST_ATTEMPTS = 1000 };
    static const uint8_t fillings[] = {0x5a, 0xa5};
    uint64_t in_use[2];
    unsigned attempts = 0;
    do {
        assert_true(attempts++ < MOST_ATTEMPTS);
        memset(changed, 0, SIZE);
        for (unsigned k = 0; k < sizeof fillings; k++) {
            memset(buffer, fillings[k], SIZE);
            in_use[k] = f->save(buffer, mask);
            for (unsigned i = 0; i < SIZE; i++) changed[i] |= buffer[i] != fillings[k];
        }
    } while (in_use[0] != in_use[1] || in_use[0] >> 32 != (uint32_t)in_use[0]);
    return (uint32_t)in_use[0];
}

static void test_saving(void **test) {
    (void)test;
    static sn_access accesses[MOST_ACCESSES];
    static uint8_t changed[SIZE];
    static native_state registers;
    if (!open_buffer()) skip();
    hidden_page = NO_PAGE;
    for (unsigned i = 0; i < TRIALS; i++) {
        const form *f = &save_forms[i % SAVE_FORMS];
        uint64_t mask = draw_below(4) ? draw() & draw() & components : components;
        draw_image();
        uint64_t in_use = save_undisturbed(f, mask, changed);
        registers.general[RAX] = (uint32_t)mask | draw() << 32;
        registers.general[RDX] = mask >> 32 | draw() << 32;
        registers.general[RDI] = BUFFER;
        size_t count = enumerate(f->code, f->length, &registers, in_use, NULL, accesses);
        const char *what = compare_changes(changed, accesses, count, !f->compacted);
        if (what) complain(f->code, f->length, what, mask, in_use);
    }
    close_buffer();
    assert_int_equal(failures, 0);
}

/* ------------------------------------------------------------------ faults of images */

/** An image somewhere around a boundary of pages; the page on either side of it cannot be accessed. */
static uint64_t draw_place(native_state *registers, uint64_t mask) {
    enum { ALIGNMENT = 64, LONGEST = 2688 };
    unsigned page = 2 + (unsigned)draw_below(PAGES - 3);
    uint64_t boundary = BUFFER + PAGE * (uint64_t)page;
    uint64_t area = boundary - ALIGNMENT * draw_below(LONGEST / ALIGNMENT + 1);
    hidden_page = draw_below(5) ? (int)(page - draw_below(2)) : NO_PAGE;
    memset(registers, 0, sizeof *registers);
    registers->flags = 2;
    registers->general[RAX] = (uint32_t)mask;
    registers->general[RDX] = mask >> 32;
    registers->general[RDI] = area;
    return area;
}

/** An instruction may access all of any component that it is asked for (Intel SDM volume 1, 13.13), and processors do look
    at places from where they then load nothing. */
static bool may_touch_hidden(uint64_t area, uint64_t mask) {
    enum { FIRST_EXTENDED = 2, COMPONENTS = 63 };
    uint64_t format;
    memcpy(&format, (const void *)(area + LEGACY + 8), sizeof format);
    bool may = touches_hidden(area, LEGACY + HEADER_SIZE);
    for (unsigned i = FIRST_EXTENDED; i < COMPONENTS; i++) {
        const sn_state_component *component = sn_state_component_of(i);
        if (!(mask >> i & 1) || (format && !(format >> i & 1))) continue;
        may |= touches_hidden(area + (format ? sn_state_compacted_offset(format, i) : component->offset), component->size);
    }
    return may;
}

static void check_fault(const uint8_t *code, size_t length, native_state *registers, uint64_t mask) {
    static sn_access accesses[MOST_ACCESSES];
    static const uint64_t header_offset = LEGACY;
    size_t count = enumerate(code, length, registers, components, NULL, accesses);
    bool expected = touches_hidden(registers->general[RDI] + header_offset, 8); /* nothing is known then */
    for (size_t i = 0; i < count; i++) expected |= touches_hidden(accesses[i].address, accesses[i].size);
    native_result result = run_with_hidden_page(registers, code, length);
    if (expected && !result.signal) complain(code, length, "an enumerated access did not fault", mask, components);
    if (result.signal && !expected && !may_touch_hidden(registers->general[RDI], mask))
        complain(code, length, "a fault that nothing explains", mask, components);
}

static void test_loading(void **test) {
    (void)test;
    static const uint8_t codes[][4] = {{0x48, 0x0f, 0xae, 0x2f}, {0x0f, 0xae, 0x2f}}; /* xrstor64, xrstor */
    static native_state registers;
    if (!open_buffer()) skip();
    for (unsigned i = 0; i < TRIALS; i++) {
        bool narrow = draw_below(2);
        uint64_t mask = draw_below(4) ? draw() & components : components;
        uint64_t place = draw_place(&registers, mask);
        memset(buffer, 0, SIZE);
        draw_image();
        save_forms[draw_below(SAVE_FORMS)].save((void *)place, draw() & components); /* in either format */
        check_fault(codes[narrow], narrow ? 3 : 4, &registers, mask);
    }
    close_buffer();
    assert_int_equal(failures, 0);
}

static void test_faults_of_saving(void **test) {
    (void)test;
    static native_state registers;
    if (!open_buffer()) skip();
    for (unsigned i = 0; i < TRIALS; i++) {
        uint64_t mask = draw() & components;
        draw_place(&registers, mask);
        const form *f = &save_forms[draw_below(2)]; /* those that save whatever is in use */
        memset(buffer, 0, SIZE);
        check_fault(f->code, f->length, &registers, mask);
    }
    close_buffer();
    assert_int_equal(failures, 0);
}

static void test_misaligned_areas_fault(void **test) {
    (void)test;
    static native_state registers;
    static sn_access accesses[MOST_ACCESSES];
    hidden_page = NO_PAGE;
    for (unsigned i = 0; i < SAVE_FORMS; i++) {
        registers.general[RDI] = BUFFER + 8;
        registers.general[RAX] = components;
        assert_int_equal(enumerate(save_forms[i].code, save_forms[i].length, &registers, components, NULL, accesses), 0);
    }
}

/* ------------------------------------------------------------------------------ tiles */

enum { TILES = 8, START_ROW = 1, SIZES = 16, ROWS = 48 };

/** The kernel lets a process use tiles when it has asked. */
static bool ask_for_tiles(void) {
    enum { ASK = 0x1023, TILE_DATA = 18 };
    return read_control(0) >> TILE_DATA & 1 && syscall(SYS_arch_prctl, ASK, TILE_DATA) == 0;
}

static void configure(const uint8_t *configuration) {
    __asm__ volatile(".byte 0xc4, 0xe2, 0x78, 0x49, 0x07" : : "D"(configuration) : "memory"); /* ldtilecfg (%rdi) */
}

static void read_configuration(uint8_t *configuration) {
    __asm__ volatile(".byte 0xc4, 0xe2, 0x79, 0x49, 0x07" : : "D"(configuration) : "memory"); /* sttilecfg (%rdi) */
}

static void release_tiles(void) {
    __asm__ volatile(".byte 0xc4, 0xe2, 0x78, 0x49, 0xc0" : : : "memory"); /* tilerelease */
}

static void draw_configuration(uint8_t *configuration, unsigned tile) {
    memset(configuration, 0, 64);
    configuration[0] = 1;
    for (unsigned i = 0; i < TILES; i++) {
        configuration[SIZES + 2 * i] = (uint8_t)(4 * (1 + draw_below(16)));
        configuration[ROWS + i] = (uint8_t)(1 + draw_below(16));
    }
    configuration[START_ROW] = draw_below(2) ? 0 : (uint8_t)draw_below(configuration[ROWS + tile]);
}

/** Rows that were moved before the fault do not touch the hidden page, the next one does. */
static const char *compare_rows(const sn_access *accesses, size_t count, unsigned moved, bool faulted) {
    for (size_t i = 0; i < count; i++) {
        bool touches = touches_hidden(accesses[i].address, accesses[i].size);
        if (i < moved && touches) return "a row that was moved touches the hidden page";
        if (i == moved && faulted && !touches) return "the row that faulted does not touch the hidden page";
    }
    return faulted && moved >= count ? "a fault behind the last row" : NULL;
}

static void try_tile(bool stores) {
    static sn_access accesses[MOST_ACCESSES];
    static native_state registers;
    static uint8_t changed[SIZE], before[64], after[64];
    static const uint8_t filling = 0x5a;
    unsigned tile = (unsigned)draw_below(TILES);
    /* (%rdi,%rcx,1): tileloadd, tileloaddt1 or tilestored */
    uint8_t code[] = {0xc4, 0xe2, stores ? 0x7a : draw_below(2) ? 0x7b : 0x79, 0x4b, (uint8_t)(4 | tile << 3), 0x0f};
    draw_configuration(before, tile);
    draw_place(&registers, 0);
    registers.general[RDI] += draw_below(64);
    registers.general[RCX] = draw_below(3) ? draw_below(160) : (uint64_t)-(int64_t)draw_below(160);
    for (unsigned i = 0; i < SIZE; i++) buffer[i] = filling;
    configure(before);
    size_t count = enumerate(code, sizeof code, &registers, components, before, accesses);
    native_result result = run_with_hidden_page(&registers, code, sizeof code);
    read_configuration(after);
    unsigned moved = result.signal ? (unsigned)after[START_ROW] - before[START_ROW] : (unsigned)count;
    const char *what = compare_rows(accesses, count, moved, result.signal);
    for (unsigned i = 0; i < SIZE; i++) changed[i] = buffer[i] != filling;
    if (!what && stores) what = compare_changes(changed, accesses, moved, false); /* of tiles that are zero */
    if (!what && count != (size_t)before[ROWS + tile] - before[START_ROW]) what = "the number of rows";
    if (what) complain(code, sizeof code, what, tile, before[START_ROW]);
}

static void test_tiles(void **test) {
    (void)test;
    if (!ask_for_tiles() || !open_buffer()) skip();
    for (unsigned i = 0; i < TRIALS; i++) try_tile(i & 1);
    release_tiles();
    close_buffer();
    assert_int_equal(failures, 0);
}

/* ------------------------------------------------------------------- the saved client */

typedef struct truth {
    uint8_t vector[32][64];
    uint64_t mask[8], short_vector[8];
} truth;

#define STORE_VECTOR(n) "vmovdqu64 %%zmm" #n ", 64*" #n "(%[vector])\n\t"
#define STORE_MASK(n) "kmovq %%k" #n ", 8*" #n "(%[mask])\n\t"
#define STORE_SHORT(n) "movq %%mm" #n ", 8*" #n "(%[short_vector])\n\t"
#define EIGHT(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define THE_OTHERS(X)                                                                                                  \
    X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26)     \
    X(27) X(28) X(29) X(30) X(31)

/** Load the image; save as the exit from the code cache does, and store each register. */
static void load_save_and_store(void *area, truth *t) {
    uint64_t low = components, high = 0;
    __asm__ volatile("xrstor64 (%[image])\n\txsavec64 (%[area])\n\t" EIGHT(STORE_VECTOR) THE_OTHERS(STORE_VECTOR)
                         EIGHT(STORE_MASK) EIGHT(STORE_SHORT) "vzeroupper\n\tfninit"
                     : "+a"(low), "+d"(high)
                     : [image] "r"(image), [area] "r"(area), [vector] "r"(t->vector), [mask] "r"(t->mask),
                       [short_vector] "r"(t->short_vector)
                     : "memory");
}

static void test_client_registers(void **test) {
    (void)test;
    if (!native_is_possible() || (read_control(0) & components) != components) skip();
    static sn_state_copy copy;
    static truth t;
    static uint8_t area[AREA] __attribute__((aligned(64)));
    sn_thread *thread = calloc(1, sizeof *thread);
    assert_non_null(thread);
    thread->save_area = area;
    thread->save_mask = components;
    thread->client_base = 0x1234000;
    thread->client_base2 = 0x5678000;
    for (unsigned i = 0; i < TRIALS; i++) {
        sn_access_state state;
        uint64_t present = draw_image();
        memset(area, 0x5a, sizeof area);
        memset(area + LEGACY, 0, HEADER_SIZE);
        load_save_and_store(area, &t);
        thread->flags = i & 1 ? 0x602 : 0x202;
        sn_state_for_accesses(thread, &copy, &state);
        assert_memory_equal(state.vector, t.vector, sizeof t.vector);
        assert_memory_equal(state.mask, t.mask, sizeof t.mask);
        assert_memory_equal(state.short_vector, t.short_vector, sizeof t.short_vector);
        assert_ptr_equal(state.general, thread->general);
        assert_int_equal(state.bases[0], 0);
        assert_int_equal(state.bases[SN_SEGMENT_FS], thread->client_base);
        assert_int_equal(state.bases[SN_SEGMENT_GS], thread->client_base2);
        assert_int_equal(state.backwards, i & 1);
        assert_int_equal(state.enabled_state, read_control(0));
        assert_int_equal(state.in_use & present & ~UINT64_C(3), present & ~UINT64_C(3));
        assert_int_equal(state.in_use & components & ~present & ~UINT64_C(3), 0);
    }
    free(thread);
}

static void test_client_tiles(void **test) {
    (void)test;
    if (!ask_for_tiles()) skip();
    static sn_state_copy copy;
    static uint8_t area[AREA] __attribute__((aligned(64))), configuration[64];
    sn_thread *thread = calloc(1, sizeof *thread);
    sn_access_state state;
    assert_non_null(thread);
    thread->save_area = area;
    thread->save_mask = components;
    release_tiles();
    sn_state_for_accesses(thread, &copy, &state);
    assert_null(state.tiles);
    draw_configuration(configuration, 0);
    configure(configuration);
    sn_state_for_accesses(thread, &copy, &state);
    assert_non_null(state.tiles);
    assert_memory_equal(state.tiles, configuration, sizeof configuration);
    release_tiles();
    free(thread);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_saving),           cmocka_unit_test(test_loading),
        cmocka_unit_test(test_faults_of_saving), cmocka_unit_test(test_misaligned_areas_fault),
        cmocka_unit_test(test_tiles),            cmocka_unit_test(test_client_registers),
        cmocka_unit_test(test_client_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
