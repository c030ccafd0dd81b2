/**
 * @fileoverview Fuzz target: a hostile trace file of memory accesses must be refused or read, and not read beyond.
 *
 * With clang -fsanitize=fuzzer and -DSN_LIBFUZZER a libFuzzer target, whose input is a file. Otherwise a program:
 * `fuzz_memtrace FIRST_SEED COUNT FILE...` spoils copies of traces, in their headers or in what is packed in their blocks
 * (packed again, so that checksums do not hide it), and reads each; on a crash the input is left in ./fuzz_memtrace.crash.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "report/memtrace_reader.h"
#include "report/memtrace_tally.h"

enum { LONGEST_SECONDS = 60 };

static unsigned long complete, refused;
static uint64_t events;

static void note_process(void *data, const sn_memtrace_process *process) {
    (void)data;
    for (size_t i = 0; i < process->arguments.count; i++)
        events += strlen(process->arguments.items[i]) == SIZE_MAX;
}

/** What is told has to keep its promises. */
static void note_event(void *data, const sn_memtrace_event *event) {
    if (event->kind > MEMTRACE_MODIFY || event->site->kind >= MEMTRACE_KINDS || !event->process)
        abort();
    events++;
    /* Sums take memory for each line and page, which a hostile trace may have many of: of the first ones only. */
    if (event->size < 4096 && events < 20000)
        sn_memtrace_tally_event(data, event);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    FILE *stream = size ? fmemopen((void *)bytes, size, "rb") : fopen("/dev/null", "rb");
    sn_memtrace_reader *reader = sn_memtrace_reader_new();
    sn_memtrace_tally tally = {
        .wanted = SN_TALLY_PAGES | SN_TALLY_STRIDES | SN_TALLY_REUSE, .page_size = 4096, .line_size = 64};
    alarm(LONGEST_SECONDS);
    events = 0;
    const char *wrong = sn_memtrace_read(reader, stream, &(sn_memtrace_listener){note_process, note_event, &tally});
    alarm(0);
    if (wrong && (!*wrong || strchr(wrong, '\n')))
        abort();
    *(wrong ? &refused : &complete) += 1;
    sn_memtrace_rows rows = sn_memtrace_by_line(&tally);
    sn_vector_release(&rows);
    sn_memtrace_tally_release(&tally);
    sn_memtrace_reader_free(reader);
    fclose(stream);
    return 0;
}

#ifndef SN_LIBFUZZER

#include "files.h"
#include "random.h"

static void *allocated(void *memory) {
    if (!memory) {
        perror("fuzz_memtrace");
        exit(2);
    }
    return memory;
}

/** Change some bytes of a payload: most are parts of small numbers. */
static size_t spoil_payload(uint8_t *payload, size_t size) {
    static const uint8_t interesting[] = {0, 1, 2, 3, 4, 5, 0x7f, 0x80, 0xff};
    for (uint64_t left = 1 + below(4); left && size; left--) {
        size_t at = below(3) ? below(size) : below(size < 40 ? size : 40);
        switch (below(5)) {
        case 0: payload[at] ^= (uint8_t)(1u << below(8)); break;
        case 1: payload[at] = interesting[below(sizeof interesting)]; break;
        case 2: memset(payload + at, 0xff, size - at < 9 ? size - at : 9); break;
        case 3: memmove(payload + at, payload + below(size - at) + at, 1); break;
        default: size = below(4) ? size : at;
        }
    }
    return size;
}

