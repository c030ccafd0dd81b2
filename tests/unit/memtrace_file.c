/**
 * @fileoverview Unit test of memtrace's trace file: random traces are written by the tool's half and read by the report's,
 * and must come back access by access; of a file that is cut anywhere, everything before the cut; damage is found.
 *
 * The functions of the engine that the tool's half calls are here.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/report_file.h"
#include "base/settings.h"
#include "sonde/vector.h"
#include "report/memtrace_reader.h"
#include "sonde/tool.h"
#include "tools/memtrace/code.h"
#include "tools/memtrace/encode.h"
#include "tools/memtrace/filter.h"
#include "tools/memtrace/words.h"
#include "tools/memtrace/write.h"
#include "unit.h"

static char output_name[] = "/tmp/sonde-test-XXXXXX";
static FILE *file; /* what was written to it */

int sn_client_arguments(const char *const **arguments) {
    static const char *const words[] = {"program", "an argument", "", NULL};
    *arguments = words;
    return 3;
}

bool sn_locate(uint64_t address, sn_location *location) {
    static char names[16][16];
    *location = (sn_location){.module = "/lib/module"};
    if (address % 3) {
        char *name = names[address % 16];
        snprintf(name, sizeof names[0], "function%d", (int)(address % 16));
        location->function = name;
        location->file = "source.c";
        location->line = (unsigned)(address % 100);
    }
    return address % 5;
}

/* ------------------------------------------------------------- random programs */

static uint64_t random_state;

