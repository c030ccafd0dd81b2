/**
 * @fileoverview The dispatcher: see dispatch.h.
 */
#include "guest/dispatch.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/report_file.h"
#include "base/settings.h"
#include "guest/attend.h"
#include "guest/dump.h"
#include "guest/events.h"
#include "guest/enumerate.h"
#include "guest/process.h"
#include "guest/signal.h"
#include "guest/space.h"
#include "guest/syscall.h"
#include "guest/thread.h"
#include "guest/verify.h"
#include "guest/x86_64/abi.h"
#include "jit/cache.h"
#include "jit/layout.h"
#include "jit/runtime.h"
#include "jit/trace.h"
#include "jit/translate.h"
#include "jit/versions.h"

void sn_engine_failure(sn_thread *thread, uint64_t client, const char *what) {
    static _Atomic int failures;
    thread->failed = true;
    sn_log_engine_failure(client, "%s", what);
    if (failures++ == 0) sn_process_end(thread);
    sn_process_exit(thread, SN_STATUS_ENGINE);
}

void sn_tool_failure(sn_thread *thread, const char *callback, const char *what) {
    static _Atomic int failures;
    thread->failed = true;
    sn_message("the tool %s crashed in its callback %s: %s", sn_current_tool()->name, callback, what);
    if (failures++ == 0) sn_process_end(thread);
    sn_output_flush(); /* if it was the end that crashed, what it has written so far */
    sn_process_exit(thread, SN_STATUS_ENGINE);
}

/** The client jumped to where nothing can be executed: its fault, at the address that could not be fetched. */
static void raise_fetch_fault(sn_thread *thread, uint64_t fault) {
    sn_region region;
    siginfo_t info = {.si_signo = SIGSEGV,
                      .si_code = sn_space_find(fault, &region) ? SEGV_ACCERR : SEGV_MAPERR};
    /* Bytes that are mapped executable but cannot be read lie behind the end of their file. */
    if (sn_space_executable(fault)) info = (siginfo_t){.si_signo = SIGBUS, .si_code = BUS_ADRERR};
    info.si_addr = (void *)fault;
    sn_signal_raise(thread, &info);
}

/** How often the cache was emptied. */
static _Atomic uint32_t generation;

/** Empty a full cache, after every other thread has left it. Returns whether that was done: exits are then no more. */
static bool make_room(sn_thread *thread) {
    if (!sn_translate_wants_afresh()) return false;
    sn_world_stop(thread);
    /* Another thread may have emptied it while this one waited for the gate. */
    bool full = sn_translate_wants_afresh();
    if (full) {
        sn_translate_afresh();
        generation++;
        if (sn_settings_current.verify_blocks) sn_verify_forget();
    }
    sn_gate_open();
    return true;
}

/** The block at the thread's pc. 0 after a fault was raised. */
static uint32_t block_at(sn_thread *thread) {
    uint64_t fault = thread->pc;
    uint32_t block = sn_translate(thread->version, thread->pc, &fault);
    if (!block) raise_fetch_fault(thread, fault);
    return block;
}

static void enter_block(sn_thread *thread, uint32_t block) {
    if (!block) return;
    thread->resume = sn_block_record_at(block)->entry;
    if (sn_settings_current.verify_blocks) sn_verify_enter(thread, block);
}

/** From the clean variant of a block into the middle of the full one, in front of whose instruction some is done already. False if there
    is none, and the instruction has to begin again. */
static bool enter_full(sn_thread *thread, uint32_t number) {
    sn_exit_record *exit = sn_exit_record_at(number);
    uint32_t block = sn_translate_full(exit->block);
    if (!block) return false;
    uint32_t arrival = sn_exit_arrival(exit, sn_block_record_at(block));
    if (arrival == sn_block_record_at(block)->start) { /* else this exit would come back to here for ever */
        sn_translate_together(exit->block);
        return false;
    }
    if (!sn_settings_current.no_links) sn_exit_link(number, block);
    thread->resume = arrival;
    thread->inside_call = true;
    thread->call_generation = generation;
    return true;
}

