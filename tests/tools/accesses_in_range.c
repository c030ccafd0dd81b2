/**
 * @fileoverview A tool for tests that counts the accesses to [--from, --to), by a trace with the smallest buffer or by
 * counters, and says how many there were; --switch=yes turns instrumentation off and on again all the time.
 */
#include <sonde/tool.h>

static int64_t from, to = INT64_MAX;
static bool switches;
static sn_trace *trace;
static uint64_t found, batches;

static const sn_option options[] = {
    {"from", SN_OPTION_NUMBER, &from, "0", NULL, "first address"},
    {"to", SN_OPTION_NUMBER, &to, "all", NULL, "first address behind"},
    {"switch", SN_OPTION_FLAG, &switches, "no", NULL, "switch instrumentation off at every other batch"},
    {NULL, 0, NULL, NULL, NULL, NULL},
};

static void batch(const sn_batch *batch) {
    const uint64_t *addresses = batch->records;
    uint64_t inside = 0;
    for (size_t i = 0; i < batch->count; i++) inside += addresses[i] - (uint64_t)from < (uint64_t)(to - from);
    __atomic_add_fetch(&found, inside, __ATOMIC_RELAXED);
    if (switches && __atomic_add_fetch(&batches, 1, __ATOMIC_RELAXED) == 3) sn_instrumentation_enable(false);
}

static void start(void) { trace = sn_trace_new(&(sn_trace_options){.record_size = 8, .buffer_size = 4096, .batch = batch}); }

static void instrument(sn_block *block) {
    for (unsigned i = 0; i < sn_block_size(block); i++) {
        unsigned count;
        const sn_operand *operands = sn_block_operands(block, i, &count);
        if (sn_block_instruction(block, i)->accesses_vary) continue;
        for (unsigned k = 0; k < count; k++) {
            if (operands[k].place != SN_PLACE_MEMORY || operands[k].role == SN_ROLE_ADDRESS) continue;
            sn_insert_before(block, i);
            sn_field field = {.offset = 0, .size = 8, .value = sn_operand_address(block, k)};
            sn_trace_append(block, trace, 1, &field);
        }
    }
}

static void end(void) { fprintf(sn_output(), "accesses: %lu\n", (unsigned long)found); }

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE, .name = "accesses", .version = "1", .description = "counts accesses",
    .options = options, .start = start, .instrument = instrument, .end = end,
};
