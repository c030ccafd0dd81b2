/**
 * @fileoverview Threads of the client: see thread.h.
 *
 * A thread's memory is one reservation: its state, its counters (SN_COUNTER_BYTES, committed as touched), the engine's
 * stack, the host's signal stack, two areas for extended state. Ended threads' reservations are kept for the next ones; a
 * reservation is used again only when the kernel no longer knows the thread that last stood on its stack.
 */
#include "guest/events.h"
#include "guest/thread.h"

#include <asm/unistd.h>
#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/x86_64/raw_syscall.h"
#include "guest/dispatch.h"
#include "guest/host_tls.h"
#include "guest/limits.h"
#include "guest/process.h"
#include "guest/request.h"
#include "guest/seccomp.h"
#include "guest/signal.h"
#include "guest/x86_64/abi.h"
#include "jit/layout.h"
#include "jit/runtime.h"
#include "jit/trace.h"
#include "jit/trace_workers.h"
#include "jit/versions.h"

#define ENGINE_STACK_SIZE UINT64_C(0x200000)
#define GUARD_SIZE SN_PAGE_SIZE

_Static_assert(offsetof(sn_thread, pc) == SN_THREAD_PC, "offset");
_Static_assert(offsetof(sn_thread, flags) == SN_THREAD_FLAGS, "offset");
_Static_assert(offsetof(sn_thread, spill) == SN_THREAD_SPILL, "offset");
_Static_assert(offsetof(sn_thread, engine_stack) == SN_THREAD_ENGINE_STACK, "offset");
_Static_assert(offsetof(sn_thread, engine_base) == SN_THREAD_ENGINE_BASE, "offset");
_Static_assert(offsetof(sn_thread, client_base) == SN_THREAD_CLIENT_BASE, "offset");
_Static_assert(offsetof(sn_thread, client_base2) == SN_THREAD_CLIENT_BASE2, "offset");
_Static_assert(offsetof(sn_thread, resume) == SN_THREAD_RESUME, "offset");
_Static_assert(offsetof(sn_thread, save_area) == SN_THREAD_SAVE_AREA, "offset");
_Static_assert(offsetof(sn_thread, load_area) == SN_THREAD_LOAD_AREA, "offset");
_Static_assert(offsetof(sn_thread, load_mask) == SN_THREAD_LOAD_MASK, "offset");
_Static_assert(offsetof(sn_thread, exit) == SN_THREAD_EXIT, "offset");
_Static_assert(offsetof(sn_thread, recheck) == SN_THREAD_RECHECK, "offset");
_Static_assert(offsetof(sn_thread, self) == SN_THREAD_SELF, "offset");
_Static_assert(offsetof(sn_thread, dispatch) == SN_THREAD_DISPATCH, "offset");
_Static_assert(offsetof(sn_thread, reenter) == SN_THREAD_REENTER, "offset");
_Static_assert(offsetof(sn_thread, save_mask) == SN_THREAD_SAVE_MASK, "offset");
_Static_assert(offsetof(sn_thread, last_syscall) == SN_THREAD_LAST_SYSCALL, "offset");
_Static_assert(offsetof(sn_thread, segment_instructions) == SN_THREAD_SEGMENT_INSTRUCTIONS, "offset");
_Static_assert(offsetof(sn_thread, branch_site) == SN_THREAD_BRANCH_SITE, "offset");
_Static_assert(offsetof(sn_thread, by_return) == SN_THREAD_BY_RETURN, "offset");
_Static_assert(offsetof(sn_thread, in_fast_call) == SN_THREAD_IN_FAST_CALL, "offset");
_Static_assert(offsetof(sn_thread, saved_flags) == SN_THREAD_SAVED_FLAGS, "offset");
_Static_assert(offsetof(sn_thread, saved) == SN_THREAD_SAVED, "offset");
_Static_assert(offsetof(sn_thread, kept) == SN_THREAD_KEPT, "offset");
_Static_assert(offsetof(sn_thread, arguments) == SN_THREAD_ARGUMENTS, "offset");
_Static_assert(offsetof(sn_thread, traces) == SN_THREAD_TRACES, "offset");
_Static_assert(offsetof(sn_thread, values) == SN_THREAD_VALUES, "offset");
_Static_assert(offsetof(sn_thread, slots) == SN_THREAD_SLOTS, "offset");
_Static_assert(offsetof(sn_thread, stepped_to) == SN_THREAD_STEPPED_TO, "offset");
_Static_assert(offsetof(sn_thread, rare_saved) == SN_THREAD_RARE_SAVED, "offset");
_Static_assert(offsetof(sn_thread, shadow) == SN_THREAD_SHADOW, "offset");
_Static_assert(offsetof(sn_thread, left) == SN_THREAD_LEFT, "offset");
_Static_assert(offsetof(sn_thread, passed) == SN_THREAD_PASSED, "offset");
_Static_assert(offsetof(sn_thread, general_table) == SN_THREAD_GENERAL_TABLE, "offset");
_Static_assert(sizeof(sn_thread) <= SN_THREAD_COUNTERS, "size");

