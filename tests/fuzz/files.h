/**
 * @fileoverview The files that fuzz targets spoil copies of, and the input that is left behind when a target crashes. For
 * fuzz_symbols.c and fuzz_memtrace.c.
 */
#ifndef SONDE_TESTS_FUZZ_FILES_H
#define SONDE_TESTS_FUZZ_FILES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct input {
    uint8_t *bytes; /**< allocated */
    size_t size;
} input;

/** A whole file. Ends the program with status 2 when it cannot be read. */
static input read_file(const char *path) {
    FILE *stream = fopen(path, "rb");
    if (stream == NULL || fseek(stream, 0, SEEK_END) != 0) {
        perror(path);
        exit(2);
    }
    input input = {.size = (size_t)ftell(stream)};
    input.bytes = malloc(input.size + 1);
    rewind(stream);
    if (input.bytes == NULL || fread(input.bytes, 1, input.size, stream) != input.size) {
        perror(path);
        exit(2);
    }
    fclose(stream);
    return input;
}

/** What is read next, for whoever looks for the cause of a crash. */
static void write_crash_candidate(const char *path, const input *input) {
    FILE *stream = fopen(path, "wb");
    if (stream == NULL || fwrite(input->bytes, 1, input->size, stream) != input->size || fclose(stream) != 0) {
        perror(path);
        exit(2);
    }
}

#endif
