/**
 * @fileoverview What the files of the hook service know of each other, and what the context service calls.
 *
 * hook_set.c owns the hooks and finds their functions when code of a module is first translated; hook_insert.c puts the code
 * in front of functions; hook_fast.c keeps, for each thread, the calls that have not ended, and runs in the code cache;
 * hook_slow.c is what happens in the engine. x86_64/hook_registers.c knows where arguments and results are.
 */
#ifndef SONDE_SERVICE_HOOKS_H
#define SONDE_SERVICE_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "jit/insert.h"
#include "jit/thread.h"
#include "service/shadow_stack.h"
#include "sonde/hooks.h"

#define SN_HOOK_ARGUMENTS 4

/** A hook at one function. Never freed. */
typedef struct sn_hook_place {
    const sn_hook *hook;
    uint64_t address;
    struct sn_hook_place *next; /**< at the same address, in the order in which they were added */
    const void *owner;          /**< of the service that the hook belongs to, by sn_hooks_serve() */
    bool follows;               /**< the function has a hook before this one that gives calls a frame, if they need one */
    bool needs_frame;           /**< its calls' contexts or ends are asked for: sn_hook_service.needs_frame */
} sn_hook_place;

typedef enum sn_hook_outcome {
    SN_HOOK_GOES_ON,
    SN_HOOK_RETURNS,   /**< with call.result */
    SN_HOOK_CONTINUES, /**< at `elsewhere` */
    SN_HOOK_CALLS,     /**< a function that `begin` called runs */
    SN_HOOK_ANSWERED,  /**< and has returned `answer` */
} sn_hook_outcome;

/** A call that has not ended. */
typedef struct sn_hook_record {
    sn_hooked_call call; /**< first: what the tool is given */
    const sn_hook_place *place;
    sn_hook_outcome outcome;
    uint64_t elsewhere, answer;
    uint64_t returns_at; /**< SN_HOOK_CALLS: the stack pointer when what was called has returned */
} sn_hook_record;

/** The calls of a thread, the innermost last. */
typedef struct sn_hook_stack {
    sn_hook_record *end;   /**< behind the last */
    sn_hook_record *limit; /**< no more room */
    sn_hook_record records[];
} sn_hook_stack;

extern sn_slot sn_hook_slot; /**< the thread's sn_hook_stack */

static inline sn_hook_stack *sn_hook_stack_of(sn_thread *thread) { return (sn_hook_stack *)thread->slots[sn_hook_slot]; }

/* ------------------------------------------------------------------------------------------------- hook_set.c */

bool sn_hooks_are_on(void);
/** Whether a slow hook wants to know ends: then returns ask. */
bool sn_hooks_want_returns(void);
/** What a service that is built on hooks has done at the functions of its own. */
typedef struct sn_hook_service {
    bool (*is_own)(const sn_hook *hook);
    const void *(*prepare)(const sn_hook_place *place); /**< sets `owner`, before code is inserted; under sn_jit_lock */
    bool (*needs_frame)(const sn_hook *hook);
    /** A function of the service's for calls that need neither a record nor an end, of whose arguments the first is enough; NULL:
        they do. Called in the code cache, as sn_hook_entered_with_one() is. */
    void (*(*begins_simply)(const sn_hook *hook))(sn_thread *thread, const sn_hook_place *place, uint64_t argument);
    unsigned (*argument_count)(const sn_hook *hook); /**< how many of the arguments are looked at, from the first on */
    const uint64_t *attends; /**< if it is not 0 when such a function begins, `attend` is called first */
    sn_slot own_attends;     /**< the same of a thread */
    void (*attend)(sn_thread *thread, const sn_hook_place *place);
    bool (*always_attends)(const sn_hook_place *place); /**< `attend` is called whenever the function begins */
    void (*thread_is_made)(void); /**< in the thread that makes another one, before */
    void (*thread_begins)(sn_thread *thread);
    void (*thread_ends)(sn_thread *thread);
    void (*thread_forgets)(sn_thread *thread);
    void (*before_fork)(void);
    void (*after_fork)(void);
} sn_hook_service;