static const sn_tool *tool;
static sn_lock list_lock;
static sn_thread *living, *ended;
static unsigned alive;
static sn_thread *gone_since;  /**< from here on the kernel has forgotten all in the list of the ended; NULL: not known */

const sn_tool *sn_current_tool(void) { return tool; }

/* ------------------------------------------------------------------------ memory */

static size_t mapping_size(void) {
    return SN_THREAD_COUNTERS + SN_COUNTER_BYTES + 2 * GUARD_SIZE + ENGINE_STACK_SIZE + SN_SIGNAL_STACK_SIZE +
           2 * ((sn_machine_state_size() + SN_PAGE_SIZE - 1) & ~(SN_PAGE_SIZE - 1));
}

static uint64_t stack_bottom(const sn_thread *thread) {
    return (uint64_t)thread->mapping + SN_THREAD_COUNTERS + SN_COUNTER_BYTES + GUARD_SIZE;
}

void *sn_thread_signal_stack(const sn_thread *thread) {
    return (void *)(stack_bottom(thread) + ENGINE_STACK_SIZE + GUARD_SIZE);
}

/** Lay out a reservation for a thread. */
static sn_thread *prepare(void *mapping, size_t size) {
    sn_thread *thread = mapping;
    memset(thread, 0, sizeof *thread);
    thread->self = thread;
    thread->mapping = mapping;
    thread->mapping_size = size;
    thread->engine_stack = stack_bottom(thread) + ENGINE_STACK_SIZE;
    uint64_t areas = (uint64_t)sn_thread_signal_stack(thread) + SN_SIGNAL_STACK_SIZE;
    thread->save_area = (void *)areas;
    thread->copied_state = areas + ((sn_machine_state_size() + SN_PAGE_SIZE - 1) & ~(SN_PAGE_SIZE - 1));
    thread->dispatch = sn_dispatch;
    thread->reenter = sn_reenter;
    sn_machine_prepare_thread(thread);
    return thread;
}

static sn_thread *reserve(void) {
    size_t size = mapping_size();
    void *mapping = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) return NULL;
    sn_thread *thread = prepare(mapping, size);
    mprotect((void *)(stack_bottom(thread) - GUARD_SIZE), GUARD_SIZE, PROT_NONE);
    mprotect((void *)(stack_bottom(thread) + ENGINE_STACK_SIZE), GUARD_SIZE, PROT_NONE);
    return thread;
}

/** A reservation of a thread that has left its stack for good. */
static sn_thread *reuse(void) {
    sn_lock_acquire(&list_lock);
    sn_thread **link = &ended, *thread;
    while ((thread = *link) && sn_syscall(__NR_tgkill, thread->process, thread->id, 0) != -ESRCH) link = &thread->next;
    if (thread) {
        *link = thread->next;
        gone_since = NULL;
    }
    sn_lock_release(&list_lock);
    if (!thread) return NULL;
    sn_host_tls_free(thread->host_tls);
    void *mapping = thread->mapping;
    size_t size = thread->mapping_size;
    madvise((char *)mapping + SN_THREAD_COUNTERS, sn_counters_in_use() * 8, MADV_DONTNEED);
    return prepare(mapping, size);
}

