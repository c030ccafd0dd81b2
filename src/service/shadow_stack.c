/**
 * @fileoverview What happens to shadow stacks outside the ordinary calls and returns: see shadow_stack.h.
 */
#include "service/shadow_stack.h"

#include "sonde/hash.h"
#include "sonde/spin.h"
#include "service/context_tree.h"
#include "service/hooks.h"

/** Chains of tail calls at one slot are noted up to this length; then the last one is replaced. A state machine made of tail
    calls would fill the memory otherwise. */
#define MOST_TAILS 8

/** A signal's return may load a stack pointer a little below the interrupted one: the handler pushed a call there. */
#define BELOW 256

sn_shadow_shared sn_shadow;

static sn_call_frame *end_of(sn_thread *thread) { return (sn_call_frame *)thread->slots[sn_shadow.slots.end]; }
static void set_end(sn_thread *thread, sn_call_frame *end) { thread->slots[sn_shadow.slots.end] = (uint64_t)end; }

sn_shadow_stack *sn_shadow_current(sn_thread *thread) {
    return (sn_shadow_stack *)thread->slots[sn_shadow.slots.current];
}

void sn_shadow_use(sn_thread *thread, sn_shadow_stack *stack, sn_call_frame *end) {
    thread->slots[sn_shadow.slots.current] = (uint64_t)stack;
    set_end(thread, end);
}

static bool is_base(const sn_call_frame *frame) { return frame->slot == UINT64_MAX; }
/** Where the frame's return address lies. */
static uint64_t slot_of(const sn_call_frame *frame) {
    return (frame->slot & ~SN_FRAME_MARKS) - SN_RETURN_ADDRESS_SIZE;
}

/** `slot`: where the return address lies, with marks */
static void push(sn_thread *thread, uint64_t slot, uint32_t site, uint64_t target) {
    sn_call_frame *frame = end_of(thread);
    *frame = (sn_call_frame){.slot = slot + SN_RETURN_ADDRESS_SIZE, .site = site, .target = target};
    if (sn_shadow.left) frame->data = sn_counter_value(thread, sn_shadow.counter);
    set_end(thread, frame + 1);
}

/** The last frame goes: by its return, or by a jump. */
static void end_call(sn_thread *thread, bool returns) {
    sn_call_frame *frame = end_of(thread) - 1;
    sn_counter inclusive;
    if (frame->slot & SN_FRAME_HOOKED && !is_base(frame)) sn_hook_left(thread, frame, returns);
    if (sn_call_frame_counter(frame, &inclusive))
        sn_counter_add(thread, inclusive, (int64_t)(sn_counter_value(thread, sn_shadow.counter) - frame->data));
    else if (sn_shadow.left) sn_shadow.left(thread, frame);
    set_end(thread, frame);
}

static void pop(sn_thread *thread) { end_call(thread, false); }

static sn_call_frame *last(sn_thread *thread) { return end_of(thread) - 1; }

void sn_shadow_unwind(sn_thread *thread, uint64_t stack_pointer) {
    while (!is_base(last(thread)) && slot_of(last(thread)) < stack_pointer) pop(thread);
}

static void retarget(sn_call_frame *frame, uint64_t target) {
    frame->target = target;
    frame->context = SN_NO_CONTEXT;
}

/* --------------------------------------------------------------------------------------- jumps into functions */

bool sn_shadow_is_start(uint64_t address) {
    const uint64_t *starts = __atomic_load_n(&sn_shadow.starts, __ATOMIC_ACQUIRE);
    uint64_t mask = starts[0]; /* the table's first word, so that both are of one table */
    for (uint64_t at = sn_hash_mix(address) & mask;; at = (at + 1) & mask) {
        uint64_t found = __atomic_load_n(&starts[1 + at], __ATOMIC_RELAXED);
        if (found == address) return true;
        if (found == 0) return false;
    }
}

