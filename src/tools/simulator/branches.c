/**
 * @fileoverview The simulation of branch predictors. See branches.h.
 */
#include "branches.h"

#include "words.h"

/** The words of conditional branches: this one, plus twice the site, plus 1 if it was taken. Behind them those of indirect ones,
    by site. As numbers of 32 bits with a sign, they take one instruction to append. */
#define CONDITIONAL UINT64_C(0xffffffff80000000)
#define INDIRECT (CONDITIONAL + 2 * (uint64_t)CACHE_WORD_NUMBERS)

static sn_trace *trace;

void cache_branches_start(void (*batch)(const sn_batch *batch)) {
    trace = sn_trace_new(&(sn_trace_options){.record_size = sizeof(uint64_t), .batch = batch});
}

sn_trace *cache_branches_trace(void) {
    return trace;
}

static void append(sn_block *block, sn_value word) {
    sn_trace_append(block, trace, 1, &(sn_field){.offset = 0, .size = sizeof(uint64_t), .value = word});
}

void cache_branches_trace_conditional(sn_block *block, unsigned index, uint32_t site) {
    sn_insert_taken(block, index);
    append(block, sn_constant(block, CONDITIONAL + 2 * (uint64_t)site + 1));
    sn_insert_after(block, index);
    append(block, sn_constant(block, CONDITIONAL + 2 * (uint64_t)site));
}

/** The operand that an indirect branch reads its target from is the first explicit one. Reading it may fault, and then nothing
    has been appended. */
void cache_branches_trace_indirect(sn_block *block, unsigned index, uint32_t site) {
    unsigned count;
    const sn_operand *operands = sn_block_operands(block, index, &count);
    for (unsigned i = 0; i < count; i++) {
        if (operands[i].is_explicit && operands[i].size == 8 && sn_operand_is_readable(&operands[i])) {
            sn_insert_before(block, index);
            sn_value target = sn_operand_value(block, i);
            append(block, sn_constant(block, INDIRECT + site));
            append(block, target);
            return;
        }
    }
}

static void count(cache_branches *branches, uint32_t site, bool is_wrong, unsigned kind) {
    if (branches->ignores) {
        return;
    }
    branches->totals.counts[kind]++;
    branches->totals.counts[kind + 1] += is_wrong;
    if (is_wrong) {
        cache_site_counters(&branches->sites, site)[CACHE_SITE_MISPREDICTED]++;
    }
}

static void take_target(cache_branches *branches, uint64_t target) {
    uint32_t site = branches->indirect - 1;
    bool is_wrong = cache_predictor_indirect(&branches->predictor, cache_site_address(site), target);
    branches->indirect = 0;
    count(branches, site, is_wrong, CACHE_INDIRECT_BRANCHES);
}

static void take_conditional(cache_branches *branches, uint64_t number) {
    uint32_t site = (uint32_t)(number / 2);
    bool is_wrong = cache_predictor_conditional(&branches->predictor, cache_site_address(site), number % 2 != 0);
    count(branches, site, is_wrong, CACHE_CONDITIONAL_BRANCHES);
}

void cache_branches_simulate(cache_branches *branches, const sn_batch *batch) {
    const uint64_t *words = batch->records;
    for (size_t i = 0; i < batch->count; i++) {
        if (branches->indirect != 0) {
            take_target(branches, words[i]);
        } else if (words[i] >= INDIRECT) {
            branches->indirect = (uint32_t)(words[i] - INDIRECT) + 1;
        } else if (words[i] >= CONDITIONAL) {
            take_conditional(branches, words[i] - CONDITIONAL);
        } else if (branches->watcher.frame != NULL && cache_frame_take(&branches->frame, words[i])) {
            branches->watcher.frame(branches->watcher.data, &branches->frame, &branches->totals);
        }
    }
}
