/**
 * @fileoverview Contexts found by unwinding the client's stack when somebody asks, instead of following every call.
 *
 * For tools that ask rarely and at few places, as the heap's: programs then run at almost their own speed in between. What is
 * known of an address that calls return to is one step, made in the engine once (unwind_rules.c); walking from step to step
 * needs a few nanoseconds a frame, and runs in the code cache (unwind_walk.c), as long as all steps are known. A thread keeps
 * the chain that it found last: of the next one mostly the outer part is the same, which is seen by looking at the return
 * addresses that lie on the stack.
 *
 * Used by hook_unwound.c and context_walk.c. x86_64/unwind_registers.c knows the registers.
 */
#ifndef SONDE_SERVICE_UNWIND_H
#define SONDE_SERVICE_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "image/unwind.h"
#include "jit/thread.h"
#include "service/context_tree.h"

/** What is known of an address in a function that another one is called from, or that was interrupted. Never freed. */
typedef struct sn_unwind_step {
    uint64_t key;         /**< sn_unwind_key(); 0 once the code is gone */
    uint64_t function;    /**< where it begins; 0: unknown */
    int32_t return_offset, frame_offset; /**< if it is plain: from the stack pointer; frame_offset -1: the frame pointer was not saved */
    sn_unwind_rule rule;
    uint32_t site;        /**< number of the call site */
    struct sn_unwind_step *outer; /**< the caller's that was found last */
    bool is_a_piece;      /**< that is the beginning of a piece of a function which lies apart from the rest */
    bool is_plain;        /**< all lies at fixed distances from the stack pointer: the usual case, with fewer questions */
    bool is_watched;      /**< code that looks whether a hooked call has returned is before the address */
    uint32_t memos[SN_CONTEXT_MEMOS]; /**< of what is called here */
} sn_unwind_step;

/** Of a return address, or of an address at which a signal came. */
static inline uint64_t sn_unwind_key(uint64_t address, bool is_exact) { return address << 1 | is_exact; }

/** A frame of a chain. */
typedef struct sn_unwind_frame {
    sn_unwind_step *step;
    uint64_t key;
    uint64_t stack, frame;         /**< stack and frame pointer in it */
    uint64_t key_at, frame_at;     /**< where the return address, and the frame pointer, were read; 0: in a register */
    uint32_t context;              /**< of the function */
    uint16_t checks;               /**< how many of the chain's are those of the frames further out */
    bool needs_frame;              /**< its frame pointer tells where callers are, its own or one further out */
} sn_unwind_frame;

/** A word of the stack that made the chain what it is. */
typedef struct sn_unwind_check {
    uint64_t at, expected;
} sn_unwind_check;

/** A chain that was found before: what it began with, the words that made it, and what was found. */
enum { SN_UNWIND_KNOWN = 256, SN_UNWIND_KNOWN_CHECKS = 40 };
typedef struct sn_unwind_known {
    uint64_t key, stack, frame;  /**< sn_unwind_key() of the innermost frame, 0: none; its stack and frame pointer */
    uint64_t losses, forgotten;  /**< as of the chain */
    sn_unwind_step *step;        /**< of the innermost frame */
    uint64_t target;             /**< what was called from there last, 0: unknown */
    uint32_t target_context;     /**< and its context */
    uint32_t context;            /**< of the innermost frame's function */
    uint16_t count;              /**< of words */
    bool needs_frame;            /**< the frame pointer matters */
    uint8_t turn;                /**< of two beside each other, in the first one: which was written last */
    sn_unwind_check checks[SN_UNWIND_KNOWN_CHECKS];
} sn_unwind_known;

/** Outer frames beyond this many are not looked at. */
enum { SN_UNWIND_MOST_FRAMES = 1024 };

/** Of a thread. */
typedef struct sn_unwind_chain {
    struct {
        uint64_t low, high;
    } parts[2];           /**< of memory, which can be read: that the stack is in, and the one before */
    uint64_t losses;      /**< sn_space_losses when these were looked for: since then they may have gone */
    uint64_t forgotten;   /**< sn_unwind_forgotten when the chain was made: since then its steps may have gone */
    uint64_t missing;     /**< after sn_unwind() has failed: the key without a step; 0: the stack is not in that part */
    uint64_t missing_stack;
    uint64_t stack_end;   /**< a stack pointer behind which nothing can be read, as that was found out last: no caller lies there */
    uint32_t count;       /**< frames[0] is the outermost */
    sn_unwind_frame frames[SN_UNWIND_MOST_FRAMES];
    sn_unwind_check checks[2 * SN_UNWIND_MOST_FRAMES]; /**< from the outermost frame on */
    sn_unwind_frame fresh[SN_UNWIND_MOST_FRAMES]; /**< while walking: the innermost is first */
    sn_unwind_known known[SN_UNWIND_KNOWN];
} sn_unwind_chain;

