/**
 * @fileoverview Contexts that are followed in one of two versions of the code only (jit/versions.h): a thread that comes to it has
 * the calls that it is in found by unwinding its stack, and goes on with a shadow stack of these. See contexts.h.
 *
 * Frames found so are those that calls and returns would have left, but for functions that went on in others by a jump, which
 * have left nothing on the stack. Calls on other stacks, those of coroutines that are not running, become known when the
 * thread has next come to this code on them.
 */
#include "base/log.h"
#include "sonde/hash.h"
#include "jit/versions.h"
#include "service/contexts.h"
#include "service/hooks.h"
#include "service/locate.h"
#include "service/unwind.h"

enum { ALL_VERSIONS = SN_VERSIONS };

static unsigned followed = ALL_VERSIONS;
static sn_hash direct_targets; /**< return address -> the function that the call in front of it calls */

void sn_contexts_only_in(unsigned version) {
    if (!sn_contexts_are_on() || sn_contexts_are_unwound() || version >= SN_VERSIONS)
        sn_fail(SN_STATUS_ENGINE, "sn_contexts_only_in() needs sn_contexts_enable(), and a version");
    followed = version;
    sn_unwind_init();
    sn_versions_listen(sn_contexts_version_changes);
    if (!sn_hooks_are_on()) sn_locate_follow(sn_contexts_code_is_used);
}

/** Hooks are called in all code, and their calls end on the shadow stack. */
bool sn_contexts_are_only_in_one(void) { return followed != ALL_VERSIONS && !sn_hooks_are_on(); }

bool sn_contexts_follow_version(unsigned version) { return !sn_contexts_are_only_in_one() || version == followed; }

void sn_contexts_code_is_used(const char *path, uint64_t start, uint64_t end, uint64_t offset) {
    (void)path, (void)offset;
    sn_unwind_forget(start, end);
}

void sn_contexts_note_calls(const sn_block *block) {
    for (unsigned i = 0; i < block->count; i++) {
        const sn_instruction *call = &block->views[i];
        uint64_t behind = call->address + call->length;
        if (call->kind != SN_KIND_CALL && call->kind != SN_KIND_CALL_INDIRECT) continue;
        sn_unwind_note_call(call->address, behind);
        if (call->kind == SN_KIND_CALL && call->target != behind) sn_hash_set(&direct_targets, behind, call->target);
    }
}

/* --------------------------------------------------------------------------------------------------- frames */

/** The function of a frame. One without a name, and one that is in a piece of its code, is known by being called. */
static uint64_t function_of(const sn_unwind_frame *frame, const sn_unwind_frame *caller) {
    const sn_unwind_step *step = frame->step;
    bool is_named = step->function && !step->is_a_piece;
    return is_named || !caller ? step->function : sn_hash_get(&direct_targets, caller->key >> 1, step->function);
}

/** Where the thread's chain begins for us: frames outside of the first function that was seen of the stack are left out, as
    those of what has started a thread. */
static uint32_t first_of(const sn_unwind_chain *chain, uint64_t function) {
    for (uint32_t i = 0; function && i < chain->count; i++)
        if (function_of(&chain->frames[i], i ? &chain->frames[i - 1] : NULL) == function) return i;
    return 0;
}

/** The frames of the chain inside `first`, put behind the base. Returns where they end. */
static sn_call_frame *push_chain(const sn_unwind_chain *chain, uint32_t first, sn_call_frame *end) {
    for (uint32_t i = first + 1; i < chain->count; i++) {
        const sn_unwind_frame *frame = &chain->frames[i], *caller = frame - 1;
        if (frame->step->rule.is_signal) continue; /* what a handler returns to is no function of its own */
        uint32_t site = caller->step->rule.is_signal ? SN_SITE_SIGNAL : caller->step->site;
        *end++ = (sn_call_frame){.slot = caller->stack, .site = site, .target = function_of(frame, caller)};
    }
    return end;
}

/** Whether the chain goes out to where a stack begins, or to the first function that was seen of it. Where a linker looks for a
    function, the way out of its code is not known. */
static bool is_complete(const sn_unwind_chain *chain, uint64_t first_seen) {
    const sn_unwind_frame *outermost = &chain->frames[0];
    return outermost->step->rule.is_outermost || function_of(outermost, NULL) == first_seen || first_of(chain, first_seen);
}

/** Calls that are unknown at an instruction are known some thousand further on, if at all. */
enum { MOST_POSTPONED = 16 };

/** Make the frames of the calls that the thread is in. False if they should be looked for later. */
static bool resume(sn_thread *thread) {
    sn_shadow_stack *own = sn_contexts_own_stack(thread);
    sn_unwind_start start = sn_unwind_start_of(thread);
    const sn_unwind_chain *chain = sn_unwind_chain_of(thread);
    sn_call_frame *base = own->frames, *end = base + 1;
    uint64_t first_seen = base->target;
    bool is_found = sn_unwind_slowly(thread, &start) != SN_NO_CONTEXT;
    sn_lock_acquire(&sn_jit_lock); /* which the calls' functions are under */
    bool is_usable = (is_found && is_complete(chain, first_seen)) || own->postponed == MOST_POSTPONED;
    if (is_usable) {
        uint32_t first = is_found ? first_of(chain, first_seen) : 0;
        *base = (sn_call_frame){.slot = UINT64_MAX, .data = base->data};
        if (is_found) base->target = function_of(&chain->frames[first], first ? &chain->frames[first - 1] : NULL);
        if (is_found) end = push_chain(chain, first, end);
        own->high = is_found ? chain->frames[first].stack : start.stack;
        sn_shadow_use(thread, own, end);
    }
    own->postponed = is_usable ? 0 : own->postponed + 1;
    sn_lock_release(&sn_jit_lock);
    return is_usable;
}

bool sn_contexts_version_changes(sn_thread *thread, unsigned version) {
    if (!sn_contexts_are_only_in_one()) return true;
    if (version == followed) return resume(thread);
    sn_shadow_forget(thread, sn_contexts_own_stack(thread));
    return true;
}
