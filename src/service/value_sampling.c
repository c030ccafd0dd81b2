/**
 * @fileoverview Sampling of values: bursts in which they are recorded, and between them code that only counts instructions.
 *
 * Instructions are counted by a trace of their own, a byte for each few of them: a block moves on its pointer, and stores a
 * single byte, so that the buffer's end is noticed. Each full buffer is counted down; the first thread to arrive at zero
 * switches for all, and every thread begins a new count. Contexts are followed throughout. The buffer is small because it takes
 * the place of the program's data in the processor's second cache: one of a megabyte made a multiplication of matrices
 * twice as slow.
 */
#include "base/lock.h"
#include "base/log.h"
#include "jit/analysis.h"
#include "service/values.h"

int64_t sn_values_sample_on, sn_values_sample_off;

/** Instructions that a byte stands for; bytes of the buffer. */
enum { TICK = 4, SMALLEST_BUFFER = 1 << 12, LARGEST_BUFFER = 1 << 17 };

static bool is_on;
static sn_trace *ticks;
static sn_lock lock;
static _Atomic bool is_recording = true;
static _Atomic uint64_t phase = 1; /**< how often it was switched, plus 1 */

static void switch_over(uint64_t from) {
    sn_lock_acquire(&lock);
    if (phase == from) { /* else another thread has just done it */
        is_recording = !is_recording;
        phase++;
        sn_instrumentation_renew();
    }
    sn_lock_release(&lock);
}

/** So many ticks. */
static void take_ticks(const sn_batch *batch) {
    sn_value_countdown *mine = batch->thread_data ? sn_values_countdown_of(batch->thread_data) : NULL;
    if (!mine) return;
    uint64_t now = phase;
    if (mine->phase != now)
        *mine = (sn_value_countdown){.phase = now, .left = is_recording ? sn_values_sample_on : sn_values_sample_off};
    mine->left -= (int64_t)batch->count * TICK;
    if (mine->left <= 0) switch_over(now);
}

void sn_values_sampling_start(void) {
    if (sn_values_sample_on < 0 || sn_values_sample_off < 0)
        sn_fail(2, "--sample-on and --sample-off are numbers of instructions, not below 0");
    if (sn_values_sample_off && !sn_values_sample_on) sn_fail(2, "--sample-off needs --sample-on");
    is_on = sn_values_sample_on && sn_values_sample_off;
    if (!is_on) return;
    int64_t shorter = sn_values_sample_on < sn_values_sample_off ? sn_values_sample_on : sn_values_sample_off;
    int64_t size = shorter / TICK;
    size = size < SMALLEST_BUFFER ? SMALLEST_BUFFER : size > LARGEST_BUFFER ? LARGEST_BUFFER : size;
    ticks = sn_trace_new(&(sn_trace_options){.record_size = 1, .buffer_size = (size_t)size, .batch = take_ticks});
}

bool sn_values_sampling_instrument(sn_block *block) {
    if (!is_on) return true;
    unsigned count = (sn_block_size(block) + TICK / 2) / TICK;
    sn_insert_before(block, 0);
    for (unsigned i = 1; i < count; i++) sn_trace_append(block, ticks, 0, NULL);
    sn_trace_append(block, ticks, 1, &(sn_field){.offset = 0, .size = 1, .value = sn_constant(block, 0)});
    return is_recording;
}
