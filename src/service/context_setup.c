/**
 * @fileoverview Switching contexts on, their memory, and the life of shadow stacks with threads, signals, forks, and new
 * stacks: see contexts.h.
 */
#include <sys/mman.h>

#include "base/log.h"
#include "sonde/spin.h"
#include "guest/events.h"
#include "guest/thread.h"
#include "jit/runtime.h"
#include "jit/translate.h"
#include "service/contexts.h"
#include "service/hooks.h"
#include "service/unwind.h"

/* Room for frames, committed as it is touched. A frame is 32 bytes, and a call takes at least 8 of the client's stack, usually
   more than 32: a thread's own stack may be a gigabyte, one that the client made 64 megabytes, with nothing but return
   addresses in it. So much room makes it needless to ask at each call whether there is some. */
#define OWN_STACK_SIZE (UINT64_C(1) << 32)
#define STACK_SIZE (UINT64_C(1) << 28)
#define MOST_STACKS (UINT32_C(1) << 14)
#define SPARE_STACKS 4

static bool is_on, is_unwound;
static sn_slot own_slot; /**< the stack that the thread began on */
static char *stacks;     /**< room for MOST_STACKS */
static uint32_t stack_count;
static sn_shadow_stack records[MOST_STACKS];

bool sn_contexts_are_on(void) { return is_on; }
bool sn_contexts_are_unwound(void) { return is_unwound; }

void *sn_contexts_reserve(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        sn_fail(SN_STATUS_ENGINE, "no address space for calling contexts (%zu MiB): see vm.overcommit_memory", size >> 20);
    return memory;
}

/** The same, beginning at a multiple of `alignment`, a power of two. */
static void *reserve_aligned(size_t size, size_t alignment) {
    char *memory = sn_contexts_reserve(size + alignment);
    char *start = (char *)(((uintptr_t)memory + alignment - 1) & ~(uintptr_t)(alignment - 1));
    if (start != memory) munmap(memory, (size_t)(start - memory));
    munmap(start + size, (size_t)(memory + alignment - start));
    return start;
}

uint64_t sn_call_frame_first(uint64_t frame) {
    bool is_own = frame - (uint64_t)stacks >= MOST_STACKS * STACK_SIZE;
    return frame & ~((is_own ? OWN_STACK_SIZE : STACK_SIZE) - 1);
}

/** One more in the pool, if there is room. The lock is held. */
static void make_stack(void) {
    if (stack_count == MOST_STACKS) return;
    sn_shadow_stack *stack = &records[stack_count];
    stack->frames = (sn_call_frame *)(stacks + stack_count++ * STACK_SIZE);
    stack->next_free = sn_shadow.pool;
    sn_shadow.pool = stack;
}

/* -------------------------------------------------------------------------------------------------- threads */

static void begin_at_base(sn_thread *thread, sn_shadow_stack *stack, uint64_t stack_pointer) {
    stack->high = stack_pointer;
    stack->frames[0] = (sn_call_frame){.slot = UINT64_MAX};
    sn_shadow_use(thread, stack, stack->frames + 1);
}

sn_shadow_stack *sn_contexts_own_stack(const sn_thread *thread) { return (sn_shadow_stack *)thread->slots[own_slot]; }

static void thread_begins(sn_thread *thread, const sn_thread *parent) {
    if (sn_contexts_are_only_in_one()) sn_unwind_thread_begins(thread);
    sn_shadow_stack *own = sn_contexts_reserve(sizeof *own);
    own->frames = reserve_aligned(OWN_STACK_SIZE, OWN_STACK_SIZE);
    own->is_own = true;
    thread->slots[own_slot] = (uint64_t)own;
    begin_at_base(thread, own, sn_thread_stack_pointer(thread));
    if (!parent) {
        sn_hooks_thread_begins(thread);
        return;
    }
    /* It goes on in its parent's functions, or is called by them. */
    const sn_shadow_stack *theirs = sn_shadow_current((sn_thread *)parent);
    sn_call_frame *end = (sn_call_frame *)parent->slots[sn_shadow.slots.end];
    for (sn_call_frame *from = theirs->frames, *to = own->frames; from < end; from++, to++) *to = *from;
    own->high = theirs->high;
    sn_shadow_use(thread, own, own->frames + (end - theirs->frames));
}

