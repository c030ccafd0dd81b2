/**
 * @fileoverview Slow hooks, which run in the engine and may change what the client does; and the memory of threads. See hooks.h.
 */
#include <sys/mman.h>

#include "base/log.h"
#include "guest/request.h"
#include "guest/thread.h"
#include "service/contexts.h"
#include "service/hooks.h"
#include "service/shadow_stack.h"
#include "service/unwind.h"

/** Room for calls in progress, committed as it is touched. Calls beyond it are not seen. */
#define STACK_SIZE (UINT64_C(1) << 26)

void sn_hooks_thread_begins(sn_thread *thread) {
    if (!sn_hooks_are_on()) return;
    sn_hook_stack *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED) sn_fail(SN_STATUS_ENGINE, "no address space for the calls of hooked functions");
    stack->end = stack->records;
    stack->limit = stack->records + (STACK_SIZE - sizeof *stack) / sizeof *stack->records;
    thread->slots[sn_hook_slot] = (uint64_t)stack;
    if (sn_hooks_service) sn_hooks_service->thread_begins(thread);
}

void sn_hooks_thread_ends(sn_thread *thread) {
    if (!sn_hooks_are_on()) return;
    if (sn_hooks_service) sn_hooks_service->thread_ends(thread);
    munmap((void *)thread->slots[sn_hook_slot], STACK_SIZE);
    thread->slots[sn_hook_slot] = 0;
}

void sn_hooks_thread_forgets(sn_thread *thread) {
    if (!sn_hooks_are_on()) return;
    sn_hook_stack *stack = (sn_hook_stack *)thread->slots[sn_hook_slot];
    stack->end = stack->records;
    if (sn_hooks_service) sn_hooks_service->thread_forgets(thread);
}

static sn_hook_record *record_of(const sn_hooked_call *call) { return (sn_hook_record *)call; }

void sn_hook_return(sn_hooked_call *call, uint64_t result) {
    call->result = result;
    record_of(call)->outcome = SN_HOOK_RETURNS;
}

void sn_hook_continue_at(sn_hooked_call *call, uint64_t function) {
    record_of(call)->elsewhere = function;
    record_of(call)->outcome = SN_HOOK_CONTINUES;
}

bool sn_hook_call(sn_thread *thread, sn_hooked_call *call, uint64_t function, const uint64_t *arguments, unsigned count) {
    if (!sn_client_call(thread, function, arguments, count < SN_HOOK_ARGUMENTS ? count : SN_HOOK_ARGUMENTS)) return false;
    record_of(call)->outcome = SN_HOOK_CALLS;
    __atomic_store_n(&sn_hooks_call, true, __ATOMIC_RELAXED);
    record_of(call)->returns_at = sn_thread_stack_pointer(thread) + SN_RETURN_ADDRESS_SIZE;
    return true;
}

bool sn_hook_answer(const sn_hooked_call *call, uint64_t *result) {
    const sn_hook_record *record = record_of(call);
    if (record->outcome != SN_HOOK_ANSWERED) return false;
    *result = record->answer;
    return true;
}

uint64_t sn_hook_function(const sn_hooked_call *call) { return record_of(call)->place->address; }

/** The record of a call whose hook has functions called, if the thread is in it. */
static sn_hook_record *calling(sn_thread *thread, const sn_hook_place *place) {
    sn_hook_record *record = (sn_hook_record *)sn_hook_calling(thread, place->address);
    return record && record->place == place ? record : NULL;
}

/** Go back to the caller in the function's place: its frames go, as by a return. */
static void return_now(sn_thread *thread, sn_hook_record *record) {
    uint64_t result = record->call.result, slot = sn_thread_stack_pointer(thread);
    sn_hook_keep(thread, record, false);
    sn_hook_go_back(thread, result);
    if (sn_contexts_are_unwound()) sn_hook_unwound_drop(thread, slot + SN_RETURN_ADDRESS_SIZE, &result);
    else sn_shadow_returned(thread, slot);
}

static void carry_out(sn_thread *thread, sn_hook_record *record, bool wants_end) {
    switch (record->outcome) {
    case SN_HOOK_CALLS:
        return;
    case SN_HOOK_RETURNS:
        return_now(thread, record);
        return;
    case SN_HOOK_CONTINUES:
        thread->pc = record->elsewhere;
        thread->redirected = true;
        break;
    case SN_HOOK_GOES_ON:
    case SN_HOOK_ANSWERED:
        break;
    }
    record->outcome = SN_HOOK_GOES_ON;
    for (unsigned i = 0; i < SN_HOOK_ARGUMENTS; i++)
        thread->general[sn_hook_argument_registers[i]] = record->call.arguments[i];
    sn_hook_keep(thread, record, wants_end);
}