static void push_tail(sn_thread *thread, uint64_t slot, uint64_t entry) {
    unsigned count = 0;
    uint64_t mark = (slot + SN_RETURN_ADDRESS_SIZE) | SN_FRAME_TAIL;
    for (sn_call_frame *frame = last(thread); (frame->slot & ~SN_FRAME_HOOK_MARKS) == mark; frame--, count++) {
        if (frame->target != entry) continue;
        while (last(thread) != frame) pop(thread); /* round a loop of tail calls */
        return;
    }
    if (count == MOST_TAILS) pop(thread);
    push(thread, slot | SN_FRAME_TAIL, SN_SITE_NONE, entry);
}

static void entered(sn_thread *thread, uint64_t entry, uint64_t stack_pointer) {
    sn_shadow_unwind(thread, stack_pointer);
    sn_call_frame *frame = last(thread);
    bool is_in_place = slot_of(frame) == stack_pointer;
    if (frame->target == entry && (is_base(frame) || is_in_place)) return;
    bool never_returns = stack_pointer >= sn_shadow_current(thread)->high;
    if (is_base(frame) && (frame->target == 0 || never_returns)) {
        retarget(frame, entry);
    } else if (!is_base(frame) && is_in_place && frame->slot & SN_FRAME_LAZY) {
        frame->slot &= ~(uint64_t)SN_FRAME_LAZY; /* the linker has found the function that was called */
        retarget(frame, entry);
    } else if (!is_base(frame) && !sn_shadow_is_start(frame->target)) {
        /* What was called was a stub that leads here; or, if it has pushed something, to the linker. */
        if (!is_in_place) frame->slot |= SN_FRAME_LAZY;
        retarget(frame, entry);
    } else {
        push_tail(thread, stack_pointer, entry);
    }
}

uint64_t sn_shadow_entered(sn_thread *thread, uint64_t entry, uint64_t stack_pointer) {
    entered(thread, entry, stack_pointer);
    return (uint64_t)end_of(thread);
}

/* ----------------------------------------------------------------------------------------------------- returns */

void sn_shadow_returned(sn_thread *thread, uint64_t slot) {
    while (!is_base(last(thread)) && slot_of(last(thread)) <= slot)
        end_call(thread, slot_of(last(thread)) == slot);
    sn_shadow_stack *stack = sn_shadow_current(thread);
    if (is_base(last(thread)) && slot >= stack->high) {
        /* Out of the first function that is known of this stack: into its caller, or what else was put there. */
        retarget(last(thread), 0);
        stack->high = slot + sizeof slot;
    }
}

uint64_t sn_shadow_returned_otherwise(sn_thread *thread, uint64_t nothing, uint64_t stack_pointer) {
    (void)nothing;
    sn_shadow_returned(thread, stack_pointer);
    /* The frame that inserted code takes away has cost nothing, at no call site. */
    sn_call_frame *end = end_of(thread);
    end->site = SN_SITE_NONE;
    if (sn_shadow.left) end->data = sn_counter_value(thread, sn_shadow.counter);
    set_end(thread, end + 1);
    return (uint64_t)(end + 1);
}

/* ---------------------------------------------------------------------------------------------------- switches */

/** Number of suspended stacks whose `low` is at most `address`. */
static uint32_t count_up_to(uint64_t address) {
    uint32_t low = 0, high = sn_shadow.suspended_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (sn_shadow.suspended[middle]->low <= address) low = middle + 1;
        else high = middle;
    }
    return low;
}

static sn_shadow_stack *remove_at(uint32_t at) {
    sn_shadow_stack *stack = sn_shadow.suspended[at];
    sn_shadow.suspended_count--;
    for (uint32_t i = at; i < sn_shadow.suspended_count; i++) sn_shadow.suspended[i] = sn_shadow.suspended[i + 1];
    return stack;
}

static void give_back(sn_shadow_stack *stack) {
    if (stack->is_own) return; /* goes with its thread */
    stack->next_free = sn_shadow.pool;
    sn_shadow.pool = stack;
}

sn_shadow_stack *sn_shadow_take(void) {
    sn_shadow_stack *stack = sn_shadow.pool;
    if (stack) sn_shadow.pool = stack->next_free;
    return stack;
}

