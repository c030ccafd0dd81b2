/**
 * @fileoverview The calls of hooked functions that have not ended, and the beginning and end of fast ones: see hooks.h.
 * Runs in the code cache too: calls nothing outside, and is compiled for general registers only.
 */
#include "service/hooks.h"

sn_slot sn_hook_slot;
bool sn_hooks_call;

const sn_hook_record *sn_hook_search_calling(sn_thread *thread, uint64_t address) {
    const sn_hook_stack *stack = sn_hook_stack_of(thread);
    const sn_call_frame *frame = sn_shadow_last(thread);
    for (const sn_hook_record *record = stack->end; record-- > stack->records && record->call.frame == frame;)
        if (record->place->address == address && record->outcome == SN_HOOK_CALLS) return record;
    return 0;
}

bool sn_hook_has_frame(sn_thread *thread, uint64_t address, uint64_t stack_pointer) {
    const sn_hook_record *record = sn_hook_calling(thread, address);
    return record && (stack_pointer == record->returns_at || *(const uint64_t *)stack_pointer == address);
}

void sn_hook_entered(sn_thread *thread, const sn_hook_place *place, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    sn_hook_enter(thread, place, a, b, c, d);
}

void sn_hook_entered_with_one(sn_thread *thread, const sn_hook_place *place, uint64_t a) {
    sn_hook_enter(thread, place, a, 0, 0, 0);
}

/** Tell the end of one call; a fast one may change what is returned. `result` is NULL if it was left by a jump. */
static void tell_end(sn_thread *thread, sn_hook_record *record, const uint64_t *result) {
    sn_hooked_call *call = &record->call;
    call->has_returned = result != 0;
    if (result) call->result = *result;
    call->hook->end(thread, call);
}

void sn_hook_left_with(sn_thread *thread, sn_call_frame *frame, uint64_t *result) {
    sn_hook_stack *stack = sn_hook_stack_of(thread);
    frame->slot &= ~SN_FRAME_HOOK_MARKS;
    sn_hook_record *record = stack->end;
    /* Calls on another stack of the client may lie above. */
    while (record > stack->records && record[-1].call.frame != frame) record--;
    for (; record > stack->records && record[-1].call.frame == frame; record--) {
        record[-1].call.frame = NULL;
        if (record[-1].outcome != SN_HOOK_GOES_ON) continue;
        tell_end(thread, &record[-1], result);
        if (result) *result = record[-1].call.result;
    }
    while (stack->end > stack->records && !stack->end[-1].call.frame) stack->end--;
}

void sn_hook_left(sn_thread *thread, sn_call_frame *frame, bool returns) {
    uint64_t before = returns ? sn_hook_result(thread) : 0, result = before;
    sn_hook_left_with(thread, frame, returns ? &result : NULL);
    if (result != before) sn_hook_set_result(thread, result);
}