/** Once, before the first hook. All callbacks must be there. */
void sn_hooks_serve(const sn_hook_service *service);
extern const sn_hook_service *sn_hooks_service; /**< NULL: none */

/** The address of the function `name` in the module whose code `address` is; 0 if it has none that others may use. Under
    sn_jit_lock. */
uint64_t sn_hooks_beside(uint64_t address, const char *name);

/** The hooks of the function at `address`, or NULL. Under sn_jit_lock. */
sn_hook_place *sn_hooks_at(uint64_t address);

/* ---------------------------------------------------------------------------------------------- hook_insert.c */

/** In front of instruction `index`, where a function begins. Under sn_jit_lock. */
void sn_hooks_insert_entry(sn_block *block, unsigned index, uint64_t address);
/** Where contexts are found by unwinding: in front of the functions that are hooked, and where their calls return to. */
void sn_hooks_insert_unwound(sn_block *block);
/** In front of a return, whose return address ends at `slot`, while the frame is there. Under sn_jit_lock. */
void sn_hooks_insert_return(sn_block *block, sn_value slot);

/* ------------------------------------------------------------------------------------------------ hook_fast.c */

/** For inserted code: a function with a fast hook begins. */
void sn_hook_entered(sn_thread *thread, const sn_hook_place *place, uint64_t a, uint64_t b, uint64_t c, uint64_t d);
/** The same of which only the first argument matters: each one takes some instructions at the call. */
void sn_hook_entered_with_one(sn_thread *thread, const sn_hook_place *place, uint64_t a);

/** A frame with SN_FRAME_HOOKED goes: by its return, or by a jump. May run in the code cache. */
void sn_hook_left(sn_thread *thread, sn_call_frame *frame, bool returns);

/** The same, `result` being what it returns, which hooks may change; NULL: it was left by a jump. */
void sn_hook_left_with(sn_thread *thread, sn_call_frame *frame, uint64_t *result);

extern bool sn_hooks_call; /**< a hook has had a function called */
const sn_hook_record *sn_hook_search_calling(sn_thread *thread, uint64_t address);

/** If the function at `address`, where the thread is, was called by a hook of its own (sn_hook_call()), or goes on after that: that
    hook's record; else NULL. No other hook is told then. */
static inline const sn_hook_record *sn_hook_calling(sn_thread *thread, uint64_t address) {
    return sn_hooks_call ? sn_hook_search_calling(thread, address) : 0;
}

/** Whether a call that is at its first instruction is the one that such a hook makes, or goes on after that: it has a frame. */
bool sn_hook_has_frame(sn_thread *thread, uint64_t address, uint64_t stack_pointer);

/** A new record for the call that is at its first instruction, or NULL. */
static inline sn_hook_record *sn_hook_push(sn_thread *thread, const sn_hook_place *place) {
    sn_hook_stack *stack = sn_hook_stack_of(thread);
    if (stack->end == stack->limit) return 0;
    sn_call_frame *frame = sn_shadow_last(thread);
    sn_hook_record *record = stack->end++;
    record->call.hook = place->hook;
    record->call.frame = sn_shadow_is_base(frame) ? 0 : frame;
    record->call.word = record->call.result = 0;
    record->call.has_returned = false;
    record->place = place;
    record->outcome = SN_HOOK_GOES_ON;
    return record;
}

/** `begin` has asked for the end: the frame is marked. Else the record goes. */
static inline void sn_hook_keep(sn_thread *thread, sn_hook_record *record, bool wants_end) {
    if (!wants_end || !record->call.frame || !record->call.hook->end) {
        sn_hook_stack_of(thread)->end = record;
        return;
    }
    sn_call_frame *frame = sn_shadow_last(thread);
    frame->slot |= SN_FRAME_HOOKED;
    if (record->call.hook->way == SN_HOOK_SLOW) frame->slot |= SN_FRAME_SLOWLY;
}

/** A function with a fast hook begins: its record, and the hook is told. */
static inline void sn_hook_enter(sn_thread *thread, const sn_hook_place *place, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    if (sn_hook_calling(thread, place->address)) return;
    sn_hook_record *record = sn_hook_push(thread, place);
    if (!record) return;
    record->call.arguments[0] = a;
    record->call.arguments[1] = b;
    record->call.arguments[2] = c;
    record->call.arguments[3] = d;
    sn_hook_keep(thread, record, place->hook->begin(thread, &record->call));
}

