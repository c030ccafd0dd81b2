/**
 * @fileoverview The instrumentation functions of sonde/tool.h: what a tool may do with a block that it is given.
 */
#include "jit/insert.h"

#include <string.h>

#include "base/log.h"
#include "jit/layout.h"
#include "jit/runtime.h"
#include "jit/thread.h"
#include "jit/translate.h"

/** Each thread's counters lie behind its state; this many fit into what is reserved for a thread. */
#define MOST_COUNTERS (SN_COUNTER_BYTES / 8)

static sn_counter counters_used;

sn_counter sn_counter_new(unsigned count) {
    if (MOST_COUNTERS - counters_used < count) sn_fail(SN_STATUS_ENGINE, "the tool uses more than %u counters",
                                                       (unsigned)MOST_COUNTERS);
    sn_counter first = counters_used;
    counters_used += count;
    return first;
}

SN_FAST uint64_t sn_counter_value(const sn_thread *thread, sn_counter counter) {
    return ((const uint64_t *)((const char *)thread + SN_THREAD_COUNTERS))[counter];
}

SN_FAST void sn_counter_add(sn_thread *thread, sn_counter counter, int64_t amount) {
    ((uint64_t *)((char *)thread + SN_THREAD_COUNTERS))[counter] += (uint64_t)amount;
}

size_t sn_counters_in_use(void) { return counters_used; }

void sn_block_reset(sn_block *block, uint64_t address) {
    block->address = address;
    block->count = 0;
    block->checks_itself = false;
    block->version = 0;
    block->is_head = false;
    block->counts_down = false;
    block->is_split = block->is_full = block->lacks_full = block->must_be_whole = false;
    block->data = NULL;
    block->entry_count = 0;
    block->functions = 0;
    block->reached_in = 0;
    block->call_is_noted = false;
    block->operands_of = SN_MOST_INSTRUCTIONS;
    sn_analysis_reset(&block->analysis);
    block->instrumented = false;
}

uint64_t sn_block_address(const sn_block *block) { return block->address; }
unsigned sn_block_size(const sn_block *block) { return block->count; }

const sn_instruction *sn_block_instruction(const sn_block *block, unsigned index) { return &block->views[index]; }

bool sn_block_continues(const sn_block *block, unsigned index) { return block->followed[index]; }

const sn_operand *sn_block_operands(sn_block *block, unsigned index, unsigned *count) {
    if (block->operands_of != index) {
        int got = sn_operands(&block->insns[index], block->operands, SN_MOST_OPERANDS);
        block->operand_count = got < 0 ? 0 : (unsigned)got;
        block->operands_of = index;
    }
    *count = block->operand_count;
    return block->operand_count ? block->operands : NULL;
}

const sn_flow *sn_block_flows(sn_block *block, unsigned index, unsigned *count) {
    unsigned operand_count;
    const sn_operand *operands = sn_block_operands(block, index, &operand_count);
    int got = sn_flows(&block->insns[index], operands, operand_count, block->flows, SN_FLOW_MOST); /* some have no operands */
    *count = got < 0 ? 0 : (unsigned)got;
    return *count ? block->flows : NULL;
}

#define SAME_FLAG(name) _Static_assert((int)SN_FLAG_##name == (int)SN_FLOW_FLAG_##name, "the same flags")
SAME_FLAG(CARRY);
SAME_FLAG(PARITY);
SAME_FLAG(ADJUST);
SAME_FLAG(ZERO);
SAME_FLAG(SIGN);
SAME_FLAG(OVERFLOW);

unsigned sn_block_flags_read(const sn_block *block, unsigned index) { return block->insns[index].flags_read; }

void sn_count_entry(sn_block *block, sn_counter counter, uint32_t amount) {
    if (block->entry_count == SN_MOST_ENTRY_COUNTERS)
        sn_fail(SN_STATUS_ENGINE, "the tool counts more than %u things at one block's entry", SN_MOST_ENTRY_COUNTERS);
    block->entry[block->entry_count++] = (sn_counter_use){counter, amount};
    block->instrumented = true;
}

void sn_count_taken(sn_block *block, unsigned index, sn_counter counter, uint32_t amount) {
    block->taken[index] = (sn_counter_use){counter, amount};
    block->instrumented = true;
}

bool sn_branch_goes_back(const sn_block *block, unsigned index) {
    const sn_instruction *branch = &block->views[index];
    return branch->kind == SN_KIND_CONDITIONAL && branch->target <= branch->address;
}

void sn_count_rarer(sn_block *block, unsigned index, sn_counter counter) {
    if (!sn_branch_goes_back(block, index)) {
        sn_count_taken(block, index, counter, 1);
        return;
    }
    uint8_t old_index = block->analysis.index, old_when = block->analysis.when;
    sn_insert_after(block, index);
    sn_count(block, counter, sn_constant(block, 1));
    block->analysis.index = old_index;
    block->analysis.when = old_when;
}

void sn_count_iterations(sn_block *block, unsigned index, sn_counter iterations, sn_counter empty) {
    block->iterations[index] = (sn_iteration_use){true, iterations, empty};
    block->instrumented = true;
}

bool sn_block_begins_function(const sn_block *block, unsigned index) { return block->functions >> index & 1; }

bool sn_block_uses_below_stack(const sn_block *block, unsigned index) {
    enum { PIECE = 256, MOST = 4096 };
    uint8_t code[MOST];
    size_t size = 0;
    uint64_t start = block->insns[index].pc;
    while (size < MOST && sn_copy_safely(code + size, (const void *)(start + size), PIECE)) size += PIECE;
    if (size < MOST) /* the last page ends within a piece */
        while (size < MOST && (start + size) % SN_PAGE_SIZE && sn_copy_safely(code + size, (const void *)(start + size), 1)) size++;
    return sn_uses_below_stack(code, size, start);
}

uint64_t sn_block_reached_in(const sn_block *block) { return block->reached_in; }

unsigned sn_block_stub_size(const sn_block *block) {
    unsigned jump = sn_stub_jump(block->insns, block->count);
    bool is_function = block->functions & 1; /* with a name of its own */
    return jump < block->count && !is_function ? jump + 1 : 0;
}

void sn_block_set_data(sn_block *block, void *data) { block->data = data; }