void sn_hook_begin_slowly(sn_thread *thread, const sn_hook_place *place) {
    sn_hook_record *record = calling(thread, place);
    if (!record && sn_hook_calling(thread, place->address)) return; /* another hook's affair */
    if (record) {
        if (!sn_client_call_returned(thread, &record->answer)) return; /* it is the function that it calls */
        record->outcome = SN_HOOK_ANSWERED;
    } else {
        record = sn_hook_push(thread, place);
        if (!record) return;
        for (unsigned i = 0; i < SN_HOOK_ARGUMENTS; i++)
            record->call.arguments[i] = thread->general[sn_hook_argument_registers[i]];
    }
    bool wants_end = place->hook->begin(thread, &record->call);
    carry_out(thread, record, wants_end);
}

/** Tell the end of the frame's slow calls; fast ones are told when the frame goes. */
static void end_frame(sn_thread *thread, sn_hook_stack *stack, const sn_call_frame *frame) {
    for (sn_hook_record *record = stack->end; record-- > stack->records;) {
        sn_hooked_call *call = &record->call;
        if (call->frame != frame || call->hook->way != SN_HOOK_SLOW || record->outcome != SN_HOOK_GOES_ON) continue;
        call->has_returned = true;
        call->result = sn_hook_engine_result(thread);
        call->hook->end(thread, call);
        sn_hook_set_engine_result(thread, call->result);
        record->outcome = SN_HOOK_RETURNS; /* told */
    }
}

void sn_hook_end_slowly(sn_thread *thread) {
    sn_hook_stack *stack = (sn_hook_stack *)thread->slots[sn_hook_slot];
    uint64_t slot = sn_thread_stack_pointer(thread) + SN_RETURN_ADDRESS_SIZE;
    for (sn_call_frame *frame = sn_call_frame_of(thread); frame && (frame->slot & ~SN_FRAME_MARKS) == slot;
         frame = sn_call_frame_below(frame))
        if (frame->slot & SN_FRAME_SLOWLY) end_frame(thread, stack, frame);
}

/* ------------------------------------------------------------------------------- contexts found by unwinding */

void sn_hook_unwound_begins_slowly(sn_thread *thread, const sn_hook_place *place) {
    sn_unwind_start here = sn_unwind_start_of(thread);
    uint64_t return_address = *(const uint64_t *)here.stack;
    const sn_unwind_start caller = {.address = return_address, .stack = here.stack + SN_RETURN_ADDRESS_SIZE, .frame = here.frame};
    sn_unwind_watch(return_address);
    /* Now it is known, or else it can't be: then the context has the function alone. */
    sn_hook_unwound_push(thread, place, here.stack, here.frame, sn_unwind_slowly(thread, &caller));
}

void sn_hook_unwound_begin(sn_thread *thread, const sn_hook_place *place) {
    uint64_t slot = sn_thread_stack_pointer(thread) + SN_RETURN_ADDRESS_SIZE;
    if (!sn_hook_has_frame(thread, place->address, slot - SN_RETURN_ADDRESS_SIZE)) sn_hook_unwound_begins_slowly(thread, place);
    sn_hook_begin_slowly(thread, place);
    const sn_call_frame *last = sn_call_frame_of(thread);
    bool is_there = (last->slot & ~SN_FRAME_MARKS) == slot && last->target == place->address; /* it has not returned */
    if (is_there && !calling(thread, place)) sn_hook_unwound_keep(thread);
}

void sn_hook_unwound_end(sn_thread *thread) {
    sn_hook_stack *stack = (sn_hook_stack *)thread->slots[sn_hook_slot];
    uint64_t slot = sn_thread_stack_pointer(thread), result;
    for (sn_call_frame *frame = sn_call_frame_of(thread); frame && (frame->slot & ~SN_FRAME_MARKS) == slot;
         frame = sn_call_frame_below(frame))
        if (frame->slot & SN_FRAME_SLOWLY) end_frame(thread, stack, frame);
    result = sn_hook_engine_result(thread);
    sn_hook_unwound_drop(thread, slot, &result);
    sn_hook_set_engine_result(thread, result);
}