sn_thread *sn_thread_new(const sn_thread *parent) {
    sn_thread *thread = reuse();
    if (!thread) thread = reserve();
    if (!thread) return NULL;
    thread->host_tls = sn_host_tls_new();
    if (!thread->host_tls) {
        munmap(thread->mapping, thread->mapping_size);
        return NULL;
    }
    thread->engine_base = (uint64_t)thread->host_tls;
    memcpy(thread->general, parent->general, sizeof thread->general);
    memcpy(thread->shadow, parent->shadow, sizeof thread->shadow);
    thread->pc = parent->pc;
    thread->flags = parent->flags;
    thread->client_base = parent->client_base;
    thread->client_base2 = parent->client_base2;
    memcpy(thread->save_area, parent->save_area, sn_machine_state_size());
    thread->process = parent->process;
    thread->alternate.ss_flags = SS_DISABLE;
    thread->mask_held = true;
    thread->held_mask = parent->held_mask;
    thread->blocked_faults = parent->blocked_faults;
    thread->filters = parent->filters;
    thread->kernel_filters = parent->kernel_filters;
    thread->strict = parent->strict;
    sn_limits_inherit(thread, parent);
    return thread;
}

void sn_thread_discard(sn_thread *thread) {
    sn_host_tls_free(thread->host_tls);
    munmap(thread->mapping, thread->mapping_size);
}

uint64_t sn_thread_stack_pointer(const sn_thread *thread) { return sn_abi_stack_pointer(thread); }

uint64_t sn_thread_program_counter(const sn_thread *thread) { return thread->pc; }

sn_thread *sn_threads_init(const sn_tool *chosen) {
    tool = chosen;
    sn_machine_init();
    sn_host_tls_init();
    sn_thread *thread = reserve();
    if (!thread) sn_fail(SN_STATUS_ENGINE, "cannot reserve memory for the first thread");
    thread->engine_base = (uint64_t)sn_host_tls_current();
    thread->id = gettid();
    thread->process = getpid();
    living = thread;
    alive = 1;
    sn_thread_bind(thread);
    return thread;
}

/* -------------------------------------------------------------------------- list */

static void list_add(sn_thread *thread) {
    sn_lock_acquire(&list_lock);
    thread->next = living;
    living = thread;
    alive++;
    sn_lock_release(&list_lock);
}

static void unlink_living(sn_thread *thread) {
    for (sn_thread **link = &living; *link; link = &(*link)->next) {
        if (*link != thread) continue;
        *link = thread->next;
        alive--;
        break;
    }
}

/** A child that never began, or that is gone: its memory is given back. Who waits for it to leave the engine is told. */
static void forget(sn_thread *thread) {
    sn_lock_acquire(&list_lock);
    unlink_living(thread);
    sn_lock_release(&list_lock);
    sn_engine_leave(thread);
    sn_signals_release(thread->signals);
    sn_traces_end(thread);
    sn_client_calls_end(thread);
    sn_thread_discard(thread);
}

/** It ends: its memory can be used again once the kernel is done with it. */
static void list_retire(sn_thread *thread) {
    sn_lock_acquire(&list_lock);
    unlink_living(thread);
    thread->next = ended;
    ended = thread;
    sn_lock_release(&list_lock);
}

unsigned sn_threads_alive(void) { return alive; }

bool sn_thread_is_alone(const sn_thread *thread) {
    if (alive != 1 || thread->borrowed) return false;
    sn_lock_acquire(&list_lock);
    const sn_thread *other = ended;
    while (other && other != gone_since && sn_syscall(__NR_tgkill, other->process, other->id, 0) == -ESRCH)
        other = other->next;
    bool alone = !other || other == gone_since;
    if (alone) gone_since = ended;
    sn_lock_release(&list_lock);
    return alone;
}

void sn_threads_visit(void (*visit)(sn_thread *thread, void *data), void *data) {
    sn_lock_acquire(&list_lock);
    for (sn_thread *thread = living; thread; thread = thread->next)
        if (!thread->borrowed && thread->id) visit(thread, data); /* without a number: it has not begun yet */
    sn_lock_release(&list_lock);
}

int sn_thread_id(const sn_thread *thread) { return thread->id; }
SN_FAST void *sn_thread_data(const sn_thread *thread) { return thread->tool_data; }
void sn_thread_set_data(sn_thread *thread, void *data) { thread->tool_data = data; }

void sn_thread_started(sn_thread *thread) {
    sn_seccomp_thread_started(thread);
    sn_versions_thread_begins(thread);
    sn_traces_start(thread);
    if (!thread->borrowed) sn_stack_listening.thread_begins(thread, NULL);
    if (tool->thread_start && !thread->borrowed) SN_TELL_TOOL("thread_start", tool->thread_start(thread));
}

/* -------------------------------------------------------------------------- gate */

static uint32_t gate_closed; /**< accessed by the atomic built-ins only */