void sn_shadow_suspend(sn_shadow_stack *stack) {
    /* Memory cannot hold two stacks: one that reaches into this one has been given up. */
    uint32_t at = count_up_to(stack->low);
    while (at > 0 && sn_shadow.suspended[at - 1]->high > stack->low) give_back(remove_at(--at));
    while (at < sn_shadow.suspended_count && sn_shadow.suspended[at]->low < stack->high) give_back(remove_at(at));
    if (sn_shadow.suspended_count == sn_shadow.suspended_room) {
        give_back(stack);
        return;
    }
    for (uint32_t i = sn_shadow.suspended_count; i > at; i--) sn_shadow.suspended[i] = sn_shadow.suspended[i - 1];
    sn_shadow.suspended[at] = stack;
    sn_shadow.suspended_count++;
}

/** The suspended stack that a stack pointer belongs to, taken out; NULL if there is none. */
static sn_shadow_stack *resume(uint64_t stack_pointer) {
    uint32_t at = count_up_to(stack_pointer);
    if (at > 0 && stack_pointer <= sn_shadow.suspended[at - 1]->high) return remove_at(at - 1);
    if (at < sn_shadow.suspended_count && sn_shadow.suspended[at]->low - stack_pointer <= BELOW) return remove_at(at);
    return NULL;
}

void sn_shadow_forget(sn_thread *thread, sn_shadow_stack *own) {
    sn_shadow_stack *current = sn_shadow_current(thread);
    uint32_t kept = 0;
    sn_spin_acquire(&sn_shadow.lock);
    for (uint32_t i = 0; i < sn_shadow.suspended_count; i++) {
        sn_shadow_stack *stack = sn_shadow.suspended[i];
        if (stack->is_own && stack != own) sn_shadow.suspended[kept++] = stack;
        else give_back(stack);
    }
    sn_shadow.suspended_count = kept;
    if (current != own) give_back(current);
    sn_spin_release(&sn_shadow.lock);
    sn_shadow_use(thread, own, own->frames + 1);
}

uint64_t sn_shadow_switched(sn_thread *thread, uint64_t old, uint64_t new) {
    sn_shadow_stack *current = sn_shadow_current(thread);
    if (new >= old && new <= current->high) {
        sn_shadow_unwind(thread, new);
        return 0;
    }
    sn_spin_acquire(&sn_shadow.lock);
    sn_shadow_stack *other = resume(new);
    if (other) {
        current->low = old;
        current->end = end_of(thread);
        sn_shadow_suspend(current);
        sn_shadow_use(thread, other, other->end);
    }
    sn_spin_release(&sn_shadow.lock);
    if (!other) return 1;
    sn_shadow_unwind(thread, new);
    sn_call_frame *frame = last(thread);
    if (is_base(frame) && new >= other->high) retarget(frame, 0); /* its memory is used from the start again */
    return 0;
}

/* ----------------------------------------------------------------------------------------------------- signals */

void sn_shadow_signal(sn_thread *thread, uint64_t interrupted, uint64_t frame, uint64_t handler) {
    sn_shadow_stack *current = sn_shadow_current(thread);
    sn_shadow_unwind(thread, interrupted);
    uint64_t slot = frame | (sn_shadow.left ? SN_FRAME_OPEN : 0); /* it has no call site that could count it */
    if (frame < interrupted && interrupted - frame < UINT64_C(1) << 16) {
        push(thread, slot, SN_SITE_SIGNAL, handler);
        return;
    }
    uint32_t below = sn_shadow.tells_all ? last(thread)->context : sn_context_resolve(thread);
    sn_spin_acquire(&sn_shadow.lock);
    sn_shadow_stack *stack = sn_shadow_take();
    if (stack) {
        current->low = interrupted;
        current->end = end_of(thread);
        sn_shadow_suspend(current);
        stack->high = frame;
        stack->frames[0] = (sn_call_frame){.slot = UINT64_MAX, .data = below};
        sn_shadow_use(thread, stack, stack->frames + 1);
    }
    sn_spin_release(&sn_shadow.lock);
    push(thread, slot, SN_SITE_SIGNAL, handler);
}

bool sn_call_frame_counter(const sn_call_frame *frame, sn_counter *inclusive) {
    *inclusive = sn_shadow.inclusive + frame->site;
    return sn_shadow.left && !(frame->slot & (SN_FRAME_TAIL | SN_FRAME_OPEN)) && frame->slot != UINT64_MAX;
}