/** Where a chain begins: the function that calls, by what it will return to; or, if `is_exact`, the next instruction. */
typedef struct sn_unwind_start {
    uint64_t address, stack, frame;
    bool is_exact;
} sn_unwind_start;

/** The steps that are known, by key: a mask, then a table of open addressing of that many places and one, pointers to steps.
    Replaced when it grows. */
extern const uint64_t *sn_unwind_steps;
extern uint64_t sn_unwind_forgotten; /**< how often steps were forgotten */

extern sn_slot sn_unwind_slot; /**< the thread's sn_unwind_chain */
static inline sn_unwind_chain *sn_unwind_chain_of(sn_thread *thread) {
    return (sn_unwind_chain *)thread->slots[sn_unwind_slot];
}

/* ------------------------------------------------------------------------------- unwind_walk.c: in the code cache too */

sn_unwind_step *sn_unwind_find(uint64_t key);

/** Where the search for a key begins in the table. */
static inline uint64_t sn_unwind_place_of(uint64_t key) { return key * UINT64_C(0x9e3779b97f4a7c15) >> 32; }

/** The step of the innermost frame of the thread's chain, behind a successful sn_unwind(). */
static inline sn_unwind_step *sn_unwind_innermost(const sn_unwind_chain *chain) {
    return chain->frames[chain->count - 1].step;
}

/** Whether the 8 bytes at an address of a stack that was just unwound can be read. */
bool sn_unwind_can_read(sn_thread *thread, uint64_t address);

/** The context of the function where the chain begins. False if something must be found out first, by sn_unwind_learn(). */
bool sn_unwind(sn_thread *thread, const sn_unwind_start *start, uint32_t *context);

/* ------------------------------------------------------------------------------ unwind_known.c: in the code cache too */

/** What sn_unwind() would find from there, if it is known; NULL: it is not. The thread's chain is not touched. */
sn_unwind_known *sn_unwind_find_known(sn_thread *thread, const sn_unwind_start *start);
/** The same after sn_unwind() has found it, which is remembered if there is room for so many words; NULL: there is not. */
sn_unwind_known *sn_unwind_note_known(sn_thread *thread, const sn_unwind_start *start, uint32_t context);
/** The context of what is called from there. */
static inline uint32_t sn_unwind_called_from(sn_unwind_known *known, uint64_t target) {
    if (known->target == target) return known->target_context;
    known->target = target;
    return known->target_context = sn_context_node_known(known->step->memos, known->context, known->step->site, target);
}

/* --------------------------------------------------------------------------------------- unwind_rules.c: in the engine */

void sn_unwind_init(void);
void sn_unwind_thread_begins(sn_thread *thread);
void sn_unwind_thread_ends(sn_thread *thread);

/** The same, whatever it takes. Takes sn_jit_lock. */
uint32_t sn_unwind_slowly(sn_thread *thread, const sn_unwind_start *start);

/** Where the thread is, in the engine. */
uint32_t sn_unwind_here(sn_thread *thread);

/** Have code watch for returns to an address: its step, made if there is none. Takes sn_jit_lock, and discards blocks. */
void sn_unwind_watch(uint64_t return_address);
/** Whether it does. Under sn_jit_lock. */
bool sn_unwind_is_watched(uint64_t address);

/** Note a call instruction. Under sn_jit_lock. */
void sn_unwind_note_call(uint64_t address, uint64_t return_address);

/** The code at [start, end) is gone. Under sn_jit_lock. */
void sn_unwind_forget(uint64_t start, uint64_t end);

/* --------------------------------------------------------------------------------------- x86_64/unwind_registers.c */

extern const sn_unwind_registers sn_unwind_registers_here;
extern const uint8_t sn_unwind_frame_register; /**< number of the general register that is the frame pointer */
/** In the engine: the client's next instruction and its registers. */
sn_unwind_start sn_unwind_start_of(const sn_thread *thread);
/** Where there is no information: code that keeps a frame pointer, as compilers at run time do. */
extern const sn_unwind_rule sn_unwind_by_frame_pointer;

#endif
