/**
 * @fileoverview Sampling of values: bursts in which they are recorded, and between them bare code. These are the two versions of
 * the code (jit/versions.h); each thread changes between them by itself.
 */
#include "base/log.h"
#include "service/values.h"

int64_t sn_values_sample_on, sn_values_sample_off;

enum { BARE, RECORDING };

static bool is_on;

void sn_values_sampling_start(void) {
    if (sn_values_sample_on < 0 || sn_values_sample_off < 0)
        sn_fail(2, "--sample-on and --sample-off are numbers of instructions, not below 0");
    if (sn_values_sample_off && !sn_values_sample_on) sn_fail(2, "--sample-off needs --sample-on");
    is_on = sn_values_sample_on && sn_values_sample_off;
    if (!is_on) return;
    sn_versions_start(&(sn_versions){.instructions = {[BARE] = sn_values_sample_off, [RECORDING] = sn_values_sample_on},
                                     .first = RECORDING});
    if (sn_values.has_context) sn_contexts_only_in(RECORDING);
}

bool sn_values_sampling_records(const sn_block *block) { return !is_on || sn_block_version(block) == RECORDING; }

bool sn_values_sampling_is_recording(const sn_thread *thread) { return !is_on || sn_thread_version(thread) == RECORDING; }