static void thread_ends(sn_thread *thread) {
    if (!thread->borrowed) sn_hooks_thread_ends(thread);
    if (sn_contexts_are_only_in_one()) sn_unwind_thread_ends(thread);
    sn_shadow_stack *own = sn_contexts_own_stack(thread), *current = sn_shadow_current(thread);
    sn_spin_acquire(&sn_shadow.lock);
    if (current != own) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < sn_shadow.suspended_count; i++)
            if (sn_shadow.suspended[i] != own) sn_shadow.suspended[kept++] = sn_shadow.suspended[i];
        sn_shadow.suspended_count = kept;
        current->next_free = sn_shadow.pool;
        sn_shadow.pool = current;
    }
    sn_spin_release(&sn_shadow.lock);
    munmap(own->frames, OWN_STACK_SIZE);
    munmap(own, sizeof *own);
}

/** What was called while nothing was followed is not known. */
static void begin_again(sn_thread *thread, void *data) {
    (void)data;
    begin_at_base(thread, sn_contexts_own_stack(thread), sn_thread_stack_pointer(thread));
    sn_hooks_thread_forgets(thread);
}

static void again(void) {
    sn_shadow.suspended_count = 0;
    sn_threads_visit(begin_again, NULL);
}

/* --------------------------------------------------------------------------------- stacks that are not known */

/** How far above the stack pointer the last return address of a moved stack may lie. */
#define MOST_WORDS 1024

/** Calls that were in progress when the stack was copied, and are not in the copy: those that have it copied. */
#define MOST_DROPPED 4

/** Whether the frames from `last` on lie at `distance` from where they were: their return addresses are there. */
static bool lies_at(const sn_call_frame *last, uint64_t distance) {
    enum { COMPARED = 4 };
    unsigned same = 0;
    for (const sn_call_frame *frame = last; frame->slot != UINT64_MAX && same < COMPARED; frame--) {
        uint64_t found;
        if (frame->slot & SN_FRAME_MARKS || frame->site < SN_SITE_FIRST) continue;
        if (!sn_copy_safely(&found, (const void *)(frame->slot - SN_RETURN_ADDRESS_SIZE + distance), sizeof found)) return false;
        if (found != sn_shadow.sites[frame->site].return_address) return false;
        same++;
    }
    return same > 0;
}

/** By how much the frames of `stack` lie elsewhere now, seen from `stack_pointer`: the return addresses of its calls are there
    at the same distances. 0 if they are not. */
static uint64_t distance_moved(const sn_shadow_stack *stack, uint64_t stack_pointer) {
    const sn_call_frame *last = stack->end - 1;
    for (unsigned dropped = 0; dropped < MOST_DROPPED && last->slot != UINT64_MAX; dropped++, last--) {
        if (last->slot & SN_FRAME_MARKS || last->site < SN_SITE_FIRST) continue;
        for (uint64_t at = stack_pointer; at < stack_pointer + MOST_WORDS * 8; at += 8)
            if (lies_at(last, at - last->slot + SN_RETURN_ADDRESS_SIZE)) return at - last->slot + SN_RETURN_ADDRESS_SIZE;
    }
    return 0;
}

/** A suspended stack that was copied to where the stack pointer is now, as Go does when one must grow; taken out. NULL if
    none was. The lock is held. */
static sn_shadow_stack *find_moved(uint64_t stack_pointer) {
    for (uint32_t i = sn_shadow.suspended_count; i-- > 0;) {
        sn_shadow_stack *stack = sn_shadow.suspended[i];
        uint64_t distance = stack->is_own ? 0 : distance_moved(stack, stack_pointer);
        if (!distance) continue;
        for (sn_call_frame *frame = stack->end - 1; frame->slot != UINT64_MAX; frame--) frame->slot += distance;
        stack->high += distance;
        sn_shadow.suspended_count--;
        for (; i < sn_shadow.suspended_count; i++) sn_shadow.suspended[i] = sn_shadow.suspended[i + 1];
        return stack;
    }
    return NULL;
}

void sn_shadow_new_stack(sn_thread *thread, uint64_t old, uint64_t stack_pointer) {
    sn_shadow_stack *current = sn_shadow_current(thread);
    sn_spin_acquire(&sn_shadow.lock);
    current->low = old;
    current->end = (sn_call_frame *)thread->slots[sn_shadow.slots.end];
    sn_shadow_stack *stack = find_moved(stack_pointer);
    bool is_moved = stack != NULL;
    if (!is_moved) {
        make_stack();
        stack = sn_shadow_take();
    }
    if (stack) {
        sn_shadow_suspend(current);
        if (is_moved) sn_shadow_use(thread, stack, stack->end);
        else begin_at_base(thread, stack, stack_pointer);
    }
    sn_spin_release(&sn_shadow.lock);
    if (is_moved) sn_shadow_unwind(thread, stack_pointer);
    else if (stack) sn_contexts_tell(thread, SN_FRAME_NEW_STACK, (uint64_t)stack->frames);
}

/* ------------------------------------------------------------------------------------------- signals, forks */

