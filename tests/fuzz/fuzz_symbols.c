/**
 * @fileoverview Fuzz target: reading symbols and lines of a hostile ELF file must neither crash, leak nor take long.
 *
 * Two forms of one file. With clang -fsanitize=fuzzer and -DSN_LIBFUZZER it is a libFuzzer target. Otherwise it is a
 * program: `fuzz_symbols FIRST_SEED COUNT FILE...` mutates copies of the files COUNT times and reads each; on a crash the
 * input is left in ./fuzz_symbols.crash. tests/test_symbols.py builds and runs it for a fixed number of seeds.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "image/symbols.h"
#include "image/types.h"
#include "sonde/tool.h"

/** What the engine calls when memory is short; weak, for when all of src/base is linked in. */
__attribute__((weak)) void sn_fail(int status, const char *format, ...) {
    fputs(format, stderr);
    exit(status);
}

enum { LONGEST_SECONDS = 20, ADDRESSES = 200 };

static volatile uint64_t sink;
static unsigned symbols_found, lines_found, frames_found, members_found, rules_found;

static void ask(sn_image *image, uint64_t address) {
    sn_symbol symbol;
    sn_line line;
    uint64_t found;
    if (sn_image_symbol(image, address, &symbol)) {
        symbols_found++;
        sink += strlen(symbol.name) + strlen(symbol.raw_name) + symbol.size;
        if (address - symbol.address >= symbol.size) {
            abort(); /* what was found must cover the address */
        }
    }
    if (sn_image_line(image, address, &line)) {
        lines_found++;
        sink += strlen(line.file) + line.line;
    }
    sn_frame frames[16];
    for (unsigned count = sn_image_inlined(image, address, frames, 16); count > 0; count--) {
        frames_found++;
        sink += frames[count - 1].function == NULL ? 0 : strlen(frames[count - 1].function);
        sink += frames[count - 1].file == NULL ? 0 : strlen(frames[count - 1].file);
    }
    const char *file = sn_image_function_file(image, address);
    sink += file == NULL ? 0 : strlen(file);
    sn_unwind_rule rule;
    if (sn_image_unwind(image, address, &(sn_unwind_registers){.stack = 7, .frame = 6, .return_address = 16}, &rule)) {
        rules_found++;
        sink += (uint64_t)rule.offset;
    }
    sink += sn_image_address_of_offset(image, address, &found) ? found : 0;
}

static void read_image(const char *path) {
    sn_image *image = sn_image_open(path);
    if (image == NULL) {
        return;
    }
    for (uint64_t i = 0; i < ADDRESSES; i++) {
        ask(image, 0x1000 + i * 11);
    }
    ask(image, 0);
    ask(image, UINT64_MAX);
    ask(image, UINT64_C(1) << 63);
    sn_image_close(image);
}

/** Variables, and members of a type that the samples may have. */
static void read_data(const char *path) {
    static const char *const names[] = {"outer::point", "sn_option", "sn_suggestion"};
    sn_data_image *image = sn_data_image_open(path);
    sn_data_object object;
    uint64_t low, high;
    char text[256];
    if (image == NULL) {
        return;
    }
    sink += sn_data_image_span(image, &low, &high) ? high - low : 0;
    for (uint64_t i = 0; i < ADDRESSES; i++) {
        sink += sn_data_image_object(image, 0x4000 + i * 8, &object) ? strlen(object.name) : 0;
        const sn_data_type *type = sn_data_image_type_at_line(image, "options.c", (unsigned)i, 40);
        sink += type != NULL ? type->size : 0;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const sn_data_type *type = sn_data_image_type(image, names[i]);
        for (uint64_t offset = 0; type != NULL && offset < 2 * type->size && offset < 1000; offset += 4) {
            members_found += sn_data_image_member(image, type, offset, text, sizeof text);
        }
    }
    sn_data_image_close(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char path[64];
    int descriptor = memfd_create("input", 0);
    if (descriptor < 0 || write(descriptor, bytes, size) != (ssize_t)size) {
        perror("fuzz_symbols");
        exit(2);
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    alarm(LONGEST_SECONDS);
    read_image(path);
    read_data(path);
    alarm(0);
    close(descriptor);
    return 0;
}

#ifndef SN_LIBFUZZER

#include "files.h"
#include "random.h"

static const uint64_t interesting[] = {
    0, 1, 2, 7, 8, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff,
    UINT64_C(0x7fffffffffffffff), UINT64_C(0x8000000000000000), UINT64_MAX,
};

/** Where to change something: anywhere, or in the headers at both ends of the file, which decide the most. */
static size_t place(const input *input, size_t width) {
    uint64_t choice = below(4), near = input->size < 3000 ? input->size : 3000;
    size_t at = choice == 0 ? below(64) : choice == 1 ? input->size - 1 - below(near) : below(input->size);
    return at + width <= input->size ? at : input->size - width;
}

static void mutate_once(input *input) {
    size_t width = (size_t)1 << below(4);
    size_t at = place(input, width);
    uint64_t value = interesting[below(sizeof interesting / sizeof *interesting)];
    switch (below(6)) {
    case 0:
        input->bytes[at] ^= (uint8_t)(1 << below(8));
        break;
    case 1:
        input->bytes[at] = (uint8_t)next_random();
        break;
    case 2:
    case 3:
        memcpy(input->bytes + at, &value, width);
        break;
    case 4: {
        size_t length = 1 + below(64), from = place(input, 64), to = place(input, 64);
        memmove(input->bytes + to, input->bytes + from, length);
        break;
    }
    default:
        if (below(8) == 0 && input->size > 256) {
            input->size -= below(input->size - 128);
        }
    }
}

static void run_seed(uint64_t seed, const input *original) {
    random_state = seed;
    input changed = {.bytes = malloc(original->size), .size = original->size};
    memcpy(changed.bytes, original->bytes, original->size);
    for (uint64_t left = 1 + below(below(4) == 0 ? 64 : 6); left > 0; left--) {
        mutate_once(&changed);
    }
    write_crash_candidate("fuzz_symbols.crash", &changed);
    LLVMFuzzerTestOneInput(changed.bytes, changed.size);
    free(changed.bytes);
}

int main(int argument_count, char **arguments) {
    if (argument_count < 4) {
        fprintf(stderr, "usage: fuzz_symbols FIRST_SEED COUNT FILE...\n");
        return 2;
    }
    uint64_t first = strtoull(arguments[1], NULL, 0), count = strtoull(arguments[2], NULL, 0);
    int file_count = argument_count - 3;
    for (int i = 0; i < file_count; i++) {
        input original = read_file(arguments[3 + i]);
        symbols_found = lines_found = frames_found = rules_found = 0;
        LLVMFuzzerTestOneInput(original.bytes, original.size);
        if (symbols_found == 0 || lines_found == 0 || frames_found == 0 || rules_found == 0) {
            fprintf(stderr, "fuzz_symbols: %s: nothing found in the unchanged file\n", arguments[3 + i]);
            return 1;
        }
        for (uint64_t seed = first; seed < first + count; seed++) {
            run_seed(seed * (uint64_t)file_count + (uint64_t)i, &original);
        }
        free(original.bytes);
    }
    if (members_found == 0) {
        fprintf(stderr, "fuzz_symbols: no member found in any file\n");
        return 1;
    }
    unlink("fuzz_symbols.crash");
    printf("%llu inputs read\n", (unsigned long long)count * (unsigned long long)file_count);
    return 0;
}

#endif
