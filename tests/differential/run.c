/**
 * @fileoverview The runner of the differential test: runs a file of blocks and prints what each one left.
 *
 *     differential-run CORPUS [--full=NUMBER]
 *
 * The test starts it natively and under Sonde and compares the output. It is static and small, so that a run under Sonde
 * spends its time in the blocks. With --full only the named block is printed, field by field. Exit status: 0, or 2 for
 * arguments or a corpus that can't be used.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "corpus.h"
#include "executor.h"
#include "layout.h"

enum { BATCH_BLOCKS = 256 };

typedef struct batch {
    uint64_t address, size;
    unsigned count;
    sn_test_block *blocks;
} batch;

static int fail(const char *what, const char *why) {
    fprintf(stderr, "differential-run: %s: %s\n", what, why);
    return 2;
}

static bool inside(const batch *run, const sn_test_block *block) {
    uint64_t offset = block->start.entry - run->address;
    return offset < run->size && block->length <= run->size - offset;
}

static void run_blocks(const batch *run, const uint64_t *full) {
    for (unsigned i = 0; i < run->count; i++) {
        if (full && run->blocks[i].number != *full)
            continue;
        sn_executor_prepare(&run->blocks[i].start);
        sn_executor_run();
        sn_executor_print(run->blocks[i].number, stdout);
        if (full)
            sn_executor_print_full(stdout);
        /* Block by block: after a crash the last line says which block ran. */
        fflush(stdout);
    }
}

/** Map the batch's code as a program would: write, then make executable. */
static bool run_batch(const batch *run, const uint64_t *full) {
    void *wanted = (void *)(uintptr_t)run->address;
    if (!run->count)
        return true;
    void *code = mmap(wanted, run->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (code != wanted)
        return false;
    memset(code, SN_BREAKPOINT, run->size);
    for (unsigned i = 0; i < run->count; i++)
        memcpy((void *)(uintptr_t)run->blocks[i].start.entry, run->blocks[i].code, run->blocks[i].length);
    if (mprotect(code, run->size, PROT_READ | PROT_EXEC) != 0)
        return false;
    run_blocks(run, full);
    return munmap(code, run->size) == 0;
}

static int run_corpus(FILE *in, const char *name, const uint64_t *full) {
    batch run = {.blocks = calloc(BATCH_BLOCKS, sizeof(sn_test_block))};
    if (!run.blocks)
        return fail(name, "out of memory");
    for (;;) {
        uint64_t address = 0, size = 0;
        bool room = run.count < BATCH_BLOCKS;
        sn_test_block spare, *block = room ? &run.blocks[run.count] : &spare;
        sn_corpus_line line = sn_corpus_read(in, &address, &size, block);
        if (line == SN_CORPUS_BAD || (line == SN_CORPUS_BLOCK && (!room || !inside(&run, block))))
            return fail(name, "not a corpus");
        if (line == SN_CORPUS_BLOCK) {
            run.count++;
            continue;
        }
        if (!run_batch(&run, full))
            return fail(name, strerror(errno));
        if (line == SN_CORPUS_END)
            break;
        run = (batch){.address = address, .size = size, .blocks = run.blocks};
    }
    free(run.blocks);
    return 0;
}

int main(int count, char **arguments) {
    uint64_t number;
    bool full = count == 3 && strncmp(arguments[2], "--full=", 7) == 0;
    if (count != 2 && !full)
        return fail("arguments", "want CORPUS [--full=NUMBER]");
    number = full ? strtoull(arguments[2] + 7, NULL, 10) : 0;
    FILE *in = fopen(arguments[1], "r");
    if (!in)
        return fail(arguments[1], strerror(errno));
    if (!sn_executor_open())
        return fail("start", "can't prepare the memory of the test");
    int status = run_corpus(in, arguments[1], full ? &number : NULL);
    fclose(in);
    return status;
}
