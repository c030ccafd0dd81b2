/* @fileoverview A tool: how often each function is called directly. docs/writing-a-tool.md explains it.
 *     cc -O2 -shared -fPIC $(pkg-config --cflags sonde) -o calls.so calls.c
 *     sonde ./calls.so PROGRAM
 */
#include <inttypes.h>
#include <sonde/tool.h>
#include <stdlib.h>

typedef struct callee {
    struct callee *next, *next_in_bucket;
    uint64_t address;
    sn_counter entered;      /* passes through blocks that end in a call of it */
    sn_counter left;         /* those of them that left the block before the call */
    _Atomic uint64_t before; /* calls by ended threads, less those that a signal prevented */
    uint64_t calls;          /* for the report */
} callee;

static callee *_Atomic callees; /* only grows: read without a lock */
static callee *buckets[4096];
static int64_t least = 1;
static const sn_option options[] = {{"least", SN_OPTION_NUMBER, &least, "1", NULL, "only with this many calls"}, {0}};

static callee *callee_at(uint64_t address) {
    callee **bucket = &buckets[address / 16 % 4096], *at = *bucket;
    while (at && at->address != address) at = at->next_in_bucket;
    if (at || !(at = calloc(1, sizeof *at))) return at;
    *at = (callee){callees, *bucket, address, sn_counter_new(1), sn_counter_new(1), 0, 0};
    callees = *bucket = at;
    return at;
}

static void instrument(sn_block *block) {
    unsigned last = sn_block_size(block) - 1; /* a call is the last instruction of its block */
    const sn_instruction *call = sn_block_instruction(block, last);
    callee *called = call->kind == SN_KIND_CALL ? callee_at(call->target) : NULL;
    if (!called) return;
    sn_count_entry(block, called->entered, 1);
    for (unsigned i = 0; i < last; i++)
        if (sn_block_instruction(block, i)->kind == SN_KIND_CONDITIONAL)
            sn_count_taken(block, i, called->left, 1);
    sn_block_set_data(block, called);
}

static void interrupted(sn_thread *thread, void *data, unsigned completed) {
    (void)thread, (void)completed; /* of a block left early, the call at its end was not executed */
    if (data) ((callee *)data)->before--;
}

static uint64_t calls_by(const sn_thread *thread, const callee *at) {
    return sn_counter_value(thread, at->entered) - sn_counter_value(thread, at->left);
}
static void thread_end(sn_thread *thread) {
    for (callee *at = callees; at; at = at->next) at->before += calls_by(thread, at);
}
static void fork_child(sn_thread *thread) {
    (void)thread; /* its counters are zero again */
    for (callee *at = callees; at; at = at->next) at->before = 0;
}
static void add_living(sn_thread *thread, void *data) {
    for (callee *at = data; at; at = at->next) at->calls += calls_by(thread, at);
}

static void end(void) {
    callee *first = callees;
    for (callee *at = first; at; at = at->next) at->calls = at->before;
    sn_threads_visit(add_living, first);
    for (callee *at = first; at; at = at->next) {
        sn_location where = {0};
        if (!at->calls || at->calls < (uint64_t)least) continue;
        sn_locate(at->address, &where);
        fprintf(sn_output(), "%12" PRIu64 "  %s\n", at->calls, where.function ? where.function : "(no symbol)");
    }
}

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE, .name = "calls", .version = "1", .description = "count direct calls by function",
    .options = options, .instrument = instrument, .thread_end = thread_end, .fork_child = fork_child,
    .interrupted = interrupted, .end = end,
};