/** Append a block of `from`, with the payload spoilt. Returns the bytes of the block there. */
static void append_spoilt(input *to, const memtrace_header *header, const uint8_t *packed) {
    uint8_t *payload = allocated(malloc(header->raw_size + 1u));
    size_t size = ZSTD_decompress(payload, header->raw_size, packed, header->packed_size);
    if (ZSTD_isError(size)) {
        fputs("fuzz_memtrace: the unchanged file is damaged\n", stderr);
        exit(2);
    }
    memtrace_header changed = *header;
    changed.raw_size = (uint32_t)spoil_payload(payload, size);
    if (below(8) == 0)
        changed.predictions = below(2) ? (uint32_t)next_random() : changed.predictions + 1;
    if (below(16) == 0)
        changed.kind = (uint32_t)below(8);
    if (below(16) == 0)
        changed.thread = (uint32_t)below(3);
    size_t room = ZSTD_compressBound(size) + 64;
    to->bytes = allocated(realloc(to->bytes, to->size + sizeof changed + room));
    changed.packed_size = (uint32_t)ZSTD_compress(to->bytes + to->size + sizeof changed, room, payload, changed.raw_size, 1);
    memcpy(to->bytes + to->size, &changed, sizeof changed);
    to->size += sizeof changed + changed.packed_size;
    free(payload);
}

/** Copy the file block by block; one block in some is spoilt, or left out. */
static input spoil_blocks(const input *from) {
    input to = {allocated(malloc(from->size + 1)), 0};
    memtrace_header header;
    size_t count = 0, chosen;
    for (size_t at = 0; at < from->size; at += sizeof header + header.packed_size, count++)
        memcpy(&header, from->bytes + at, sizeof header);
    chosen = below(count);
    for (size_t at = 0, number = 0; at < from->size; at += sizeof header + header.packed_size, number++) {
        memcpy(&header, from->bytes + at, sizeof header);
        size_t whole = sizeof header + header.packed_size;
        if (number == chosen && below(8) == 0)
            continue;
        if (number == chosen) {
            append_spoilt(&to, &header, from->bytes + at + sizeof header);
            continue;
        }
        to.bytes = allocated(realloc(to.bytes, to.size + whole + 1));
        memcpy(to.bytes + to.size, from->bytes + at, whole);
        to.size += whole;
    }
    return to;
}

static input spoil_bytes(const input *from) {
    input to = {allocated(malloc(from->size + 1)), from->size};
    memcpy(to.bytes, from->bytes, from->size);
    for (uint64_t left = 1 + below(4); left; left--)
        to.bytes[below(4) ? below(to.size) : below(sizeof(memtrace_header))] = (uint8_t)next_random();
    if (below(4) == 0)
        to.size = below(to.size);
    return to;
}

static void run_seed(uint64_t seed, const input *original) {
    random_state = seed;
    input spoilt = below(4) ? spoil_blocks(original) : spoil_bytes(original);
    input exact = {allocated(malloc(spoilt.size + 1)), spoilt.size}; /* for a sanitizer to see its end */
    memcpy(exact.bytes, spoilt.bytes, spoilt.size);
    free(spoilt.bytes);
    write_crash_candidate("fuzz_memtrace.crash", &exact);
    LLVMFuzzerTestOneInput(exact.bytes, exact.size);
    free(exact.bytes);
}

int main(int argument_count, char **arguments) {
    if (argument_count < 4) {
        fprintf(stderr, "usage: fuzz_memtrace FIRST_SEED COUNT FILE...\n");
        return 2;
    }
    uint64_t first = strtoull(arguments[1], NULL, 0), count = strtoull(arguments[2], NULL, 0);
    for (int i = 3; i < argument_count; i++) {
        input original = read_file(arguments[i]);
        unsigned long before = refused;
        LLVMFuzzerTestOneInput(original.bytes, original.size);
        if (refused != before || !events) {
            fprintf(stderr, "fuzz_memtrace: %s: not read\n", arguments[i]);
            return 1;
        }
        for (uint64_t seed = first; seed < first + count; seed++)
            run_seed(seed, &original);
        free(original.bytes);
    }
    unlink("fuzz_memtrace.crash");
    /* Both have to be frequent, or the test tests nothing. */
    if (refused < count / 10) {
        fprintf(stderr, "fuzz_memtrace: only %lu refused\n", refused);
        return 1;
    }
    printf("%lu inputs read\n", complete + refused);
    return 0;
}

#endif
