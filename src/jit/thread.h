/**
 * @fileoverview The engine's state of one client thread, reached through the per-thread segment base while client code
 * runs. Allocated and listed by guest/thread.c; the first part is known to emitted code (thread_offsets.h).
 *
 * Everything is written by its own thread only, except `recheck` and `pending`, which its signal handler writes too.
 */
#ifndef SONDE_JIT_THREAD_H
#define SONDE_JIT_THREAD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jit/block.h"
#include "jit/thread_offsets.h"
#include "sonde/tool.h"

struct sn_signal_table;
struct sn_filter;
struct sn_client_call;

/** Limits on memory that the engine applies in the kernel's place (guest/limits.c). */
enum { SN_LIMIT_ADDRESS_SPACE, SN_LIMIT_DATA, SN_MEMORY_LIMITS };

/** As the kernel lays it out (struct rlimit64). */
typedef struct sn_memory_limit {
    uint64_t soft, hard;
} sn_memory_limit;

/** A signal that arrived at a moment when the client's state was not at an instruction boundary. */
typedef struct sn_pending_signal {
    bool present;
    siginfo_t info;
} sn_pending_signal;

/** Why the thread is being single-stepped through the code cache. */
typedef enum sn_stepping {
    SN_STEP_NONE,
    SN_STEP_DELIVER, /**< up to the next boundary, to deliver the pending signal there */
    SN_STEP_LEAVE,   /**< over one client instruction, then to the dispatcher: its block was just discarded */
} sn_stepping;

struct sn_thread {
    uint64_t general[16];
    uint64_t pc;
    uint64_t flags;
    uint64_t spill[3];
    uint64_t fast_return;   /**< cache address that a fast call should have returned to, which returns to sn_runtime_called */
    uint64_t engine_stack;
    uint64_t engine_base;
    uint64_t client_base;
    uint64_t client_base2;
    uint64_t resume;
    void *save_area;        /**< extended state, as the processor's save instruction writes it */
    void *load_area;        /**< what the next entry loads: usually save_area */
    uint64_t load_mask;
    uint32_t exit;
    uint32_t recheck;       /**< look again before client code goes on */
    struct sn_thread *self;
    void (*dispatch)(struct sn_thread *thread);
    void (*reenter)(struct sn_thread *thread);
    uint64_t save_mask;
    uint64_t last_syscall;  /**< number of the last system call that was passed through */
    uint64_t segment_instructions;
    uint64_t branch_site;   /**< cache address of the last indirect branch that took the general way */
    uint32_t by_return;     /**< where returns are predicted: the last indirect branch was one, and left a cache address in
                                 the dead stack slot below the stack pointer */
    uint32_t in_fast_call;
    uint64_t saved_flags;   /**< bits 8 to 15: the low byte of the flags register; bit 0: overflow */
    uint64_t saved[16];
    uint64_t kept[16];
    uint64_t arguments[6];
    uint64_t traces[SN_THREAD_TRACE_COUNT];
    uint64_t values[SN_THREAD_VALUE_COUNT];
    uint64_t slots[SN_THREAD_SLOT_COUNT];
    uint64_t stepped_to;    /**< where the client comes without having made a step, if it steps itself by the trap flag: behind
                                 the instruction that sets the flag, or where it resumes; 0: none */
    uint64_t rare_saved;    /**< while a function runs that sn_call_fast_if() called: bit R: the client's value of register R
                                 is in `saved`; of the others that the function may change it is in `kept` */
    uint8_t shadow[SN_THREAD_SHADOW_BYTES] __attribute__((aligned(8))); /**< a thread begins with its creator's */
    int64_t left[SN_THREAD_LEFT_PARTS]; /**< instructions until it changes to the other version of the code (versions.h) */
    int64_t passed;         /**< what blocks that count in both versions have counted in version 1 */
    uint64_t general_table; /**< that the general lookup uses: sn_general_table() of its version */

