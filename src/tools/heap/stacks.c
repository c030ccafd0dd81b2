/**
 * @fileoverview Sizes of stacks. See stacks.h.
 */
#include "stacks.h"

#include "settings.h"

/** The frames of calls have the places of their return addresses. A thread that is just beginning has none yet. */
static void add_stack(sn_thread *thread, void *sum) {
    if (sn_thread_data(thread) == NULL) {
        return;
    }
    sn_call_frame *frame = sn_call_frame_of(thread);
    uint64_t last = sn_call_frame_slot(frame), first = last;
    while (sn_call_frame_below(frame) != NULL) {
        first = sn_call_frame_slot(frame);
        frame = sn_call_frame_below(frame);
    }
    *(uint64_t *)sum += first - last;
}

static void add_stacks(void *sum) {
    sn_threads_visit(add_stack, sum);
}

void heap_stacks_begin(sn_thread *thread) {
    static char has_begun;
    sn_thread_set_data(thread, &has_begun);
}

uint64_t heap_stacks_size(void) {
    uint64_t sum = 0;
    if (heap_current.counts_stacks) {
        sn_while_still(add_stacks, &sum);
    }
    return sum;
}
