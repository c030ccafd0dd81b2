/**
 * @fileoverview Calls of hooked functions where contexts are found by unwinding stacks (unwind.h): their frames are the only ones
 * on the shadow stack. See hooks.h. Runs in the code cache: calls nothing outside, compiled for general registers only.
 *
 * A call ends when its return address is reached with the stack pointer just above where it lay. One that was left by a jump is
 * found out at the next call of a hooked function: it was made at a lower stack pointer, or its return address is no longer
 * there. Where one hooked function goes on in another one (a tail call), both have the same return address.
 */
#include "service/context_tree.h"
#include "service/hooks.h"
#include "service/shadow_stack.h"
#include "service/unwind.h"

sn_slot sn_hook_unwound_stack_slot, sn_hook_unwound_frame_slot;

static sn_call_frame *end_of(sn_thread *thread) { return (sn_call_frame *)thread->slots[sn_shadow.slots.end]; }

/** Where the return address ends. */
static uint64_t slot_of(const sn_call_frame *frame) { return frame->slot & ~SN_FRAME_MARKS; }

static void drop(sn_thread *thread, sn_call_frame *frame, uint64_t *result) {
    if (frame->slot & SN_FRAME_HOOKED) sn_hook_left_with(thread, frame, result);
    thread->slots[sn_shadow.slots.end] = (uint64_t)frame;
}

/** Whether the call of a frame has been left by a jump, now that `target` is called with the return address at
    `stack_pointer`. */
static bool is_left(sn_thread *thread, const sn_call_frame *frame, uint64_t stack_pointer, uint64_t target) {
    uint64_t at = slot_of(frame) - SN_RETURN_ADDRESS_SIZE;
    if (at < stack_pointer || (at == stack_pointer && frame->target == target)) return true;
    return !sn_unwind_can_read(thread, at) || *(const uint64_t *)at != sn_shadow.sites[frame->site].return_address;
}

/** Frames of calls that go on stay: those of callers, and of who was interrupted on another stack. */
static void drop_left(sn_thread *thread, uint64_t stack_pointer, uint64_t target) {
    for (sn_call_frame *frame = end_of(thread) - 1; frame->slot != UINT64_MAX; frame--) {
        if (!is_left(thread, frame, stack_pointer, target)) return;
        drop(thread, frame, 0);
    }
}

/** Unlike where the stack has just been unwound, that its memory is not known says nothing. */
static bool is_surely_left(sn_thread *thread, const sn_call_frame *frame, uint64_t stack_pointer) {
    uint64_t at = slot_of(frame) - SN_RETURN_ADDRESS_SIZE;
    if (at < stack_pointer) return true;
    return sn_unwind_can_read(thread, at) && *(const uint64_t *)at != sn_shadow.sites[frame->site].return_address;
}

void sn_hook_unwound_drop_left(sn_thread *thread) {
    uint64_t stack_pointer = sn_hook_stack_pointer(thread);
    for (sn_call_frame *frame = end_of(thread) - 1; frame->slot != UINT64_MAX; frame--) {
        if (!is_surely_left(thread, frame, stack_pointer)) return;
        drop(thread, frame, 0);
    }
}

/** The frame of a call from `site`, with this context. */
static void push(sn_thread *thread, const sn_hook_place *place, uint64_t stack_pointer, uint64_t frame_pointer, uint32_t site,
                 uint32_t context) {
    const sn_call_frame *last = end_of(thread) - 1;
    if (place->follows && slot_of(last) == stack_pointer + SN_RETURN_ADDRESS_SIZE && last->target == place->address) return;
    drop_left(thread, stack_pointer, place->address);
    sn_call_frame *frame = end_of(thread);
    frame->slot = stack_pointer + SN_RETURN_ADDRESS_SIZE;
    frame->site = site;
    frame->target = place->address;
    frame->data = frame_pointer;
    frame->context = context;
    thread->slots[sn_shadow.slots.end] = (uint64_t)(frame + 1);
}

/** The context of what is called from where `step` is, in a function with the context `caller`. */
static uint32_t called_from(sn_unwind_step *step, uint32_t caller, uint64_t target) {
    return step ? sn_context_node_known(step->memos, caller, step->site, target)
                : sn_context_node_of(caller, SN_SITE_NONE, target);
}