void sn_engine_enter(sn_thread *thread) {
    for (;;) {
        __atomic_store_n(&thread->in_engine, 1, __ATOMIC_SEQ_CST);
        if (!__atomic_load_n(&gate_closed, __ATOMIC_SEQ_CST)) return;
        sn_engine_leave(thread);
        sn_syscall(__NR_futex, &gate_closed, FUTEX_WAIT_PRIVATE, 1, NULL);
    }
}

bool sn_engine_try_enter(sn_thread *thread) {
    __atomic_store_n(&thread->in_engine, 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&gate_closed, __ATOMIC_SEQ_CST)) return true;
    sn_engine_leave(thread);
    return false;
}

void sn_engine_leave(sn_thread *thread) {
    __atomic_store_n(&thread->in_engine, 0, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&gate_closed, __ATOMIC_SEQ_CST))
        sn_syscall(__NR_futex, &thread->in_engine, FUTEX_WAKE_PRIVATE, 1);
}

/** The flag of a thread other than `thread`, at `offset` of its state, that is set; NULL if none is. */
static uint32_t *find_set(const sn_thread *thread, size_t offset) {
    uint32_t *found = NULL;
    sn_lock_acquire(&list_lock);
    for (sn_thread *other = living; other && !found; other = other->next) {
        uint32_t *flag = (uint32_t *)((char *)other + offset);
        if (other != thread && __atomic_load_n(flag, __ATOMIC_SEQ_CST)) found = flag;
    }
    sn_lock_release(&list_lock);
    return found;
}

/** With the gate closed, wait until the flag is clear in all other threads. Without the lock on the list: those in the
    engine may need it before they leave. The kernel does not mind if the memory of the flag goes away meanwhile. */
static void await_all_clear(const sn_thread *thread, size_t offset) {
    uint32_t *flag;
    while ((flag = find_set(thread, offset))) sn_syscall(__NR_futex, flag, FUTEX_WAIT_PRIVATE, 1, NULL);
}

void sn_gate_close(sn_thread *thread) {
    /* Two threads that fork at once: one waits outside. */
    for (;;) {
        uint32_t open = 0;
        if (__atomic_compare_exchange_n(&gate_closed, &open, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) break;
        sn_engine_leave(thread);
        sn_engine_enter(thread);
    }
    await_all_clear(thread, offsetof(sn_thread, in_engine));
}

void sn_gate_open(void) {
    __atomic_store_n(&gate_closed, 0, __ATOMIC_SEQ_CST);
    sn_syscall(__NR_futex, &gate_closed, FUTEX_WAKE_PRIVATE, INT32_MAX);
}

void sn_client_leave(sn_thread *thread) {
    __atomic_store_n(&thread->in_client, 0, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&gate_closed, __ATOMIC_SEQ_CST))
        sn_syscall(__NR_futex, &thread->in_client, FUTEX_WAKE_PRIVATE, 1);
}

/** A fault signal, since those are never blocked, that no instruction raises: told by its code and value. */
#define STOP_SIGNAL SIGILL
#define STOP_CODE (-60)
#define STOP_VALUE ((void *)&gate_closed)

const siginfo_t sn_stop_information = {.si_signo = STOP_SIGNAL, .si_code = STOP_CODE, ._sifields._rt.si_sigval.sival_ptr = STOP_VALUE};

bool sn_is_stop_request(const siginfo_t *info) {
    return info->si_signo == STOP_SIGNAL && info->si_code == STOP_CODE && info->si_value.sival_ptr == STOP_VALUE;
}

void sn_world_stop(sn_thread *thread) {
    sn_gate_close(thread);
    sn_lock_acquire(&list_lock);
    for (sn_thread *other = living; other; other = other->next)
        if (other != thread && __atomic_load_n(&other->in_client, __ATOMIC_SEQ_CST))
            sn_syscall(__NR_rt_tgsigqueueinfo, other->process, other->id, STOP_SIGNAL, &sn_stop_information);
    sn_lock_release(&list_lock);
    await_all_clear(thread, offsetof(sn_thread, in_client));
}

sn_thread *sn_running_thread(void) { return sn_thread_current(); }

void sn_while_still(void (*work)(void *data), void *data) {
    static sn_thread *stopper; /* who holds the gate; others only compare it with themselves */
    sn_thread *thread = sn_thread_current();
    bool stops = !thread->failed && stopper != thread;
    if (stops) {
        sn_world_stop(thread);
        stopper = thread;
    }
    work(data);
    if (!stops) return;
    stopper = NULL;
    sn_gate_open();
}

