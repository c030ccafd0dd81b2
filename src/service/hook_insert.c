/**
 * @fileoverview The code in front of hooked functions, and in front of returns while a slow hook is there. See hooks.h.
 */
#include "service/hooks.h"
#include "service/shadow_stack.h"
#include "service/unwind.h"

static bool is_own(const sn_hook_place *place) { return sn_hooks_service && sn_hooks_service->is_own(place->hook); }

/** Call a function of the thread, the place, and the hooked function's arguments: `with_one` if only the first one matters. */
static sn_value call_fast(sn_block *block, const sn_hook_place *place, void *with_all, void *with_one) {
    bool is_one = is_own(place) && sn_hooks_service->argument_count(place->hook) <= 1;
    unsigned count = is_one ? 1 : SN_HOOK_ARGUMENTS;
    sn_value arguments[2 + SN_HOOK_ARGUMENTS] = {sn_current_thread(block), sn_constant(block, (uint64_t)(uintptr_t)place)};
    for (unsigned i = 0; i < count; i++) arguments[2 + i] = sn_register_value(block, sn_hook_argument_registers[i]);
    return sn_call_fast(block, is_one ? with_one : with_all, 2 + count, arguments);
}

static void insert_fast(sn_block *block, const sn_hook_place *place) {
    void *with_one = is_own(place) ? (void *)sn_hooks_service->begins_simply(place->hook) : NULL;
    call_fast(block, place, (void *)sn_hook_entered, with_one ? with_one : (void *)sn_hook_entered_with_one);
}

/** A service's own functions: it may have something to do in the engine before. */
static void insert_service(sn_block *block, sn_hook_place *place) {
    if (!place->owner) place->owner = sn_hooks_service->prepare(place);
    sn_label is_usual = sn_label_new(block);
    if (!sn_hooks_service->always_attends(place)) {
        sn_value own = sn_slot_load(block, sn_hooks_service->own_attends);
        sn_value all = sn_load(block, sn_constant(block, (uint64_t)(uintptr_t)sn_hooks_service->attends), 0, 8);
        sn_value attends = sn_compute(block, SN_OR, own, all);
        sn_branch_if(block, SN_EQUAL, attends, sn_constant(block, 0), is_usual);
    }
    sn_value arguments[] = {sn_current_thread(block), sn_constant(block, (uint64_t)(uintptr_t)place)};
    sn_call(block, (void *)sn_hooks_service->attend, 2, arguments);
    sn_label_here(block, is_usual);
}

void sn_hooks_insert_entry(sn_block *block, unsigned index, uint64_t address) {
    for (sn_hook_place *place = sn_hooks_at(address); place; place = place->next) {
        sn_insert_before(block, index);
        if (is_own(place)) insert_service(block, place);
        if (place->hook->way == SN_HOOK_FAST) {
            insert_fast(block, place);
        } else {
            sn_value arguments[] = {sn_current_thread(block), sn_constant(block, (uint64_t)(uintptr_t)place)};
            sn_call(block, (void *)sn_hook_begin_slowly, 2, arguments);
        }
    }
}

/* ----------------------------------------------------------------------- contexts found by unwinding */

