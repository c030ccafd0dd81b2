/* @fileoverview A tool: how often each conditional branch goes which way; those executed most often first.
 *     cc -O2 -shared -fPIC $(pkg-config --cflags sonde) -o branches.so branches.c
 *     sonde ./branches.so PROGRAM
 */
#include <inttypes.h>
#include <sonde/tool.h>
#include <stdlib.h>

enum { REACHED, TAKEN, COUNTERS };
typedef struct branch {
    struct branch *next, *next_in_bucket;
    uint64_t address;
    sn_counter counters;              /* the first of two */
    _Atomic uint64_t ended[COUNTERS]; /* of threads that have ended */
    _Atomic uint64_t all[COUNTERS];   /* for the report */
} branch;

static branch *_Atomic branches; /* only grows: read without a lock */
static branch *buckets[4096];
static size_t known;

static branch *branch_at(uint64_t address) { /* the same branch can be in several blocks */
    branch **bucket = &buckets[address % 4096], *at = *bucket;
    while (at && at->address != address) at = at->next_in_bucket;
    if (at || !(at = calloc(1, sizeof *at))) return at;
    *at = (branch){branches, *bucket, address, sn_counter_new(COUNTERS), {0}, {0}};
    known++;
    branches = *bucket = at;
    return at;
}

static void instrument(sn_block *block) {
    for (unsigned i = 0; i < sn_block_size(block); i++) {
        const sn_instruction *instruction = sn_block_instruction(block, i);
        branch *at = instruction->kind == SN_KIND_CONDITIONAL ? branch_at(instruction->address) : NULL;
        if (!at) continue;
        sn_insert_before(block, i);
        sn_count(block, at->counters + REACHED, sn_constant(block, 1));
        sn_count_taken(block, i, at->counters + TAKEN, 1);
    }
}

static void add(sn_thread *thread, void *is_report) {
    for (branch *at = branches; at; at = at->next)
        for (int i = 0; i < COUNTERS; i++)
            (is_report ? at->all : at->ended)[i] += sn_counter_value(thread, at->counters + i);
}
static void thread_end(sn_thread *thread) { add(thread, NULL); }
static void fork_child(sn_thread *thread) {
    (void)thread; /* its counters are zero again */
    for (branch *at = branches; at; at = at->next) at->ended[REACHED] = at->ended[TAKEN] = 0;
}
static int by_reached(const void *left, const void *right) {
    uint64_t a = (*(branch *const *)left)->all[REACHED], b = (*(branch *const *)right)->all[REACHED];
    return (a < b) - (a > b);
}

static void end(void) {
    branch **list = calloc(known + 1, sizeof *list);
    size_t count = 0;
    for (branch *at = branches; at; at = at->next)
        for (int i = 0; i < COUNTERS; i++) at->all[i] = at->ended[i];
    sn_threads_visit(add, &list);
    for (branch *at = branches; at && list && count < known; at = at->next) list[count++] = at;
    if (count) qsort(list, count, sizeof *list, by_reached);
    for (size_t i = 0; i < count && list[i]->all[REACHED]; i++) {
        sn_location where = {0};
        sn_locate(list[i]->address, &where);
        fprintf(sn_output(), "%14" PRIu64 " %5.1f %% taken  %s:%u\n", list[i]->all[REACHED],
                100.0 * (double)list[i]->all[TAKEN] / (double)list[i]->all[REACHED],
                where.function ? where.function : "?", where.line);
    }
    free(list);
}

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE, .name = "branches", .version = "1", .description = "which way branches go",
    .instrument = instrument, .thread_end = thread_end, .fork_child = fork_child, .end = end,
};
