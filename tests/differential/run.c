/**
 * @fileoverview The runner of the differential test: runs a file of blocks and prints what each one left.
 *
 *     differential-run CORPUS [--full=NUMBER] [--interrupt=MICROSECONDS]
 *
 * The test starts it natively and under Sonde and compares the output. It is static and small, so that a run under Sonde
 * spends its time in the blocks. With --full only the named block is printed, field by field; with --interrupt timer
 * signals arrive in the blocks. Exit status: 0, 1 when a signal was shown an address outside the program, 2 for arguments
 * or a corpus that can't be used.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "corpus.h"
#include "executor.h"
#include "interrupt.h"
#include "layout.h"

enum { BATCH_BLOCKS = 256, INTERRUPTED_RUNS = 10 };

typedef struct choices {
    bool full;
    uint64_t number;    /**< with full: of the one block to run */
    uint64_t interrupt; /**< microseconds between signals, or 0 */
} choices;

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

/** With signals a block runs often, so that some arrive in it; each time it must end the same. */
static void run_again(const sn_test_block *block) {
    uint64_t hash = sn_executor_hash();
    for (unsigned i = 0; i < INTERRUPTED_RUNS; i++) {
        sn_executor_run();
        if (sn_executor_hash() == hash)
            continue;
        /* A second line for the block: the driver takes both together. */
        sn_executor_print(block->number, stdout);
        return;
    }
}

static void run_blocks(const batch *run, const choices *given) {
    for (unsigned i = 0; i < run->count; i++) {
        const sn_test_block *block = &run->blocks[i];
        if (given->full && block->number != given->number)
            continue;
        sn_executor_prepare(&block->start);
        sn_executor_run();
        sn_executor_print(block->number, stdout);
        if (given->full)
            sn_executor_print_full(stdout);
        if (given->interrupt)
            run_again(block);
        /* Block by block: after a crash the last line says which block ran. */
        fflush(stdout);
    }
}

/** Map the batch's code as a program would: write, then make executable. */
static bool run_batch(const batch *run, const choices *given) {
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
    run_blocks(run, given);
    return munmap(code, run->size) == 0;
}

static int run_corpus(FILE *in, const char *name, const choices *given) {
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
        if (!run_batch(&run, given))
            return fail(name, strerror(errno));
        if (line == SN_CORPUS_END)
            break;
        run = (batch){.address = address, .size = size, .blocks = run.blocks};
    }
    free(run.blocks);
    return 0;
}

static bool read_choice(const char *text, choices *given) {
    if (strncmp(text, "--full=", 7) == 0) {
        given->full = true;
        given->number = strtoull(text + 7, NULL, 10);
        return true;
    }
    if (strncmp(text, "--interrupt=", 12) != 0)
        return false;
    given->interrupt = strtoull(text + 12, NULL, 10);
    return given->interrupt > 0 && given->interrupt < 1000000;
}

static int report_signals(void) {
    fprintf(stderr, "differential-run: %llu signals, %llu inside blocks\n", (unsigned long long)sn_interrupt_count(),
            (unsigned long long)sn_interrupt_inside());
    if (!sn_interrupt_foreign())
        return 0;
    printf("signal at %llx, outside the program\n", (unsigned long long)sn_interrupt_foreign());
    return 1;
}

int main(int count, char **arguments) {
    choices given = {0};
    for (int i = 2; i < count; i++) {
        if (!read_choice(arguments[i], &given))
            return fail(arguments[i], "unknown or unusable argument");
    }
    if (count < 2)
        return fail("arguments", "want CORPUS [--full=NUMBER] [--interrupt=MICROSECONDS]");
    FILE *in = fopen(arguments[1], "r");
    if (!in)
        return fail(arguments[1], strerror(errno));
    if (!sn_executor_open() || (given.interrupt && !sn_interrupt_start(given.interrupt)))
        return fail("start", "can't prepare the memory or the signals of the test");
    int status = run_corpus(in, arguments[1], &given);
    fclose(in);
    return status == 0 && given.interrupt ? report_signals() : status;
}
