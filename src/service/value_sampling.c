/**
 * @fileoverview Sampling of values: bursts in which they are recorded, and between them code that only counts instructions.
 *
 * Each thread counts down, a block at a time; the first one to arrive at zero switches for all, and every thread begins a new
 * count. Contexts are followed throughout.
 */
#include "base/log.h"
#include "base/lock.h"
#include "guest/thread.h"
#include "jit/analysis.h"
#include "service/values.h"

int64_t sn_values_sample_on, sn_values_sample_off;

static bool is_on, is_recording = true;
static sn_slot left; /**< instructions until the next switch */
static sn_lock lock;

static int64_t length(void) { return is_recording ? sn_values_sample_on : sn_values_sample_off; }

void sn_values_sampling_start(void) {
    if (sn_values_sample_on < 0 || sn_values_sample_off < 0)
        sn_fail(2, "--sample-on and --sample-off are numbers of instructions, not below 0");
    if (sn_values_sample_off && !sn_values_sample_on) sn_fail(2, "--sample-off needs --sample-on");
    is_on = sn_values_sample_on && sn_values_sample_off;
    if (!is_on) return;
    left = sn_slot_new();
}

static void begin_count(sn_thread *thread, void *data) {
    (void)data;
    *sn_slot_of(thread, left) = (uint64_t)length();
}

void sn_values_sampling_thread(sn_thread *thread) {
    if (is_on) begin_count(thread, NULL);
}

static void switch_over(sn_thread *thread) {
    sn_lock_acquire(&lock);
    bool is_first = (int64_t)*sn_slot_of(thread, left) < 0; /* else another thread has switched just now */
    if (is_first) {
        is_recording = !is_recording;
        sn_threads_visit(begin_count, NULL);
        begin_count(thread, NULL); /* it may be no thread of the program */
        sn_instrumentation_renew();
    }
    sn_lock_release(&lock);
}

bool sn_values_sampling_instrument(sn_block *block) {
    if (!is_on) return true;
    unsigned size = sn_block_size(block);
    sn_insert_before(block, 0);
    sn_value now = sn_compute(block, SN_SUBTRACT, sn_slot_load(block, left), sn_constant(block, size));
    sn_slot_store(block, left, now);
    sn_label goes_on = sn_label_new(block);
    sn_branch_if(block, SN_NOT_LESS, now, sn_constant(block, 0), goes_on);
    sn_value thread = sn_current_thread(block);
    sn_call(block, (void *)switch_over, 1, &thread);
    sn_label_here(block, goes_on);
    return is_recording;
}