/* ------------------------------------------------------------------------- making */

/** What clone and clone3 have in common. */
typedef struct clone_request {
    uint64_t number;       /**< of the system call to make */
    uint64_t flags;        /**< CLONE_* without the exit signal */
    uint64_t stack;        /**< the child's stack pointer, 0: the parent's */
    uint64_t tls;
    uint64_t parent_id, child_id;
    struct clone_args extended; /**< clone3: the client's own words */
    uint64_t extended_size;
    uint64_t exit_signal;
} clone_request;

static long read_clone3(const uint64_t arguments[6], clone_request *request) {
    uint64_t size = arguments[1];
    if (size < CLONE_ARGS_SIZE_VER0) return -EINVAL;
    if (size > sizeof request->extended) return -E2BIG;
    memset(&request->extended, 0, sizeof request->extended);
    if (!sn_copy_safely(&request->extended, (const void *)arguments[0], size)) return -EFAULT;
    const struct clone_args *given = &request->extended;
    if (!given->stack != !given->stack_size) return -EINVAL;
    request->flags = given->flags;
    request->stack = given->stack ? given->stack + given->stack_size : 0;
    request->tls = given->tls;
    request->child_id = given->child_tid;
    request->parent_id = given->parent_tid;
    request->extended_size = size;
    return 0;
}

static long read_request(uint64_t number, const uint64_t arguments[6], clone_request *request) {
    memset(request, 0, sizeof *request);
    request->number = number;
    switch (number) {
    case __NR_clone3: return read_clone3(arguments, request);
    case __NR_clone:
        request->flags = arguments[0] & ~(uint64_t)CSIGNAL;
        request->exit_signal = arguments[0] & CSIGNAL;
        request->stack = arguments[1];
        request->parent_id = arguments[2];
        request->child_id = arguments[3];
        request->tls = arguments[4];
        return 0;
    case __NR_vfork:
        request->flags = CLONE_VM | CLONE_VFORK;
        break;
    default:
        break;
    }
    request->number = __NR_clone;
    request->exit_signal = SIGCHLD;
    return 0;
}

/** The kernel's words for the call, with the engine's stack and thread pointer in place of the client's. */
static void make_arguments(clone_request *request, const sn_thread *child, long words[6]) {
    uint64_t flags = request->flags, stack = 0, tls = 0;
    if (child) {
        flags |= CLONE_SETTLS;
        stack = child->engine_stack;
        tls = child->engine_base;
    } else {
        flags &= ~(uint64_t)CLONE_SETTLS;
    }
    memset(words, 0, 6 * sizeof *words);
    if (request->number == __NR_clone3) {
        request->extended.flags = flags;
        request->extended.stack = child ? stack - ENGINE_STACK_SIZE : 0;
        request->extended.stack_size = child ? ENGINE_STACK_SIZE : 0;
        request->extended.tls = tls;
        words[0] = (long)&request->extended;
        words[1] = (long)request->extended_size;
    } else {
        words[0] = (long)(flags | request->exit_signal);
        words[1] = (long)stack;
        words[2] = (long)request->parent_id;
        words[3] = (long)request->child_id;
        words[4] = (long)tls;
    }
}

/** The child's client state: result 0, its own stack and thread pointer. */
static void set_child_state(sn_thread *child, const clone_request *request) {
    sn_abi_set_result(child, 0);
    if (request->stack) sn_abi_set_stack_pointer(child, request->stack);
    if (request->flags & CLONE_SETTLS) child->client_base = request->tls;
}

