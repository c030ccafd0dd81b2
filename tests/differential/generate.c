/**
 * @fileoverview The generator of the differential test: writes a file of random blocks for the runner.
 *
 *     differential-generate [--seed=N] [--blocks=N] [--pieces=N] [--mnemonic=NAME] [--straight] [--sweep] [--coverage]
 *                           [--output=FILE]
 *
 * It runs every block natively while it grows, so that blocks do something and seldom fault. The same seed gives the same
 * file on the same machine. --sweep takes every instruction form in turn instead of random ones. --coverage prints on stderr which share of the decoder's forms ran. Exit status: 0, 1 when a
 * block's result was not the same twice, 2 for bad arguments.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arguments.h"
#include "block.h"
#include "coverage.h"
#include "layout.h"

enum { BATCH_BLOCKS = 64, BLOCK_SPAN = 8192, BATCH_SPAN = BATCH_BLOCKS * BLOCK_SPAN };

typedef struct arguments {
    uint64_t seed, blocks;
    sn_block_options options;
    bool coverage;
    FILE *out;
} arguments;

static int fail(const char *what, const char *why) {
    fprintf(stderr, "differential-generate: %s: %s\n", what, why);
    return 2;
}

static bool read_switch(const char *text, const char *name, bool *value) {
    bool same = strcmp(text, name) == 0;
    *value |= same;
    return same;
}

static bool read_argument(const char *text, arguments *given) {
    uint64_t pieces;
    if (read_number(text, "--seed=", &given->seed) || read_number(text, "--blocks=", &given->blocks))
        return true;
    if (read_number(text, "--pieces=", &pieces) && pieces > 0 && pieces <= 200) {
        given->options.most_pieces = (unsigned)pieces;
        return true;
    }
    if (strncmp(text, "--mnemonic=", 11) == 0) {
        given->options.mnemonic = text + 11;
        return true;
    }
    if (strncmp(text, "--output=", 9) == 0)
        return (given->out = fopen(text + 9, "w")) != NULL;
    return read_switch(text, "--straight", &given->options.straight) ||
           read_switch(text, "--sweep", &given->options.sweep) || read_switch(text, "--coverage", &given->coverage);
}

/** Batches lie at fresh addresses, in both windows; one in four reuses the addresses of the one before. */
static uint64_t next_batch(uint64_t number, uint64_t before, sn_random *random) {
    uint64_t offset = number % (SN_CODE_SPAN / BATCH_SPAN) * BATCH_SPAN;
    if (before && sn_random_percent(random, 25))
        return before;
    return (sn_random_percent(random, 70) ? SN_LOW_CODE : SN_HIGH_CODE) + offset;
}

/** The batch's memory, mapped twice: executable in its place, as in the runner, and writable somewhere else. */
typedef struct code_memory {
    int file;
    uint8_t *writable;
} code_memory;

static bool open_memory(code_memory *memory) {
    memory->file = memfd_create("blocks", MFD_CLOEXEC);
    if (memory->file < 0 || ftruncate(memory->file, BATCH_SPAN) != 0)
        return false;
    memory->writable = mmap(NULL, BATCH_SPAN, PROT_READ | PROT_WRITE, MAP_SHARED, memory->file, 0);
    return memory->writable != MAP_FAILED;
}

static bool map_batch(const code_memory *memory, uint64_t address) {
    void *wanted = (void *)(uintptr_t)address;
    memset(memory->writable, SN_BREAKPOINT, BATCH_SPAN);
    return mmap(wanted, BATCH_SPAN, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED_NOREPLACE, memory->file, 0) == wanted;
}

static int generate(const arguments *given) {
    sn_random random = {.state = given->seed};
    sn_builder *builder = malloc(sizeof *builder);
    uint64_t batch = 0, bad = 0;
    code_memory memory;
    if (!builder || !open_memory(&memory))
        return fail("start", strerror(errno));
    for (uint64_t number = 0; number < given->blocks; number++) {
        uint64_t place = number % BATCH_BLOCKS;
        if (place == 0) {
            if (batch)
                munmap((void *)(uintptr_t)batch, BATCH_SPAN);
            batch = next_batch(number / BATCH_BLOCKS, batch, &random);
            if (!map_batch(&memory, batch))
                return fail("code", strerror(errno));
            sn_corpus_write_batch(given->out, batch, BATCH_SPAN);
        }
        uint64_t address = batch + place * BLOCK_SPAN + sn_random_below(&random, BLOCK_SPAN - SN_BLOCK_BYTES);
        bool same = sn_block_make(builder, number, sn_random_next(&random), address,
                                  memory.writable + (address - batch), &given->options);
        bad += !same;
        /* A block that goes astray shall not run another one, whatever it finds there. */
        memset(memory.writable + (address - batch), SN_BREAKPOINT, SN_BLOCK_BYTES);
        sn_corpus_write(same ? given->out : stderr, &builder->block);
    }
    free(builder);
    return bad ? 1 : 0;
}

int main(int count, char **texts) {
    arguments given = {.seed = 1, .blocks = 1000, .options.most_pieces = 30, .out = stdout};
    for (int i = 1; i < count; i++) {
        if (!read_argument(texts[i], &given))
            return fail(texts[i], "unknown or unusable argument");
    }
    if (sn_forms_open() == 0)
        return fail("start", "out of memory");
    if (given.options.mnemonic && !sn_coverage_knows(given.options.mnemonic))
        return fail(given.options.mnemonic, "no such mnemonic that a random block may hold");
    if (!sn_executor_open())
        return fail("start", "can't prepare the memory of the test");
    int status = generate(&given);
    if (given.coverage)
        sn_coverage_print(stderr);
    if (fclose(given.out) != 0)
        return fail("output", strerror(errno));
    return status;
}