static uint64_t next_random(void) {
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t below(uint64_t limit) {
    return next_random() % limit;
}

typedef struct expected_event {
    uint64_t address, code_address;
    uint32_t size, thread;
    uint8_t kind;
} expected_event;

typedef SN_VECTOR(expected_event) event_list;

typedef struct stream {
    uint32_t thread;
    SN_VECTOR(uint64_t) words;
    event_list events;
    memtrace_encoder *encoder;
    uint64_t counters[64]; /* addresses that go on with a stride */
} stream;

static bool has_instructions;

static void expect(stream *of, unsigned kind, uint64_t code_address, uint64_t address, uint32_t size) {
    bool is_wanted = kind == MEMTRACE_FETCH || (memtrace_size_is_wanted(size) && memtrace_address_is_wanted(address, size));
    if (is_wanted)
        *sn_vector_add(&of->events) = (expected_event){address, code_address, size, of->thread, (uint8_t)kind};
}

static void put(stream *to, uint64_t word) {
    *sn_vector_add(&to->words) = word;
}

static const memtrace_block *make_block(void) {
    static const uint32_t sizes[] = {1, 2, 4, 8, 16, 32, 64};
    memtrace_step positions[16], varying[4];
    uint32_t fetches[8];
    uint64_t start = 0x400000 + below(1000) * 64;
    memtrace_block like = {.positions = positions, .varying = varying, .fetches = fetches};
    unsigned count = 1 + (unsigned)below(8);
    for (unsigned i = 0; i < count; i++) {
        uint64_t address = start + i * 4;
        if (has_instructions)
            fetches[like.instruction_count++] =
                memtrace_site_number(&(memtrace_site){.address = address, .size = 4, .kind = MEMTRACE_FETCH});
        for (uint64_t left = below(3); left; left--) {
            memtrace_site site = {.address = address, .size = sizes[below(7)], .operand = (uint8_t)left,
                                  .kind = (uint8_t)(MEMTRACE_LOAD + below(3))};
            if (memtrace_size_is_wanted(site.size))
                positions[like.position_count++] = (memtrace_step){memtrace_site_number(&site), (uint8_t)i};
        }
        if (below(8) == 0 && like.varying_count < 4)
            varying[like.varying_count++] = (memtrace_step){
                memtrace_site_number(&(memtrace_site){.address = address, .kind = MEMTRACE_VARYING}), (uint8_t)i};
    }
    return memtrace_block_new(&like);
}

static uint64_t next_address(stream *of, uint32_t site) {
    uint64_t *counter = &of->counters[site % 64];
    switch (below(16)) {
    case 0: return below(UINT64_C(1) << 47);
    case 1: return below(4) ? 0 - below(100000) : UINT64_C(1) << 63;
    default: return *counter += site % 64;
    }
}

/** Append rows of the block's varying site number `which`. */
static void execute_rows(stream *on, const memtrace_block *block, unsigned which) {
    uint64_t count = below(4) ? below(5) : below(300);
    put(on, MEMTRACE_WORD_ROWS | (uint64_t)which << 16 | count);
    for (; count; count--) {
        uint64_t address = next_address(on, which);
        uint32_t size = (uint32_t)(1 + below(64));
        unsigned kind = MEMTRACE_LOAD + (unsigned)below(3);
        put(on, address);
        put(on, memtrace_row_word(size, kind));
        expect(on, kind, memtrace_site_at(block->varying[which].site)->address, address, size);
    }
}

/** Instructions are told when something of them, or the block's end, is. Rows that are filtered out tell nothing. */
static void execute(stream *on, const memtrace_block *block) {
    unsigned leaves_after = below(4) || !block->instruction_count ? 255 : (unsigned)below(block->instruction_count);
    unsigned position = 0, varying = 0, cut = below(6) ? 255 : (unsigned)below(8);
    put(on, MEMTRACE_WORD_BLOCK + block->number);
    unsigned count = has_instructions ? block->instruction_count : 8;
    for (unsigned i = 0; i < count && i <= leaves_after && i < cut; i++) {
        if (has_instructions) {
            const memtrace_site *site = memtrace_site_at(block->fetches[i]);
            expect(on, MEMTRACE_FETCH, site->address, site->address, site->size);
        }
        for (; position < block->position_count && block->positions[position].instruction == i; position++) {
            const memtrace_site *site = memtrace_site_at(block->positions[position].site);
            uint64_t address = next_address(on, block->positions[position].site);
            put(on, address);
            expect(on, site->kind, site->address, address, site->size);
        }
        for (; varying < block->varying_count && block->varying[varying].instruction == i; varying++)
            execute_rows(on, block, varying);
    }
    if (has_instructions && (leaves_after < count || cut < count))
        put(on, MEMTRACE_WORD_LEFT + (leaves_after + 1 < cut ? leaves_after + 1 : cut));
}

/* ------------------------------------------------------------ writing and reading */

enum { THREADS = 3 };

static stream streams[THREADS];

static void take_words(stream *from) {
    size_t done = 0;
    while (done < from->words.count) { /* in pieces, as batches come */
        size_t size = 1 + below(2000);
        size = size < from->words.count - done ? size : from->words.count - done;
        memtrace_encode(from->encoder, from->words.items + done, size);
        done += size;
    }
    sn_vector_clear(&from->words);
}

static void write_trace(uint64_t seed, unsigned rounds) {
    random_state = seed;
    has_instructions = below(2);
    memtrace_write_after_fork();
    memtrace_write_set_flags(has_instructions ? MEMTRACE_HAS_INSTRUCTIONS : 0);
    sn_output_open();
    uint32_t first = memtrace_block_count();
    for (uint32_t i = 0; i < THREADS; i++) {
        streams[i] = (stream){.thread = 100 + i, .encoder = memtrace_encoder_new((int)(100 + i))};
    }
    while (rounds--) {
        for (uint64_t made = below(20); made || memtrace_block_count() == first; made -= made > 0)
            make_block();
        stream *on = &streams[below(THREADS)];
        const memtrace_block *block = memtrace_block_at(first + (uint32_t)below(memtrace_block_count() - first));
        for (uint64_t times = below(2000); times; times--) {
            if (below(10) == 0)
                block = memtrace_block_at(first + (uint32_t)below(memtrace_block_count() - first));
            execute(on, block);
        }
        take_words(on);
        if (below(4) == 0)
            memtrace_encoder_flush(on->encoder, false);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        memtrace_encoder_flush(streams[i].encoder, true);
        memtrace_encoder_free(streams[i].encoder);
    }
    memtrace_write_end(true);
    assert_true(sn_output_complete());
    file = fopen(output_name, "rb");
    fseek(file, 0, SEEK_END);
}

typedef struct reading {
    size_t read[THREADS];
    unsigned processes;
    bool is_equal;
} reading;

static void note_process(void *data, const sn_memtrace_process *its) {
    ((reading *)data)->processes++;
    assert_int_equal(its->id, getpid());
    assert_int_equal(its->arguments.count, 3);
    assert_string_equal(its->arguments.items[1], "an argument");
    assert_int_equal(its->flags, has_instructions ? MEMTRACE_HAS_INSTRUCTIONS : 0);
}

static void check_names(const sn_memtrace_site *site) {
    sn_location where;
    if (!sn_locate(site->address, &where))
        where = (sn_location){0};
    if (where.function) {
        assert_string_equal(site->function, where.function);
        assert_string_equal(site->file, where.file);
    } else {
        assert_null(site->function);
    }
    assert_int_equal(site->line, where.line);
}

static void compare_event(void *data, const sn_memtrace_event *event) {
    reading *reading = data;
    stream *of = &streams[event->thread - 100];
    size_t at = reading->read[event->thread - 100]++;
    at = reading->processes > 1 ? at % of->events.count : at;
    const expected_event *expected = &of->events.items[at];
    bool is_equal = at < of->events.count && expected->address == event->address && expected->size == event->size &&
                    expected->kind == event->kind && expected->code_address == event->site->address;
    if (!is_equal && reading->is_equal)
        print_error("thread %u, event %zu: %d %llx,%u instead of %d %llx,%u\n", event->thread, at, event->kind,
                    (unsigned long long)event->address, event->size, expected->kind,
                    (unsigned long long)expected->address, expected->size);
    reading->is_equal &= is_equal;
    if (at % 1000 == 0)
        check_names(event->site);
}

/** Read the first `size` bytes of the file as a file; returns what is wrong with it, in `explanation`. */
static const char *read_part(const uint8_t *bytes, size_t size, reading *reading, char explanation[128]) {
    *reading = (struct reading){.is_equal = true};
    FILE *part = size ? fmemopen((void *)bytes, size, "rb") : fopen("/dev/null", "rb");
    sn_memtrace_reader *reader = sn_memtrace_reader_new();
    sn_memtrace_listener listener = {note_process, compare_event, reading};
    const char *wrong = sn_memtrace_read(reader, part, &listener);
    snprintf(explanation, 128, "%s", wrong ? wrong : "");
    sn_memtrace_reader_free(reader);
    fclose(part);
    return wrong ? explanation : NULL;
}

static uint8_t *content(size_t *size) {
    *size = (size_t)ftell(file);
    uint8_t *bytes = malloc(*size);
    rewind(file);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    return bytes;
}

static void release(void) {
    for (uint32_t i = 0; i < THREADS; i++) {
        sn_vector_release(&streams[i].words);
        sn_vector_release(&streams[i].events);
    }
    fclose(file);
}

static size_t total_of(const reading *reading) {
    return reading->read[0] + reading->read[1] + reading->read[2];
}

static size_t total_expected(void) {
    return streams[0].events.count + streams[1].events.count + streams[2].events.count;
}

static void set_filter(uint64_t seed) {
    static memtrace_range addresses[2], sizes[1];
    memtrace_filter_current = (memtrace_filter){addresses, seed % 3 == 1 ? 2 : 0, sizes, seed % 5 == 1};
    addresses[0] = (memtrace_range){100, 20000};
    addresses[1] = (memtrace_range){UINT64_C(1) << 40, UINT64_MAX};
    sizes[0] = (memtrace_range){4, 16};
}

static void comes_back(void **state) {
    (void)state;
    char explanation[128];
    for (uint64_t seed = 1; seed <= 15; seed++) {
        set_filter(seed);
        write_trace(seed, 40);
        size_t size;
        uint8_t *bytes = content(&size);
        reading reading;
        const char *wrong = read_part(bytes, size, &reading, explanation);
        if (wrong)
            fail_msg("seed %llu: %s", (unsigned long long)seed, wrong);
        assert_int_equal(reading.processes, 1);
        if (!reading.is_equal || total_of(&reading) != total_expected())
            fail_msg("seed %llu: %zu of %zu events, equal: %d", (unsigned long long)seed, total_of(&reading),
                     total_expected(), reading.is_equal);
        assert_true(total_expected() > 10000);
        free(bytes);
        release();
    }
}

static void what_lies_before_a_cut_is_read(void **state) {
    (void)state;
    char explanation[128];
    set_filter(0);
    write_trace(77, 30);
    size_t size, most = 0;
    uint8_t *bytes = content(&size);
    reading reading;
    for (size_t cut = 0; cut < size; cut += 1 + below(size / 100)) {
        const char *wrong = read_part(bytes, cut, &reading, explanation);
        assert_true(reading.is_equal);
        assert_true(wrong || !cut);
        assert_true(total_of(&reading) >= most);
        most = total_of(&reading);
    }
    assert_true(most > total_expected() / 2);
    read_part(bytes, size - sizeof(memtrace_header) - 1, &reading, explanation);
    assert_true(total_of(&reading) == total_expected());
    free(bytes);
    release();
}

/** Never a wrong event: every payload has a checksum. Headers have none, so that a changed thread number may go unseen. */
static void damage_is_found(void **state) {
    (void)state;
    char explanation[128];
    write_trace(78, 30);
    size_t size, found = 0, times = 100;
    uint8_t *bytes = content(&size);
    reading reading;
    for (size_t i = 0; i < times; i++) {
        size_t at = sizeof(memtrace_header) + below(size - sizeof(memtrace_header));
        bytes[at] ^= (uint8_t)(1u << below(8));
        found += read_part(bytes, size, &reading, explanation) != NULL;
        assert_true(reading.is_equal);
        fseek(file, (long)at, SEEK_SET);
        bytes[at] = (uint8_t)fgetc(file);
    }
    assert_int_equal(found, times);
    free(bytes);
    release();
}

static void another_version_is_named(void **state) {
    (void)state;
    char explanation[128];
    write_trace(79, 1);
    size_t size;
    uint8_t *bytes = content(&size);
    reading reading;
    bytes[MEMTRACE_VERSION_AT] = 9;
    assert_string_equal(read_part(bytes, size, &reading, explanation), "is a trace of version 9, this is version 1");
    free(bytes);
    release();
}

/** One file of several processes, one of which is replaced by another program in between. */
static void several_processes(void **state) {
    (void)state;
    char explanation[128];
    FILE *together = tmpfile();
    size_t size;
    for (unsigned i = 0; i < 3; i++) {
        write_trace(90, 5);
        uint8_t *bytes = content(&size);
        fwrite(bytes, 1, size, together);
        free(bytes);
        if (i < 2)
            release();
        else
            fclose(file);
    }
    file = together;
    uint8_t *bytes = content(&size);
    reading reading;
    assert_null(read_part(bytes, size, &reading, explanation));
    assert_int_equal(reading.processes, 3);
    assert_true(reading.is_equal);
    assert_true(total_of(&reading) == 3 * total_expected());
    free(bytes);
    release();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back),       cmocka_unit_test(what_lies_before_a_cut_is_read),
        cmocka_unit_test(damage_is_found),  cmocka_unit_test(another_version_is_named),
        cmocka_unit_test(several_processes),
    };
    close(mkstemp(output_name));
    sn_settings_current.output = output_name;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(output_name);
    return failed;
}