static void insert_unwound_entry(sn_block *block, unsigned index, sn_hook_place *place) {
    sn_insert_before(block, index);
    if (is_own(place)) insert_service(block, place);
    if (!place->needs_frame) {
        insert_fast(block, place);
        return;
    }
    sn_label is_known = sn_label_new(block);
    sn_value thread = sn_current_thread(block), at = sn_constant(block, (uint64_t)(uintptr_t)place);
    if (place->hook->way == SN_HOOK_SLOW) {
        sn_call(block, (void *)sn_hook_unwound_begin, 2, (const sn_value[]){thread, at});
        return;
    }
    sn_value frame_pointer = sn_register_value(block, sn_unwind_frame_register);
    sn_slot_store(block, sn_hook_unwound_stack_slot, sn_stack_pointer(block));
    sn_slot_store(block, sn_hook_unwound_frame_slot, frame_pointer);
    sn_value must_ask = call_fast(block, place, (void *)sn_hook_unwound_call, (void *)sn_hook_unwound_call_with_one);
    sn_branch_if(block, SN_EQUAL, must_ask, sn_constant(block, 0), is_known);
    sn_value arguments[2 + SN_HOOK_ARGUMENTS] = {thread, at};
    sn_call(block, (void *)sn_hook_unwound_begins_slowly, 2, arguments);
    for (unsigned i = 0; i < SN_HOOK_ARGUMENTS; i++) /* anew: else they would be kept for this all the time */
        arguments[2 + i] = sn_register_value(block, sn_hook_argument_registers[i]);
    sn_call_fast(block, (void *)sn_hook_unwound_entered, 2 + SN_HOOK_ARGUMENTS, arguments);
    sn_label_here(block, is_known);
}

/** A call whose end is told has its return address here, and returns, if the stack pointer is just above that. */
static void insert_unwound_return(sn_block *block, unsigned index) {
    sn_insert_before(block, index);
    sn_value last = sn_load(block, sn_slot_load(block, sn_shadow.slots.end),
                            (int32_t)offsetof(sn_call_frame, slot) - (int32_t)sizeof(sn_call_frame), 8);
    sn_value here = sn_stack_pointer(block);
    if (sn_hooks_want_returns()) {
        sn_label is_usual = sn_label_new(block);
        sn_value thread = sn_current_thread(block);
        sn_value slow = sn_compute(block, SN_ADD, here, sn_constant(block, SN_FRAME_HOOKED | SN_FRAME_SLOWLY));
        sn_branch_if(block, SN_NOT_EQUAL, last, slow, is_usual);
        sn_call(block, (void *)sn_hook_unwound_end, 1, &thread);
        sn_label_here(block, is_usual);
    }
    sn_value fast = sn_compute(block, SN_ADD, here, sn_constant(block, SN_FRAME_HOOKED));
    sn_call_fast_if(block, SN_EQUAL, last, fast, (void *)sn_hook_unwound_returned, 0);
}

void sn_hooks_insert_unwound(sn_block *block) {
    for (unsigned i = 0; i < block->count; i++) {
        const sn_instruction *view = &block->views[i];
        if (sn_unwind_is_watched(view->address)) insert_unwound_return(block, i);
        bool follows = false;
        for (sn_hook_place *place = sn_hooks_at(view->address); place; place = place->next) {
            place->follows = follows;
            follows |= place->needs_frame;
            insert_unwound_entry(block, i, place);
        }
        if (view->kind == SN_KIND_CALL || view->kind == SN_KIND_CALL_INDIRECT)
            sn_unwind_note_call(view->address, view->address + view->length);
    }
}

void sn_hooks_insert_return(sn_block *block, sn_value slot) {
    enum { LOW_MARKS = 3 }; /* a tail call's frame has other marks there, and addresses are multiples of 8 */
    sn_label is_usual = sn_label_new(block);
    sn_value last = sn_load(block, sn_slot_load(block, sn_shadow.slots.end),
                            (int32_t)offsetof(sn_call_frame, slot) - (int32_t)sizeof(sn_call_frame), 8);
    sn_value found = sn_compute(block, SN_SHIFT_RIGHT, last, sn_constant(block, LOW_MARKS));
    sn_value wanted = sn_compute(block, SN_SHIFT_RIGHT, slot, sn_constant(block, LOW_MARKS));
    sn_value marks = sn_constant(block, SN_FRAME_HOOK_MARKS >> LOW_MARKS);
    sn_branch_if(block, SN_NOT_EQUAL, sn_compute(block, SN_SUBTRACT, found, wanted), marks, is_usual);
    sn_value thread = sn_current_thread(block);
    sn_call(block, (void *)sn_hook_end_slowly, 1, &thread);
    sn_label_here(block, is_usual);
}