/** Through an exit of a block. */
static void leave_by_exit(sn_thread *thread, uint32_t number) {
    sn_exit_record *exit = sn_exit_record_at(number);
    if (!exit->site && exit->stub == SN_MARK_REFUSED) {
        if (!sn_settings_current.quiet)
            sn_message("client address %#lx: an instruction that Sonde does not run (int 0x80, a far branch, or a load of "
                       "a segment register); the program gets SIGSEGV",
                       (unsigned long)thread->pc);
        siginfo_t info = {.si_signo = SIGSEGV, .si_code = SI_KERNEL};
        sn_signal_raise(thread, &info);
        return;
    }
    if (!exit->site) sn_block_discard(exit->block);
    if (exit->to_full && enter_full(thread, number)) return;
    if (exit->goes_back) sn_versions_note_head(thread->pc);
    uint32_t block = block_at(thread);
    if (block && exit->site && !sn_settings_current.no_links) sn_exit_link(number, block);
    enter_block(thread, block);
}

/** A target that no program can have is the fault of the branch, which has not happened then. */
static bool impossible_branch(sn_thread *thread) {
    if (sn_abi_is_canonical(thread->pc)) return false;
    uint32_t number = sn_block_at_cache(thread->branch_site);
    if (!number) return false;
    const sn_block_record *block = sn_block_record_at(number);
    thread->pc = sn_place_client(block, sn_place_of(block, thread->branch_site));
    sn_abi_set_stack_pointer(thread, sn_abi_stack_pointer(thread) - (uint64_t)sn_abi_branch_pop(thread->pc));
    siginfo_t info = {.si_signo = SIGSEGV, .si_code = SI_KERNEL};
    sn_signal_raise(thread, &info);
    return true;
}

/** What a predicted return that found no block left below the stack pointer (see emit_arrival). The general way has
    popped nothing. */
static void clean_dead_slot(sn_thread *thread) {
    if (!sn_returns_are_predicted() || !thread->by_return) return;
    uint64_t target = thread->pc;
    sn_copy_safely((void *)(sn_abi_stack_pointer(thread) - sizeof target), &target, sizeof target);
}

static void leave_by_branch(sn_thread *thread, bool general) {
    if (general && impossible_branch(thread)) return;
    if (!general) clean_dead_slot(thread);
    sn_versions_note_branch(thread->pc);
    uint32_t block = block_at(thread);
    if (block && !sn_settings_current.no_links) {
        uint64_t start = sn_block_record_at(block)->start;
        if (general) sn_general_publish(thread->version, thread->pc, start);
        else sn_indirect_publish(thread->version, thread->pc, start);
    }
    enter_block(thread, block);
}

static void go_on(sn_thread *thread) {
    if (!thread->bare) {
        enter_block(thread, block_at(thread));
        return;
    }
    thread->bare = false;
    uint64_t fault = thread->pc;
    uint32_t block = sn_translate_bare(thread->version, thread->pc, &fault);
    if (block) thread->resume = sn_block_record_at(block)->entry;
    else raise_fetch_fault(thread, fault);
}

static bool is_block_exit(uint32_t exit) { return exit >= SN_EXIT_FIRST_BLOCK_EXIT; }

/** Then the cache is emptied at the next boundary, where nothing has been done in front of the instruction. There is room for a block. */
static bool goes_to_full(uint32_t exit) {
    return is_block_exit(exit) && sn_exit_record_at(exit)->to_full && sn_cache_has_room();
}

/** Resume at thread->pc by translating or finding its block, under the lock. */
static void with_lock(sn_thread *thread, uint32_t exit) {
    if (sn_versions_is_due(thread)) {
        sn_versions_change(thread);
        exit = SN_EXIT_RESUME;
    }
    if (!goes_to_full(exit) && make_room(thread)) exit = SN_EXIT_RESUME;
    sn_lock_acquire(&sn_jit_lock);
    switch (exit) {
    case SN_EXIT_INDIRECT: leave_by_branch(thread, false); break;
    case SN_EXIT_FAR: leave_by_branch(thread, true); break;
    case SN_EXIT_RESUME: go_on(thread); break;
    default: leave_by_exit(thread, exit);
    }
    sn_lock_release(&sn_jit_lock);
}