/** A child that shares the address space: a thread, or a vfork child. */
static long clone_sharing(sn_thread *thread, clone_request *request) {
    sn_stack_listening.thread_is_made();
    sn_thread *child = sn_thread_new(thread);
    if (!child) return -EAGAIN;
    set_child_state(child, request);
    child->borrowed = !(request->flags & CLONE_THREAD);
    /* Tools are not told of it, and the code that they inserted runs all the same: on the parent's slots, which waits. */
    if (child->borrowed) {
        memcpy(child->slots, thread->slots, sizeof child->slots);
        sn_stack_listening.thread_begins(child, thread);
    }
    if (request->flags & CLONE_SIGHAND) {
        child->signals = thread->signals;
        child->signals->users++;
    } else {
        child->signals = sn_signals_copy(thread->signals);
    }
    /* The kernel keeps the alternate stack for vfork children only (copy_process). */
    if (request->flags & CLONE_VFORK) child->alternate = thread->alternate;
    long words[6];
    make_arguments(request, child, words);
    bool waits = request->flags & CLONE_VFORK;
    /* In the list from now on, and inside the engine: a fork waits until it has begun, and this thread is not the last. */
    child->in_engine = 1;
    list_add(child);
    if (waits) sn_engine_pause(thread);
    long result = sn_clone((long)request->number, words, child);
    if (waits) sn_engine_resume(thread);
    /* A vfork child has called exec or ended. */
    if (result < 0 || waits) {
        if (child->borrowed) sn_stack_listening.thread_ends(child);
        forget(child);
    }
    return result;
}

/** The process is copied: only this thread lives on in the child. */
static void become_child(sn_thread *thread) {
    thread->id = (int)sn_syscall(__NR_gettid);
    thread->process = (int)sn_syscall(__NR_getpid);
    sn_limits_after_fork(thread);
    thread->borrowed = false;
    sn_host_tls_set_id((void *)thread->engine_base, thread->id);
    sn_lock_reset(&list_lock);
    living = thread;
    thread->next = NULL;
    ended = gone_since = NULL;
    alive = 1;
    sn_process_after_fork(thread);
    sn_traces_after_fork(thread);
    madvise((char *)thread + SN_THREAD_COUNTERS, sn_counters_in_use() * 8, MADV_DONTNEED);
    if (tool->fork_child) SN_TELL_TOOL("fork_child", tool->fork_child(thread));
}

static long clone_copying(sn_thread *thread, clone_request *request) {
    long words[6];
    make_arguments(request, NULL, words);
    sn_traces_flush(thread);
    sn_gate_close(thread);
    if (sn_trace_workers_wanted()) sn_trace_workers_end(); /* they may hold locks of the C library */
    sn_process_before_fork();
    sn_stack_listening.before_fork();
    long result = sn_clone((long)request->number, words, NULL);
    sn_stack_listening.after_fork();
    sn_process_after_fork_everywhere();
    if (result == 0) {
        __atomic_store_n(&gate_closed, 0, __ATOMIC_SEQ_CST);
        become_child(thread);
        set_child_state(thread, request);
    } else {
        sn_gate_open();
    }
    return result;
}

long sn_thread_clone(sn_thread *thread, uint64_t number, const uint64_t arguments[6]) {
    clone_request request;
    long result = read_request(number, arguments, &request);
    if (result) return result;
    sn_signals_hold_mask(thread);
    return request.flags & CLONE_VM ? clone_sharing(thread, &request) : clone_copying(thread, &request);
}

void sn_thread_begin(sn_thread *thread) {
    sn_thread_bind(thread);
    thread->id = (int)sn_syscall(__NR_gettid);
    thread->process = (int)sn_syscall(__NR_getpid);
    sn_host_tls_set_id(thread->host_tls, thread->id);
    sn_host_tls_begin();
    sn_signals_thread_start(thread);
    sn_engine_enter(thread);
    sn_thread_started(thread);
    sn_engine_leave(thread);
    thread->exit = SN_EXIT_RESUME;
    sn_thread_enter(thread);
}

/* ------------------------------------------------------------------------- ending */

void sn_thread_exit(sn_thread *thread, int status) {
    sn_signals_hold_mask(thread);
    sn_traces_flush(thread);
    if (thread->borrowed) {
        sn_engine_leave(thread);
        sn_syscall(__NR_exit, status);
    }
    /* Under the lock, the end of the process sees this thread either alive or gone, and the last one knows that it is. */
    sn_process_lock_end();
    bool last = alive == 1;
    if (!last) {
        if (tool->thread_end) SN_TELL_TOOL("thread_end", tool->thread_end(thread));
        sn_stack_listening.thread_ends(thread);
        list_retire(thread);
        sn_traces_end(thread);
        sn_client_calls_end(thread);
    }
    sn_process_unlock_end();
    /* The exit status stays the first thread's, as it is natively: this is no exit_group. */
    if (last) sn_process_end(thread);
    else sn_signals_release(thread->signals);
    sn_engine_leave(thread);
    for (;;) sn_syscall(__NR_exit, status);
}
