/**
 * @fileoverview A tool for the benchmark: appends the address of every data access to a trace and adds them up, a batch at
 * a time. What a tool that looks at all accesses costs at least.
 */
#include <sonde/tool.h>

/** A copy of a function for each width of vectors, of which the loader takes the one that fits: where there are such copies. */
#if defined(__x86_64__) && defined(__has_attribute)
#if __has_attribute(target_clones)
#define WITH_WIDE_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
#endif
#ifndef WITH_WIDE_VECTORS
#define WITH_WIDE_VECTORS
#endif

static sn_trace *trace;
static uint64_t sum, seen;

WITH_WIDE_VECTORS
static void batch(const sn_batch *batch) {
    const uint64_t *addresses = batch->records;
    uint64_t added = 0;
    for (size_t i = 0; i < batch->count; i++) added += addresses[i];
    __atomic_add_fetch(&sum, added, __ATOMIC_RELAXED);
    __atomic_add_fetch(&seen, batch->count, __ATOMIC_RELAXED);
}

static void start(void) { trace = sn_trace_new(&(sn_trace_options){.record_size = 8, .batch = batch}); }

static void instrument_one(sn_block *block, unsigned index) {
    unsigned count;
    if (sn_block_instruction(block, index)->accesses_vary) {
        sn_trace_append_accesses(block, index, trace, 1, 1, &(sn_access_field){.size = 8, .part = SN_ACCESS_ADDRESS});
        return;
    }
    const sn_operand *operands = sn_block_operands(block, index, &count);
    for (unsigned i = 0; i < count; i++) {
        if (operands[i].place != SN_PLACE_MEMORY || operands[i].role == SN_ROLE_ADDRESS) continue;
        sn_insert_before(block, index);
        sn_field field = {.offset = 0, .size = 8, .value = sn_operand_address(block, i)};
        sn_trace_append(block, trace, 1, &field);
    }
}

static void instrument(sn_block *block) {
    for (unsigned i = 0; i < sn_block_size(block); i++) instrument_one(block, i);
}

static void end(void) { fprintf(sn_output(), "%lu accesses, sum %lu\n", (unsigned long)seen, (unsigned long)sum); }

SN_EXPORT const sn_tool sn_tool_descriptor = {
    .interface = SN_TOOL_INTERFACE, .name = "addresses", .version = "1", .description = "adds up addresses",
    .start = start, .instrument = instrument, .end = end,
};