/* ------------------------------------------------------- hook_unwound.c: where contexts are found by unwinding stacks */

/** Where inserted code leaves the client's stack and frame pointer for sn_hook_unwound_call(). */
extern sn_slot sn_hook_unwound_stack_slot, sn_hook_unwound_frame_slot;
/** For inserted code: a function with a fast hook begins, and is told to it. Returns 1 if nothing is told yet, since something must
    be found out first, by sn_hook_unwound_begins_slowly(); then sn_hook_unwound_entered() tells. */
uint64_t sn_hook_unwound_call(sn_thread *thread, const sn_hook_place *place, uint64_t a, uint64_t b, uint64_t c, uint64_t d);
/** The same of which only the first argument matters. */
uint64_t sn_hook_unwound_call_with_one(sn_thread *thread, const sn_hook_place *place, uint64_t a);
/** The frame of that call, whose caller has this context. */
void sn_hook_unwound_push(sn_thread *thread, const sn_hook_place *place, uint64_t stack_pointer, uint64_t frame_pointer,
                          uint32_t caller);
/** Behind sn_hook_entered(): a call whose end nobody wants is over. */
void sn_hook_unwound_entered(sn_thread *thread, const sn_hook_place *place, uint64_t a, uint64_t b, uint64_t c, uint64_t d);
/** From a call that has no frame, called by sn_call_fast(): the frames of calls that were left by a jump go. */
void sn_hook_unwound_drop_left(sn_thread *thread);
/** Behind `begin`: a call whose end nobody wants is over. */
void sn_hook_unwound_keep(sn_thread *thread);
/** At a return address, called by sn_call_fast_if(): the last call returns there. */
void sn_hook_unwound_returned(sn_thread *thread, uint64_t data, uint64_t slot, uint64_t expected, uint64_t stack_pointer);
/** The frames of calls whose return address ended at `slot` go, and hooks are told; `result` as of sn_hook_left_with(). */
void sn_hook_unwound_drop(sn_thread *thread, uint64_t slot, uint64_t *result);

/* ------------------------------------------------------------------------------------------------ hook_slow.c */

/** Called from inserted code by leaving the cache, when sn_hook_unwound_call() could not. */
void sn_hook_unwound_begins_slowly(sn_thread *thread, const sn_hook_place *place);
/** The same for slow hooks: with their `begin`. */
void sn_hook_unwound_begin(sn_thread *thread, const sn_hook_place *place);
/** At a return address: the last call returns there, and has a slow hook. */
void sn_hook_unwound_end(sn_thread *thread);

/** Called from inserted code by leaving the cache. */
void sn_hook_begin_slowly(sn_thread *thread, const sn_hook_place *place);
void sn_hook_end_slowly(sn_thread *thread);

void sn_hooks_thread_begins(sn_thread *thread);
void sn_hooks_thread_ends(sn_thread *thread);
/** The thread's shadow stack begins anew. */
void sn_hooks_thread_forgets(sn_thread *thread);

/* ----------------------------------------------------------------------------------- x86_64/hook_registers.c */

/** Where functions find their first integer arguments, and leave their result: numbers of general registers. */
extern const uint8_t sn_hook_argument_registers[SN_HOOK_ARGUMENTS];

extern const uint8_t sn_hook_result_register;

/** The result at a return, seen from code that sn_call_fast_if() has called; and another value for it. */
uint64_t sn_hook_result(const sn_thread *thread);
void sn_hook_set_result(sn_thread *thread, uint64_t result);

/** The stack pointer, seen from code that sn_call_fast() has called. */
uint64_t sn_hook_stack_pointer(const sn_thread *thread);

/** In the engine, at a function's first instruction: go on in the caller, with this result. */
void sn_hook_go_back(sn_thread *thread, uint64_t result);

/** The same of the thread's state in the engine. */
uint64_t sn_hook_engine_result(const sn_thread *thread);
void sn_hook_set_engine_result(sn_thread *thread, uint64_t result);

#endif
