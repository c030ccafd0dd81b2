/**
 * @fileoverview The shadow stacks: for each stack of the client, the calls that have not returned yet.
 *
 * A thread runs on one stack at a time; others (coroutines, goroutines, the thread's own while a handler runs on an alternate
 * one) are suspended, and may be resumed by another thread. Frames are pushed and popped by inserted code
 * (context_insert.c) while everything is ordinary; the functions here do the rest: tail calls, jumps out of many frames,
 * switches of stacks, signals. A call's frame is known by where its return address lies on the client's stack ("slot"), so
 * what was pushed and never popped is found out by comparing it with the stack pointer.
 *
 * All of it runs in the code cache, while vector registers are the client's and without locks
 * of the C library: shadow_stack.c is compiled for general registers only and calls nothing outside.
 */
#ifndef SONDE_SERVICE_SHADOW_STACK_H
#define SONDE_SERVICE_SHADOW_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "jit/thread.h"
#include "sonde/tool.h"

enum { SN_RETURN_ADDRESS_SIZE = 8 };

/** Marks in sn_call_frame.slot: stack pointers are multiples of 8. Below: those of hooks. */
enum {
    SN_FRAME_TAIL = 1,  /**< entered by a jump: the slot is that of the frame below it, too */
    SN_FRAME_LAZY = 2,  /**< a linker looks for the function that a stub leads to */
    SN_FRAME_OPEN = 4,  /**< whom the call calls is known only when it does; only while a tool watches */
};

/** Marks for hooks, in bits that addresses do not have. */
#define SN_FRAME_HOOKED (UINT64_C(1) << 61) /**< the call's end is told: sn_hook_left() */
#define SN_FRAME_SLOWLY (UINT64_C(1) << 62) /**< and before it, in the engine */
#define SN_FRAME_HOOK_MARKS (SN_FRAME_HOOKED | SN_FRAME_SLOWLY)

#define SN_FRAME_MARKS (UINT64_C(7) | SN_FRAME_HOOK_MARKS)

/** Call sites with higher numbers have no counter of their own. */
#define SN_MOST_COUNTED_SITES (UINT32_C(1) << 20)

/** Numbers of call sites that are none. */
enum { SN_SITE_NONE, SN_SITE_SIGNAL, SN_SITE_FIRST };

/** A call instruction. */
typedef struct sn_call_site {
    uint64_t address;
    uint64_t return_address;
} sn_call_site;

/** Frames of one client stack. frames[0] is its base: slot UINT64_MAX, `target` the first function that is known (or 0), and
    `data` the context below it (0: none). */
typedef struct sn_shadow_stack {
    sn_call_frame *frames;
    sn_call_frame *end;    /**< while suspended: behind its last frame */
    uint64_t low;          /**< while suspended: the client's stack pointer */
    uint64_t high;         /**< as far as known, where the client's stack began */
    struct sn_shadow_stack *next_free;
    uint32_t postponed;    /**< how often the thread was to be followed on it, and its calls were not known */
    bool is_own;           /**< the one that a thread began on: with room of its own */
} sn_shadow_stack;

/** What inserted code knows: numbers of per-thread slots. */
typedef struct sn_shadow_slots {
    sn_slot end;      /**< behind the last frame */
    sn_slot current;  /**< sn_shadow_stack */
} sn_shadow_slots;

/** State that all threads share. Written at the start, but for what is said. */
typedef struct sn_shadow_shared {
    sn_shadow_slots slots;
    uint32_t lock;                /**< spins: of `suspended` and `pool` */
    sn_shadow_stack **suspended;  /**< by `low` */
    uint32_t suspended_count, suspended_room;
    sn_shadow_stack *pool;        /**< that can be used anew */
    uint64_t *starts;             /**< functions whose entry is checked: a mask, then a table of open addressing of that many
                                       places and one, 0 for empty ones; replaced when it grows */
    const sn_call_site *sites;
    sn_call_watcher *left;        /**< the tool's; NULL: none */
    sn_counter counter;           /**< of which new frames take the value, if there is `left` */
    bool tells_all;               /**< sn_contexts_watch_all() */
    sn_counter inclusive;         /**< the first of those of call sites, by their numbers */
} sn_shadow_shared;

extern sn_shadow_shared sn_shadow;

/** sn_call_frame_of() and sn_call_frame_below(), for code that asks at every call. */
static inline sn_call_frame *sn_shadow_last(sn_thread *thread) {
    return (sn_call_frame *)thread->slots[sn_shadow.slots.end] - 1;
}
static inline bool sn_shadow_is_base(const sn_call_frame *frame) { return frame->slot == UINT64_MAX; }

/* ------------------------------------------------------------------ called by inserted code (shadow_stack.c) */

/** Whether a function is known to begin there, whose entry is checked: sn_shadow_shared.starts. Any thread. */
bool sn_shadow_is_start(uint64_t address);

/** The function at `entry` begins, and the last frame is not that of a call to it. */
uint64_t sn_shadow_entered(sn_thread *thread, uint64_t entry, uint64_t stack_pointer);

/** A return whose address lies at `slot`. */
void sn_shadow_returned(sn_thread *thread, uint64_t slot);

/** A return of which the address at the stack pointer is not where the last frame says; the caller takes one more frame away
    behind it. Both return the end of the frames. */
uint64_t sn_shadow_returned_otherwise(sn_thread *thread, uint64_t nothing, uint64_t stack_pointer);

/** The stack pointer was replaced. Returns whether it now points to a stack that is not known: sn_shadow_new_stack(). */
uint64_t sn_shadow_switched(sn_thread *thread, uint64_t old, uint64_t new);

/* ------------------------------------------------------------------------------- called by the engine's C code */

/** A handler is about to run at `frame`, where its return address lies. Async-signal-safe. */
void sn_shadow_signal(sn_thread *thread, uint64_t interrupted, uint64_t frame, uint64_t handler);

/** Give up what was called at a lower stack pointer. */
void sn_shadow_unwind(sn_thread *thread, uint64_t stack_pointer);

/** Let `stack` be the current one, with frames up to `end`. */
void sn_shadow_use(sn_thread *thread, sn_shadow_stack *stack, sn_call_frame *end);
sn_shadow_stack *sn_shadow_current(sn_thread *thread);

/** The thread goes on without being followed: what it calls and where is not known any more, nor what runs on stacks that are
    suspended, but for those that threads began on. `own`: the thread's. */
void sn_shadow_forget(sn_thread *thread, sn_shadow_stack *own);

/** An empty stack from the pool, NULL if there is none. The lock is held. */
sn_shadow_stack *sn_shadow_take(void);
/** Enter among the suspended ones. The lock is held. */
void sn_shadow_suspend(sn_shadow_stack *stack);

#endif