    /* From here on only C code looks. */
    uint64_t trace_start[SN_THREAD_TRACE_COUNT]; /**< buffers; 0: none */
    void *trace_spare[SN_THREAD_TRACE_COUNT];    /**< jit/trace.c's */
    int64_t counted;        /**< what all blocks have counted in version 1 */
    uint32_t version;       /**< of the code that it runs */
    uint32_t trace_full;    /**< with SN_EXIT_TRACE_FULL: which */
    uint32_t trace_register;/**< and the register that points to the next record */
    /** A repeated instruction runs whose accesses are told when it has ended (guest/enumerate.h). */
    struct {
        bool running;
        bool interrupted; /**< it was left early, with `left` repetitions to do */
        bool faulted;     /**< because the next one faults */
        uint64_t left;
        uint64_t general[16], flags;
        sn_call_record call;
    } repeat;
    void (*attends)(struct sn_thread *thread); /**< sn_attend(): to be called before client code goes on; NULL: none */
    uint32_t reserves_open; /**< traces whose buffer's end is open for the moment */
    bool bare;              /**< the instruction at pc is to run once without analysis code */
    bool inside_analysis;   /**< resume is in the middle of analysis code: only stepping leads to a boundary */
    bool inside_call;       /**< resume is behind a tool call in the middle of a block */
    bool redirected;        /**< the function that a tool's call called has set pc: the block is left for it */
    struct sn_client_call *client_calls; /**< guest/x86_64/client_call.c */
    uint32_t call_generation; /**< of the cache, when the call was made */
    uint32_t in_engine;     /**< gate: this thread may hold engine locks */
    uint32_t in_client;     /**< it runs client code, or is on the way there: it may be in the code cache */
    struct sn_thread *next; /**< list of live threads (guest/thread.c) */
    int id;                 /**< kernel thread number */
    int process;            /**< process number: differs for a vfork child that borrows the address space */
    bool borrowed;          /**< such a child */
    bool traced_on_exec;    /**< such a child that asked for its parent to trace it */
    const char *callback;   /**< the tool's function that runs; NULL: none */
    bool failed;            /**< the engine found a fault of its own in this thread */
    void *tool_data;

    /* A block that was left early: the dispatcher tells the tool. */
    bool interrupted;
    unsigned interrupted_completed;
    void *interrupted_data;

    /* Signals (guest/signal.c). */
    struct sn_signal_table *signals;
    sn_pending_signal pending;
    bool mask_held;         /**< the host mask blocks all; `held_mask` is what it will be */
    uint64_t held_mask;
    uint64_t blocked_faults;/**< the client's mask for the signals that the engine never blocks on the host */
    uint64_t waiting_faults;/**< such signals sent from outside while the client blocks them */
    uint64_t suspended_mask;/**< mask in force when the pending signal ended a sigsuspend */
    bool suspended;
    stack_t alternate;      /**< the client's alternate stack */
    uint8_t stepping;       /**< sn_stepping */
    uint8_t fatal_signal;
    int told_signal;        /**< one that was delivered: the dispatcher tells the tool (guest/events.c); 0: none */
    uint64_t told_signal_address;
    bool branched;          /**< the engine was entered by an indirect branch that is done */
    bool steps_itself;      /**< when the engine began stepping it, the client had set the trap flag itself */
    uint64_t stepped_at;    /**< cache address where stepping began, or the last step ended */

    const struct sn_filter *filters;        /**< seccomp filters, newest first (guest/seccomp.c) */
    const struct sn_filter *kernel_filters; /**< the newest that the kernel has too */
    bool strict;                            /**< seccomp's strict mode */
    sn_memory_limit borrowed_limits[SN_MEMORY_LIMITS]; /**< of a process that borrows the address space */

    /* Memory that belongs to this thread. */
    void *mapping;
    size_t mapping_size;
    void *host_tls;
    uint64_t copied_state;  /**< room for an extended state that a signal return loads */
    uint64_t state_size;
    uint64_t load_mask_all; /**< all components of the extended state that exist */
};

/** Bytes reserved behind each thread's state for its counters; committed as they are touched. */
#define SN_COUNTER_BYTES (UINT64_C(1) << 30)
/** How many counters tools have asked for (jit/insert.c). */
size_t sn_counters_in_use(void);

/** Call one of the tool's functions, `what` being its name, so that a crash in it can be told. */
#define SN_TELL_TOOL(what, call)                 \
    do {                                         \
        sn_thread *telling = sn_thread_current(); \
        const char *outer = telling->callback;   \
        telling->callback = (what);              \
        call;                                    \
        telling->callback = outer;               \
    } while (0)

/** The current thread; only where engine code runs for a client thread. */
static inline sn_thread *sn_thread_current(void);

#include "jit/x86_64/current.h"

#endif