/** Async-signal-safe. */
static void signal_interrupts(sn_thread *thread, uint64_t interrupted, uint64_t frame, uint64_t handler) {
    if (sn_contexts_follow_version(thread->version)) sn_shadow_signal(thread, interrupted, frame, handler);
}

static void signal_returned(sn_thread *thread, uint64_t from, uint64_t to) {
    if (!sn_contexts_follow_version(thread->version)) return;
    uint64_t before = thread->slots[sn_shadow.slots.end];
    if (sn_shadow_switched(thread, from, to)) sn_shadow_new_stack(thread, from, to);
    uint64_t now = thread->slots[sn_shadow.slots.end];
    if (now != before) sn_contexts_tell(thread, SN_FRAME_GONE, now);
}

static void thread_is_made(void) {
    if (sn_hooks_service) sn_hooks_service->thread_is_made();
}

static void before_fork(void) {
    if (sn_hooks_service) sn_hooks_service->before_fork();
    sn_spin_acquire(&sn_shadow.lock);
    sn_spin_acquire(&sn_contexts.lock);
}

static void after_fork(void) {
    sn_spin_release(&sn_contexts.lock);
    sn_spin_release(&sn_shadow.lock);
    if (sn_hooks_service) sn_hooks_service->after_fork();
}

/* ------------------------------------------------------------------------------------------------ beginning */

static void reserve_tree(void) {
    enum { FIRST_TABLE = 1 << 12 };
    sn_contexts.nodes = sn_contexts_reserve(SN_MOST_CONTEXTS * sizeof *sn_contexts.nodes);
    sn_contexts.count = 1;
    sn_contexts.table = sn_contexts_reserve(UINT64_C(4) * SN_MOST_CONTEXTS * sizeof *sn_contexts.table);
    sn_contexts.table_mask = FIRST_TABLE - 1;
    sn_contexts.next_table = sn_contexts.table + FIRST_TABLE;
}

static void make_ready(void) {
    is_on = true;
    sn_shadow.slots = (sn_shadow_slots){.end = sn_slot_new(), .current = sn_slot_new()};
    own_slot = sn_slot_new();
    stacks = reserve_aligned(MOST_STACKS * STACK_SIZE, STACK_SIZE);
    for (unsigned i = 0; i < SPARE_STACKS; i++) make_stack();
    sn_shadow.suspended_room = MOST_STACKS;
    sn_shadow.suspended = sn_contexts_reserve(MOST_STACKS * sizeof(sn_shadow_stack *));
    reserve_tree();
    sn_contexts_insert_init();
}

void sn_contexts_enable(void) {
    if (is_on) return;
    make_ready();
    sn_translate_follow(&(sn_call_follower){sn_contexts_insert_before, sn_contexts_insert_after, again});
    sn_stack_listening = (sn_stack_listener){thread_is_made, thread_begins, thread_ends, signal_interrupts,
                                             signal_returned, before_fork, after_fork};
}

/* ------------------------------------------------------------------------------------------- by unwinding */

static void unwound_thread_begins(sn_thread *thread, const sn_thread *parent) {
    thread_begins(thread, parent);
    sn_unwind_thread_begins(thread);
}

static void unwound_thread_ends(sn_thread *thread) {
    sn_unwind_thread_ends(thread);
    thread_ends(thread);
}

static void signal_comes(sn_thread *thread, uint64_t interrupted, uint64_t frame, uint64_t handler) {
    (void)thread, (void)interrupted, (void)frame, (void)handler;
}

static void signal_is_over(sn_thread *thread, uint64_t from, uint64_t to) { (void)thread, (void)from, (void)to; }

static void nothing_behind(sn_block *block) { (void)block; }

void sn_contexts_enable_unwound(void) {
    if (is_on) return;
    is_unwound = true;
    make_ready();
    sn_unwind_init();
    sn_translate_follow(&(sn_call_follower){sn_hooks_insert_unwound, nothing_behind, again});
    sn_stack_listening = (sn_stack_listener){thread_is_made, unwound_thread_begins, unwound_thread_ends, signal_comes,
                                             signal_is_over, before_fork, after_fork};
}

void sn_contexts_fold(void) { sn_contexts.folded = sn_contexts_reserve(SN_MOST_CONTEXTS * sizeof *sn_contexts.folded); }

void sn_contexts_watch(sn_counter counter, sn_call_watcher *left) {
    sn_shadow.counter = counter;
    sn_shadow.inclusive = sn_counter_new(SN_MOST_COUNTED_SITES);
    sn_shadow.left = left;
}

void sn_contexts_watch_all(void) { sn_shadow.tells_all = true; }
