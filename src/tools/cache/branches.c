/**
 * @fileoverview The simulation of branch predictors. See branches.h.
 */
#include "branches.h"

enum { NOT_TAKEN, TAKEN, INDIRECT };

/** A record of the trace. */
typedef struct passed_branch {
    uint64_t target; /**< of an indirect one */
    uint32_t site;
    uint32_t way;
} passed_branch;

static sn_trace *trace;

void cache_branches_start(void (*batch)(const sn_batch *batch)) {
    trace = sn_trace_new(&(sn_trace_options){.record_size = sizeof(passed_branch), .batch = batch});
}

void cache_branches_flush(sn_thread *thread) {
    sn_trace_flush(thread, trace);
}

static void append(sn_block *block, uint32_t site, uint32_t way, sn_value target) {
    const sn_field fields[] = {
        {.offset = offsetof(passed_branch, target), .size = 8, .value = target},
        {.offset = offsetof(passed_branch, site), .size = 4, .value = sn_constant(block, site)},
        {.offset = offsetof(passed_branch, way), .size = 4, .value = sn_constant(block, way)},
    };
    sn_trace_append(block, trace, sizeof fields / sizeof *fields, fields);
}

void cache_branches_trace_conditional(sn_block *block, unsigned index, uint32_t site) {
    sn_insert_taken(block, index);
    append(block, site, TAKEN, sn_constant(block, 0));
    sn_insert_after(block, index);
    append(block, site, NOT_TAKEN, sn_constant(block, 0));
}

/** The operand that an indirect branch reads its target from is the first explicit one. */
void cache_branches_trace_indirect(sn_block *block, unsigned index, uint32_t site) {
    unsigned count;
    const sn_operand *operands = sn_block_operands(block, index, &count);
    for (unsigned i = 0; i < count; i++) {
        if (operands[i].is_explicit && operands[i].size == 8 && sn_operand_is_readable(&operands[i])) {
            sn_insert_before(block, index);
            append(block, site, INDIRECT, sn_operand_value(block, i));
            return;
        }
    }
}

void cache_branches_simulate(cache_branches *branches, const sn_batch *batch) {
    const passed_branch *passed = batch->records;
    for (size_t i = 0; i < batch->count; i++) {
        uint64_t address = cache_site_address(passed[i].site);
        bool is_wrong = passed[i].way == INDIRECT
                            ? cache_predictor_indirect(&branches->predictor, address, passed[i].target)
                            : cache_predictor_conditional(&branches->predictor, address, passed[i].way == TAKEN);
        if (is_wrong) {
            cache_site_counters(&branches->sites, passed[i].site)[CACHE_SITE_MISPREDICTED]++;
        }
    }
}
