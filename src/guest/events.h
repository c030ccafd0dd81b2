/**
 * @fileoverview The events of the tool interface: who wants them, and telling the tool.
 *
 * What the tool does not ask for costs nothing: sn_events says so in advance, and the callers of this file look there.
 * Callbacks run in the client's thread, outside client code, with no lock of the engine held but the one that keeps memory
 * events in order, for which other threads wait outside the engine's gate: a callback may stop the world.
 * System calls: guest/syscall.c. Signals: x86_64/host_signal.c notes them, the dispatcher tells. Memory: memory_events.c.
 * Modules: module_events.c. Requests for a dump: dump.c.
 */
#ifndef SONDE_GUEST_EVENTS_H
#define SONDE_GUEST_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/system_call_ranges.h"
#include "jit/thread.h"

/** What the tool has callbacks for. */
typedef struct sn_events {
    bool calls;   /**< system_call_before or system_call_after */
    bool memory;  /**< memory_* or module_* */
    bool modules; /**< module_* */
    bool signals;
} sn_events;

extern sn_events sn_events_wanted;

/** Once, before anything of the client runs. */
void sn_events_init(const sn_tool *tool);

/** The client is loaded and about to start: tell what there is. */
void sn_events_begin(void);

/** A system call of the client in progress. */
typedef struct sn_told_call {
    sn_system_call call;
    sn_call_ranges list;
} sn_told_call;

/** Around a system call, if sn_events_wanted.calls. A call that does not come back has no end. */
void sn_events_call_begin(sn_told_call *told, sn_thread *thread, uint64_t address, uint64_t number,
                          const uint64_t arguments[6]);
void sn_events_call_end(sn_told_call *told, sn_thread *thread, int64_t result);

/** A signal is being delivered at the client's thread->pc. Callable from the signal handler. */
void sn_events_note_signal(sn_thread *thread, int number);
/** Tell what was noted. Dispatcher only. */
void sn_events_tell_signal(sn_thread *thread);

/** What happens to the client's stacks otherwise than by its own instructions: for service/context_setup.c, which follows
    them. Called in the thread itself. Callbacks may not be NULL. */
typedef struct sn_stack_listener {
    /** In the thread that makes another one, before that is there. */
    void (*thread_is_made)(void);
    /** Before its first instruction. `parent`: it borrows that thread's memory, as vfork's child does; else NULL. */
    void (*thread_begins)(sn_thread *thread, const sn_thread *parent);
    void (*thread_ends)(sn_thread *thread);
    /** A handler will run, its return address being at `frame`. Async-signal-safe. */
    void (*signal)(sn_thread *thread, uint64_t interrupted, uint64_t frame, uint64_t handler);
    /** It has returned, and the stack pointer is what it was. */
    void (*signal_returned)(sn_thread *thread, uint64_t from, uint64_t to);
    /** Around fork: no other thread may be in the middle of a change. */
    void (*before_fork)(void);
    void (*after_fork)(void);
} sn_stack_listener;

extern sn_stack_listener sn_stack_listening; /**< does nothing at first */

/** Changes of the client's mappings, for service/shadow_memory.c: told in the order in which they happened, before the tool is.
    Callbacks may not be NULL. */
typedef struct sn_memory_listener {
    void (*mapped)(uint64_t start, uint64_t end);
    void (*unmapped)(uint64_t start, uint64_t end);
    void (*moved)(uint64_t from, uint64_t to, uint64_t size);
} sn_memory_listener;

/** Where a register of the client, or a part of it, lies in a signal frame. */
typedef struct sn_frame_register {
    uint8_t place;     /**< sn_operand_place */
    uint8_t reg;
    uint16_t offset;   /**< in the register */
    uint32_t size;
    uint64_t address;
} sn_frame_register;

enum { SN_MOST_FRAME_REGISTERS = 160 };

typedef struct sn_frame_layout {
    uint64_t start, end;  /**< what is written of it */
    uint32_t set_general; /**< bit R: general register R has a new value when the handler begins; others have their old ones */
    unsigned count;
    sn_frame_register rows[SN_MOST_FRAME_REGISTERS];
} sn_frame_layout;

/** Signal frames, for service/shadow_registers.c: one was built and its handler begins; a handler returns, and registers are
    loaded from its frame. The first is called in the host's signal handler. */
typedef struct sn_frame_listener {
    void (*built)(sn_thread *thread, const sn_frame_layout *layout);
    void (*returned)(sn_thread *thread, const sn_frame_layout *layout);
    /** An instruction of the client has run into memory that it must not access: whether it is to be run again before the client is
        told. Called in the host's signal handler. */
    bool (*faulted)(sn_thread *thread);
} sn_frame_listener;

/** All NULL while nobody listens. Set in the tool's start callback. */
extern sn_frame_listener sn_frames_listening;

/** Whom to tell; all NULL while nobody listens. Set in the tool's start callback. */
extern sn_memory_listener sn_memory_listening;

/** The process is about to execute `path`. */
void sn_events_exec(sn_thread *thread, const char *path);

#endif