typedef void any_function(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

static void tell_interrupted(sn_thread *thread) {
    if (!thread->interrupted) return;
    thread->interrupted = false;
    const sn_tool *tool = sn_current_tool();
    if (tool->interrupted) SN_TELL_TOOL("interrupted", tool->interrupted(thread, thread->interrupted_data,
                                                                         thread->interrupted_completed));
}

/** A request that calls a function of the client: the block ends before its instruction. */
static void leave_for_call(sn_thread *thread, const sn_call_record *call) {
    uint32_t offset = call->resume - sn_block_record_at(call->block)->start;
    thread->redirected = false;
    sn_block_interrupted(thread, call->block, offset, call->instruction, 0, false);
    tell_interrupted(thread);
    with_lock(thread, SN_EXIT_RESUME);
}

/** A tool's call in the middle of a block. */
static void call_tool(sn_thread *thread, uint32_t number) {
    sn_call_record call = *sn_call_record_at(number);
    const uint64_t *a = thread->arguments;
    thread->pc = call.client;
    /* In the System V convention arguments that a function does not have do no harm. */
    if (call.enumerates) SN_TELL_TOOL("(accesses)", sn_enumerate_accesses(thread, &call));
    else SN_TELL_TOOL("(called function)", ((any_function *)call.function)(a[0], a[1], a[2], a[3], a[4], a[5]));
    if (thread->redirected) {
        leave_for_call(thread, &call);
        return;
    }
    thread->resume = call.resume;
    thread->inside_call = true;
    thread->call_generation = generation;
}

/**
 * What has to happen before client code goes on: deliver a pending signal, or take over the client's mask. The thread's
 * pc is exact, except inside a tool's call, where the thread is stepped to the next boundary.
 */
static void finish(sn_thread *thread) {
    thread->recheck = 0;
    if (sn_dump_is_asked()) {
        sn_dump_answer(thread);
        if (sn_translate_wants_afresh()) thread->recheck = 1; /* instrumentation was switched: not into the old code */
    }
    if (thread->attends) sn_attend_now(thread);
    if (thread->pending.present) {
        if (thread->inside_call) {
            sn_abi_single_step(thread, SN_STEP_DELIVER);
        } else {
            thread->resume = sn_runtime_address(sn_runtime_deliver);
        }
    } else if (thread->inside_call && sn_translate_wants_afresh()) {
        /* The called function has switched instrumentation: what belongs to the instruction is done, and then the block is
           left, so that nothing is done twice. */
        sn_abi_single_step(thread, SN_STEP_LEAVE);
    } else {
        sn_signals_release_mask(thread);
    }
}

/** Where the client is, taken from the record that the exit names while that cannot go away. */
static void note_client_address(sn_thread *thread, uint32_t exit) {
    if (sn_exit_is_call(exit)) thread->pc = sn_call_record_at(sn_call_of_exit(exit))->client;
    else if (is_block_exit(exit)) thread->pc = sn_exit_record_at(exit)->target;
}

/** A trace's buffer is full, in the middle of analysis code: the thread is still in the cache for those who would empty
    it, and holds the gate open since the signal handler. */
static void trace_full(sn_thread *thread) {
    thread->general[thread->trace_register] += sn_trace_full(thread, thread->trace_full);
    thread->inside_analysis = true;
    if (sn_translate_wants_afresh()) thread->recheck = 1; /* leave at the next boundary */
    sn_engine_leave(thread);
}

void sn_dispatch(sn_thread *thread) {
    uint32_t exit = thread->exit;
    thread->load_area = thread->save_area;
    thread->load_mask = thread->save_mask;
    thread->inside_call = thread->inside_analysis = false;
    if (exit == SN_EXIT_TRACE_FULL) {
        trace_full(thread);
        return;
    }
    uint32_t before = generation;
    note_client_address(thread, exit);
    thread->branched = exit == SN_EXIT_INDIRECT || exit == SN_EXIT_FAR;
    sn_client_leave(thread);
    sn_engine_enter(thread);
    /* The cache was emptied while this thread waited: the numbers of its exits and calls mean nothing any more. */
    if (generation != before && exit >= SN_EXIT_FIRST_BLOCK_EXIT) exit = SN_EXIT_RESUME;
    tell_interrupted(thread);
    sn_enumerate_interrupted(thread);
    if (thread->reserves_open) sn_traces_close_reserves(thread);
    sn_events_tell_signal(thread);
    if (sn_settings_current.verify_blocks && sn_verify_left(thread, exit)) {
        /* The original code is done, the block itself comes next. */
    } else if (exit == SN_EXIT_FATAL) {
        sn_process_end(thread);
        sn_die_by_signal(thread, thread->fatal_signal);
    } else if (sn_exit_is_call(exit)) {
        call_tool(thread, sn_call_of_exit(exit));
    } else {
        if (exit == SN_EXIT_SYSCALL || exit == SN_EXIT_BAD_ADDRESS) {
            if (exit == SN_EXIT_SYSCALL) sn_syscall_emulate(thread);
            else sn_syscall_bad_address(thread);
            exit = SN_EXIT_RESUME;
        }
        if (thread->bare) sn_enumerate_unreadable(thread);
        if (!thread->pending.present || exit >= SN_EXIT_FIRST_BLOCK_EXIT || exit == SN_EXIT_INDIRECT ||
            exit == SN_EXIT_FAR)
            with_lock(thread, exit);
    }
    finish(thread);
    sn_client_enter(thread);
    sn_engine_leave(thread);
}

void sn_reenter(sn_thread *thread) {
    if (thread->inside_analysis) {
        thread->recheck = 0;
        sn_abi_single_step(thread, thread->pending.present ? SN_STEP_DELIVER : SN_STEP_LEAVE);
        return;
    }
    if (sn_settings_current.verify_blocks) sn_verify_cancel(thread);
    sn_client_leave(thread);
    sn_engine_enter(thread);
    /* The place behind a tool's call is gone with the cache that it was in: the instruction begins again. */
    if (thread->inside_call && thread->call_generation != generation) thread->inside_call = false;
    /* The block must be found again: it may have been discarded, or the pending signal may have been none. */
    if (!thread->pending.present && !thread->inside_call) with_lock(thread, SN_EXIT_RESUME);
    finish(thread);
    sn_client_enter(thread);
    sn_engine_leave(thread);
}

/* -------------------------------------------------------------- interrupted blocks */

static void add_to_counter(sn_thread *thread, uint32_t counter, uint64_t amount) {
    ((uint64_t *)((char *)thread + SN_THREAD_COUNTERS))[counter] += amount;
}

/** A repeated instruction is left between two iterations: what was counted in advance is taken back; it will be counted
    again when the instruction goes on. */
static void correct_iterations(sn_thread *thread, sn_analysis_record *record, unsigned completed, uint64_t left) {
    for (unsigned i = 0; i < record->iteration_count; i++) {
        const sn_iteration_counter *use = &sn_analysis_iterations(record)[i];
        if (use->index != completed) continue;
        add_to_counter(thread, use->iterations, -left);
        if (!left) add_to_counter(thread, use->empty, -UINT64_C(1));
    }
}

/** Add what the block's entry counts, or take it back. */
static void add_entry_counters(sn_thread *thread, sn_analysis_record *record, bool add) {
    for (unsigned i = 0; i < record->counter_count; i++) {
        const sn_entry_counter *use = &sn_analysis_counters(record)[i];
        add_to_counter(thread, use->counter, add ? use->amount : -(uint64_t)use->amount);
    }
}

void sn_block_interrupted(sn_thread *thread, uint32_t number, uint32_t offset, uint64_t client, uint64_t repeat_count,
                          bool begun_here) {
    const sn_block_record *block = sn_block_record_at(number);
    if (!block->analysis) return;
    sn_analysis_record *record = sn_analysis_record_at(block->analysis);
    if (offset >= record->body_end) return;
    if (thread->repeat.running && client == thread->repeat.call.instruction) {
        thread->repeat.running = false;
        thread->repeat.interrupted = true;
        thread->repeat.left = repeat_count;
    }
    unsigned completed = 0;
    int32_t wanted = (int32_t)(client - block->client);
    while (completed < record->instruction_count && sn_analysis_clients(record)[completed] != wanted) completed++;
    correct_iterations(thread, record, completed, repeat_count);
    /* Before its first instruction, and before the code in front of that, the block has not begun: nobody is told. */
    bool begun = completed > 0 || begun_here;
    bool counted = offset >= record->counted_from;
    if (begun != counted) add_entry_counters(thread, record, begun);
    if (!begun) return;
    if (completed >= record->instruction_count) return;
    thread->interrupted = true;
    thread->interrupted_completed = completed;
    thread->interrupted_data = record->data;
}
