/**
 * @fileoverview Sizes of stacks. See stacks.h.
 */
#include "stacks.h"

#include "settings.h"

/** The frames of calls have the places of their return addresses. */
static void add_stack(sn_thread *thread, void *sum) {
    sn_call_frame *frame = sn_call_frame_of(thread);
    uint64_t last = sn_call_frame_slot(frame), first = last;
    while (sn_call_frame_below(frame) != NULL) {
        first = sn_call_frame_slot(frame);
        frame = sn_call_frame_below(frame);
    }
    *(uint64_t *)sum += first - last;
}

uint64_t heap_stacks_size(sn_thread *thread) {
    uint64_t sum = 0;
    (void)thread;
    if (heap_current.counts_stacks) {
        sn_threads_visit(add_stack, &sum);
    }
    return sum;
}
