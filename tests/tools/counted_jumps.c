/**
 * @fileoverview A tool for tests that counts, in [--from, --to), how often the code before unconditional jumps has run.
 */
#include <sonde/tool.h>

static int64_t from, to;
static sn_counter jumps;
static uint64_t ended;

static const sn_option options[] = {
    {"from", SN_OPTION_NUMBER, &from, "0", NULL, "first address"},
    {"to", SN_OPTION_NUMBER, &to, "0", NULL, "first address behind"},
    {NULL, 0, NULL, NULL, NULL, NULL},
};

static void start(void) { jumps = sn_counter_new(1); }

static void instrument(sn_block *block) {
    for (unsigned i = 0; i < sn_block_size(block); i++) {
        const sn_instruction *instruction = sn_block_instruction(block, i);
        if (instruction->kind != SN_KIND_JUMP || instruction->address - (uint64_t)from >= (uint64_t)(to - from)) continue;
        sn_insert_before(block, i);
        sn_count(block, jumps, sn_constant(block, 1));
    }
}

static void add(sn_thread *thread, void *data) {
    (void)data;
    ended += sn_counter_value(thread, jumps);
}

static void end(void) {
    sn_threads_visit(add, NULL);
    fprintf(sn_output(), "jumps: %lu\n", (unsigned long)ended);
}

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE, .name = "jumps", .version = "1", .description = "counts jumps",
    .options = options, .start = start, .instrument = instrument, .end = end,
};