void sn_hook_unwound_push(sn_thread *thread, const sn_hook_place *place, uint64_t stack_pointer, uint64_t frame_pointer,
                          uint32_t caller) {
    sn_unwind_step *step = sn_unwind_find(sn_unwind_key(*(const uint64_t *)stack_pointer, false));
    push(thread, place, stack_pointer, frame_pointer, step ? step->site : SN_SITE_NONE, called_from(step, caller, place->address));
}

/** The step that the call returns to, and the context that it has; NULL if something must be found out first. */
static sn_unwind_step *find_caller(sn_thread *thread, const sn_unwind_start *caller, uint64_t target, uint32_t *context) {
    sn_unwind_known *known = sn_unwind_find_known(thread, caller);
    if (!known) {
        if (!sn_unwind(thread, caller, context)) return 0;
        known = sn_unwind_note_known(thread, caller, *context);
    }
    sn_unwind_step *step = known ? known->step : sn_unwind_innermost(sn_unwind_chain_of(thread));
    *context = known ? sn_unwind_called_from(known, target) : called_from(step, *context, target);
    return step;
}

/** False if something must be found out first. */
static bool find_frame(sn_thread *thread, const sn_hook_place *place, uint64_t stack_pointer, uint64_t frame_pointer) {
    sn_unwind_start caller;
    uint32_t context = 0;
    if (sn_hooks_call && sn_hook_has_frame(thread, place->address, stack_pointer)) return true;
    caller.address = *(const uint64_t *)stack_pointer;
    caller.stack = stack_pointer + SN_RETURN_ADDRESS_SIZE;
    caller.frame = frame_pointer;
    caller.is_exact = false;
    sn_unwind_step *step = find_caller(thread, &caller, place->address, &context);
    if (!step || !__atomic_load_n(&step->is_watched, __ATOMIC_ACQUIRE)) return false;
    push(thread, place, stack_pointer, frame_pointer, step->site, context);
    return true;
}

/** Behind `begin`: a call whose end nobody wants is over. */
static void keep(sn_thread *thread) {
    sn_call_frame *frame = end_of(thread) - 1, *below = frame - 1;
    if (frame->slot == UINT64_MAX) return;
    uint64_t slowly = below->slot != UINT64_MAX && slot_of(below) == slot_of(frame) ? below->slot & SN_FRAME_SLOWLY : 0;
    if (slowly) frame->slot |= SN_FRAME_HOOKED | SN_FRAME_SLOWLY;
    if (!(frame->slot & SN_FRAME_HOOKED)) drop(thread, frame, 0);
}

void sn_hook_unwound_keep(sn_thread *thread) { keep(thread); }

static void enter(sn_thread *thread, const sn_hook_place *place, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    sn_hook_enter(thread, place, a, b, c, d);
    if (!sn_hook_calling(thread, place->address)) keep(thread);
}

void sn_hook_unwound_entered(sn_thread *thread, const sn_hook_place *place, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    enter(thread, place, a, b, c, d);
}

uint64_t sn_hook_unwound_call(sn_thread *thread, const sn_hook_place *place, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    uint64_t stack = thread->slots[sn_hook_unwound_stack_slot], frame = thread->slots[sn_hook_unwound_frame_slot];
    if (!find_frame(thread, place, stack, frame)) return 1;
    enter(thread, place, a, b, c, d);
    return 0;
}

uint64_t sn_hook_unwound_call_with_one(sn_thread *thread, const sn_hook_place *place, uint64_t a) {
    return sn_hook_unwound_call(thread, place, a, 0, 0, 0);
}

void sn_hook_unwound_drop(sn_thread *thread, uint64_t slot, uint64_t *result) {
    for (sn_call_frame *frame = end_of(thread) - 1; frame->slot != UINT64_MAX && slot_of(frame) == slot; frame--)
        drop(thread, frame, result);
}

void sn_hook_unwound_returned(sn_thread *thread, uint64_t data, uint64_t slot, uint64_t expected, uint64_t stack_pointer) {
    (void)data, (void)slot, (void)expected;
    uint64_t before = sn_hook_result(thread), result = before;
    sn_hook_unwound_drop(thread, stack_pointer, &result);
    if (result != before) sn_hook_set_result(thread, result);
}
