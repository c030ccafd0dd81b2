/**
 * @fileoverview The host's signal handler: tells where the thread was, and what that means for the client.
 *
 * Entered through sn_signal_entry (switch.S) on the thread's signal stack, with the engine's thread pointer, all signals
 * but the fault signals blocked. Takes no lock but those that fork holds itself, and waits for nothing: what the tool has
 * to be told is left for the dispatcher, which always comes next.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "base/log.h"
#include "base/settings.h"
#include "base/x86_64/raw_syscall.h"
#include "guest/dispatch.h"
#include "guest/dump.h"
#include "guest/events.h"
#include "guest/signal.h"
#include "guest/space.h"
#include "guest/thread.h"
#include "guest/verify.h"
#include "guest/x86_64/abi.h"
#include "guest/x86_64/frame.h"
#include "guest/x86_64/verify_step.h"
#include "isa/isa.h"
#include "isa/x86_64/emit.h"
#include "jit/cache.h"
#include "jit/layout.h"
#include "jit/runtime.h"
#include "jit/trace.h"

#define FLAG_TRAP 0x100
#define FAULT_BY_WRITE 2

void sn_host_signal(int number, siginfo_t *info, ucontext_t *context, sn_thread *thread);

/** Where the thread was. */
typedef enum sn_whereabouts {
    IN_ENGINE,  /**< engine code or the way out to it: a signal waits */
    IN_ENTRY,   /**< the way in: starts anew */
    IN_LOOKUP,  /**< the general lookup of an indirect branch: client code will follow */
    IN_BLOCK,
    IN_FAST_CALL, /**< a tool's function that a block called: the block goes on */
    AT_DELIVER, /**< the engine asked for a frame of the client's state */
} sn_whereabouts;

typedef struct interruption {
    sn_whereabouts where;
    uint32_t block;
    const sn_block_record *record;
    const sn_place *place;
    sn_place_kind kind;
    uint32_t offset;  /**< in the block */
    bool at_boundary; /**< the client's state is exact, at `client` */
    uint64_t client;
} interruption;

static uint64_t *register_of(ucontext_t *context, unsigned reg) {
    return (uint64_t *)&context->uc_mcontext.gregs[sn_context_index[reg]];
}

static uint64_t counter_of(const ucontext_t *context) { return (uint64_t)context->uc_mcontext.gregs[REG_RIP]; }
static void set_counter(ucontext_t *context, uint64_t value) { context->uc_mcontext.gregs[REG_RIP] = (greg_t)value; }

static void set_stepping(ucontext_t *context, bool on) {
    if (on) context->uc_mcontext.gregs[REG_EFL] |= FLAG_TRAP;
    else context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)FLAG_TRAP;
}

static bool is_stepping(const ucontext_t *context) { return context->uc_mcontext.gregs[REG_EFL] & FLAG_TRAP; }

/**
 * A function that inserted code has called runs on to its end, instead of being stepped through: a repeated instruction may
 * have it write thousands of records, and with a trap for each instruction it would not be done before the next signal. It
 * was called with the engine's stack empty.
 */
static void run_to_return(sn_thread *thread, ucontext_t *context) {
    uint64_t *return_address = (uint64_t *)(thread->engine_stack - sizeof *return_address);
    uint64_t trap = sn_runtime_address(sn_runtime_called);
    if (*return_address != trap) thread->fast_return = *return_address;
    *return_address = trap;
    set_stepping(context, false);
}

/** It has returned, and the block goes on by steps. */
static bool fast_call_returned(sn_thread *thread, ucontext_t *context) {
    if (counter_of(context) != sn_runtime_address(sn_runtime_called)) return false;
    set_counter(context, thread->fast_return);
    thread->stepped_at = thread->fast_return;
    set_stepping(context, true);
    return true;
}

/** Step through the cache from here on, unless that is being done. */
static void begin_stepping(sn_thread *thread, ucontext_t *context, const interruption *at, sn_stepping why) {
    if (!thread->stepping) thread->steps_itself = is_stepping(context);
    if (!thread->stepping || why == SN_STEP_DELIVER) thread->stepping = (uint8_t)why;
    thread->stepped_at = counter_of(context);
    set_stepping(context, true);
    if (at->where == IN_FAST_CALL) run_to_return(thread, context);
}

/** A step was made, by the trap flag: the instruction that it leads to has not begun. */
static bool is_step(const siginfo_t *info) { return info->si_signo == SIGTRAP && info->si_code == TRAP_TRACE; }

static uint64_t *mask_of(ucontext_t *context) { return (uint64_t *)&context->uc_sigmask; }

static bool within(uint64_t address, const char *start, const char *end) {
    return address >= sn_runtime_address(start) && address < sn_runtime_address(end);
}

static void locate_in_block(interruption *at, uint64_t counter) {
    at->where = IN_BLOCK;
    at->record = sn_block_record_at(at->block);
    at->place = sn_place_of(at->record, counter);
    at->offset = (uint32_t)(counter - at->record->start);
    uint32_t into = at->offset - at->place->offset;
    at->client = sn_place_client(at->record, at->place);
    at->at_boundary = false;
    at->kind = SN_PLACE_KIND(at->place->kind);
    if (at->kind == SN_PLACE_VERBATIM) {
        at->client += into;
        at->at_boundary = true;
    } else if (at->kind == SN_PLACE_BOUNDARY || at->kind == SN_PLACE_AFTER_SYSCALL) {
        at->at_boundary = into == 0;
    }
}

/**
 * Note that a step has ended here. A repeated instruction with analysis code before it is no boundary when that code has
 * just run; when the step began here, an iteration was made, and it is one: it may go on for long.
 */
static void note_step(sn_thread *thread, const ucontext_t *context, interruption *at) {
    uint64_t counter = counter_of(context);
    if (at->where == IN_BLOCK && at->kind == SN_PLACE_BEGUN && counter == thread->stepped_at) at->at_boundary = true;
    thread->stepped_at = counter;
}

static interruption locate(const sn_thread *thread, const ucontext_t *context) {
    uint64_t counter = counter_of(context);
    interruption at = {.where = IN_ENGINE};
    if (sn_in_runtime(counter)) {
        if (counter == sn_runtime_address(sn_runtime_deliver)) at.where = AT_DELIVER;
        else if (within(counter, sn_runtime_enter, sn_runtime_enter_end)) at.where = IN_ENTRY;
        else if (within(counter, sn_runtime_lookup, sn_runtime_lookup_end)) at.where = IN_LOOKUP;
    } else if (sn_in_cache(counter)) {
        at.block = sn_block_at_cache(counter);
        if (at.block) locate_in_block(&at, counter);
        else at.where = IN_LOOKUP; /* the stub of a branch that takes the general way */
    } else if (thread->in_fast_call) {
        at.where = IN_FAST_CALL;
    }
    return at;
}

/** Row of the map that holds an address, if that is in a block. */
static const sn_place *place_at(uint64_t counter, const sn_block_record **record) {
    uint32_t block = sn_in_cache(counter) ? sn_block_at_cache(counter) : 0;
    if (!block) return NULL;
    *record = sn_block_record_at(block);
    return sn_place_of(*record, counter);
}

/** The client's instruction int1 was executed, as far as can be told: the byte may also end another instruction. */
static bool is_behind_int1(const sn_thread *thread, uint64_t counter) {
    enum { INT1 = 0xf1 };
    const sn_block_record *record;
    const sn_place *place = place_at(counter - 1, &record);
    if (!place || *(const uint8_t *)(counter - 1) != INT1) return false;
    if (thread->stepping && thread->stepped_at != counter - 1) return false;
    sn_place_kind kind = SN_PLACE_KIND(place->kind);
    return kind == SN_PLACE_VERBATIM || kind == SN_PLACE_BOUNDARY || kind == SN_PLACE_BEGUN;
}

/**
 * Give the trap of a step its name where the kernel had none for it. The kernel reads a trap's reason from the register DR6;
 * in a virtual machine inside another that now and then reads as empty, where the outer KVM is older than Linux 6.14 ("BUG:
 * Occasional unexpected DR6 value seen with nested virtualization on x86", on the list kvm@vger.kernel.org in January 2025).
 * A trap without a reason is taken for that of int1 (exc_debug_user in Linux' arch/x86/kernel/traps.c, get_si_code in
 * arch/x86/include/asm/traps.h). Its address, the program counter in the cache, tells it from a signal that was sent.
 */
static void name_step(const sn_thread *thread, const ucontext_t *context, siginfo_t *info) {
    uint64_t counter = counter_of(context);
    if (info->si_signo != SIGTRAP || info->si_code != TRAP_BRKPT || (uint64_t)info->si_addr != counter) return;
    if (!is_behind_int1(thread, counter)) info->si_code = TRAP_TRACE;
}

/** The arithmetic flags as lahf and seto leave them in %ax. */
static void restore_flags(ucontext_t *context, uint64_t saved) {
    enum { LOW_FLAGS = 0xd5, FLAG_OVERFLOW = 0x800 };
    uint64_t flags = (uint64_t)context->uc_mcontext.gregs[REG_EFL] & ~(uint64_t)(LOW_FLAGS | FLAG_OVERFLOW);
    flags |= (saved >> 8 & LOW_FLAGS) | (saved & 1 ? FLAG_OVERFLOW : 0);
    context->uc_mcontext.gregs[REG_EFL] = (greg_t)flags;
}

/** In a block with analysis code: note what has been appended to the pinned trace, and give back all registers. */
static void restore_analysed(sn_thread *thread, ucontext_t *context, const interruption *at) {
    const sn_place *place = at->place;
    if (place->kind & SN_PLACE_PINNED) {
        const sn_analysis_record *record = sn_analysis_record_at(at->record->analysis);
        thread->traces[record->pinned_trace] = *register_of(context, record->pinned_pointer) + place->analysed.pending;
    }
    for (unsigned reg = 0; reg < 16; reg++)
        if (place->analysed.saved >> reg & 1) *register_of(context, reg) = thread->saved[reg];
    if (place->index & SN_PLACE_FLAGS_SAVED) restore_flags(context, thread->saved_flags);
}

/** Undo what the translation of the interrupted instruction did to registers, so that the state is the client's. */
static void restore_spilled(sn_thread *thread, ucontext_t *context, const interruption *at) {
    if (at->place->kind & SN_PLACE_ANALYSED) {
        restore_analysed(thread, context, at);
        return;
    }
    if (at->kind == SN_PLACE_VERBATIM || at->kind == SN_PLACE_BOUNDARY) return;
    unsigned first = at->place->spilled & 15, second = at->place->spilled >> 4;
    if (first == second && first != SN_NOTHING_SPILLED) {
        *register_of(context, first) -= thread->client_base2;
        return;
    }
    for (unsigned slot = 0; slot < 2; slot++) {
        unsigned reg = slot == 0 ? first : second;
        if (reg == SN_NOTHING_SPILLED) continue;
        if (reg == SN_BRANCH_SPILLED) *register_of(context, SN_RCX) = thread->saved[SN_RCX];
        else *register_of(context, reg) = thread->spill[slot];
    }
}

/* --------------------------------------------------------------- leaving the handler */

/** The trap flag goes off if the engine set it; a client that steps itself keeps its own. */
static void end_stepping(sn_thread *thread, ucontext_t *context) {
    if (thread->stepping) set_stepping(context, thread->steps_itself);
    thread->stepping = SN_STEP_NONE;
}

/** Go to the dispatcher with the client's state of the context, at thread->pc. */
static void go_to_engine(sn_thread *thread, ucontext_t *context, uint32_t exit) {
    for (unsigned i = 0; i < 16; i++) thread->general[i] = *register_of(context, i);
    end_stepping(thread, context);
    thread->flags = (uint64_t)context->uc_mcontext.gregs[REG_EFL];
    thread->exit = exit;
    if (thread->pending.present) thread->recheck = 1;
    *register_of(context, SN_RSP) = thread->engine_stack;
    context->uc_mcontext.gregs[REG_EFL] = 0x202;
    set_counter(context, sn_runtime_address(sn_runtime_exit_saved));
}

void sn_leave_for_engine(sn_thread *thread, ucontext_t *context, uint32_t exit) { go_to_engine(thread, context, exit); }

static void die(sn_thread *thread, ucontext_t *context, int number) {
    thread->fatal_signal = (uint8_t)number;
    go_to_engine(thread, context, SN_EXIT_FATAL);
}

/** The mask that the client has at this moment. */
static uint64_t client_mask(const sn_thread *thread, ucontext_t *context) {
    return (thread->mask_held ? thread->held_mask : *mask_of(context) & ~SN_FAULT_SIGNALS) | thread->blocked_faults;
}

/** The client's mask from here on; the host's follows when the handler returns. */
static void set_mask(sn_thread *thread, ucontext_t *context, uint64_t mask) {
    if (thread->pending.present) {
        thread->held_mask = mask & ~SN_FAULT_SIGNALS; /* everything stays blocked until that one is delivered */
    } else {
        *mask_of(context) = mask & ~SN_FAULT_SIGNALS;
        thread->mask_held = false;
    }
    thread->blocked_faults = mask & SN_FAULT_SIGNALS;
}

/**
 * Deliver a signal at the boundary thread->pc, the context holding the client's exact state. Returns with the context
 * set to wherever the thread goes on.
 */
static void deliver(sn_thread *thread, ucontext_t *context, const siginfo_t *info, bool fault) {
    int number = info->si_signo;
    sn_signal_action action;
    end_stepping(thread, context);
    switch (sn_signal_decide(thread, number, fault, &action)) {
    case SN_SIGNAL_FATAL:
        sn_events_note_signal(thread, number);
        die(thread, context, number);
        return;
    case SN_SIGNAL_IGNORE:
        set_mask(thread, context, client_mask(thread, context));
        go_to_engine(thread, context, SN_EXIT_RESUME);
        return;
    case SN_SIGNAL_HANDLE:
        break;
    }
    uint64_t old = client_mask(thread, context), during = old;
    if (thread->suspended) during = thread->suspended_mask;
    thread->suspended = false;
    sn_events_note_signal(thread, number);
    if (!sn_frame_build(thread, context, info, number, &action, old)) {
        sn_events_note_signal(thread, SIGSEGV);
        die(thread, context, SIGSEGV);
        return;
    }
    during |= action.mask;
    if (!(action.flags & SA_NODEFER)) during |= SN_SIGNAL_BIT(number);
    set_mask(thread, context, during);
    set_counter(context, sn_runtime_address(sn_runtime_resume));
    if (thread->pending.present) thread->recheck = 1;
}

/* ------------------------------------------------------------- asynchronous signals */

/** Raised by the instruction at the program counter, not sent. */
static bool is_synchronous(const siginfo_t *info) {
    return SN_FAULT_SIGNALS & SN_SIGNAL_BIT(info->si_signo) && info->si_code > 0;
}

/** Keep a signal until a boundary is reached; nothing else arrives meanwhile. */
static void keep(sn_thread *thread, ucontext_t *context, const siginfo_t *info) {
    if (!thread->mask_held) {
        thread->held_mask = *mask_of(context) & ~SN_FAULT_SIGNALS;
        thread->mask_held = true;
    }
    *mask_of(context) = ~SN_FAULT_SIGNALS;
    if (!thread->pending.present) {
        thread->pending.info = *info;
        thread->pending.present = true;
    } else if (SN_FAULT_SIGNALS & SN_SIGNAL_BIT(info->si_signo)) {
        thread->waiting_faults |= SN_SIGNAL_BIT(info->si_signo);
    }
    thread->recheck = 1;
}

/** A wait in engine code that has not begun yet, or that the kernel would begin again, is not made. */
static void end_wait(ucontext_t *context) {
    uint64_t counter = counter_of(context);
    if (counter >= (uint64_t)sn_blocking_start && counter <= (uint64_t)sn_blocking_call)
        set_counter(context, (uint64_t)sn_blocking_interrupted);
}

/** Engine code: a wait that a signal must end is ended, the way in starts anew. */
static void redirect_engine(ucontext_t *context, const interruption *at) {
    end_wait(context);
    if (at->where == IN_ENTRY) {
        set_stepping(context, false);
        set_counter(context, sn_runtime_address(sn_runtime_restart));
    }
}

/** At a boundary inside a block: the tool is told, the state is made exact. */
static void leave_block(sn_thread *thread, ucontext_t *context, const interruption *at) {
    if (at->place->kind & SN_PLACE_ANALYSED) restore_analysed(thread, context, at);
    if (at->kind == SN_PLACE_AFTER_SYSCALL) *register_of(context, SN_RCX) = at->client;
    sn_block_interrupted(thread, at->block, at->offset, at->client, *register_of(context, SN_RCX),
                         at->kind == SN_PLACE_BEGUN);
    thread->pc = at->client;
}

/** A system call that sn_world_stop interrupted is made again. */
static void repeat_syscall(sn_thread *thread, ucontext_t *context, interruption *at) {
    if (at->kind != SN_PLACE_AFTER_SYSCALL || (int64_t)*register_of(context, SN_RAX) != -EINTR) return;
    *register_of(context, SN_RAX) = thread->last_syscall;
    at->client -= SN_SYSCALL_INSTRUCTION_SIZE;
}

/** A wait in engine code that this signal, not one of the client's, ended: it is begun again. */
static void repeat_wait(const sn_thread *thread, ucontext_t *context) {
    bool ended = counter_of(context) == (uint64_t)sn_blocking_call + SN_SYSCALL_INSTRUCTION_SIZE &&
                 (int64_t)*register_of(context, SN_RAX) == -EINTR;
    if (ended && !thread->pending.present) set_counter(context, (uint64_t)sn_blocking_interrupted);
}

/** Leave the code cache at the next boundary: sn_world_stop or somebody who wants a dump asks for it. */
static void stop(sn_thread *thread, ucontext_t *context) {
    interruption at = locate(thread, context);
    if (at.where == IN_BLOCK && at.at_boundary && !thread->stepping) {
        leave_block(thread, context, &at);
        repeat_syscall(thread, context, &at);
        thread->pc = at.client;
        go_to_engine(thread, context, SN_EXIT_RESUME);
    } else if (at.where == IN_BLOCK || at.where == IN_LOOKUP || at.where == IN_FAST_CALL) {
        begin_stepping(thread, context, &at, SN_STEP_LEAVE);
    } else {
        thread->recheck = 1;
        repeat_wait(thread, context);
        redirect_engine(context, &at);
    }
}

/** Keep a signal, and step to the boundary where it is delivered. */
static void step_to_delivery(sn_thread *thread, ucontext_t *context, const interruption *at, const siginfo_t *info) {
    keep(thread, context, info);
    begin_stepping(thread, context, at, SN_STEP_DELIVER);
}

static void asynchronous(sn_thread *thread, ucontext_t *context, const siginfo_t *info) {
    uint64_t bit = SN_SIGNAL_BIT(info->si_signo);
    if (bit & SN_FAULT_SIGNALS & thread->blocked_faults) {
        thread->waiting_faults |= bit;
        end_wait(context); /* it may wait for this very signal */
        return;
    }
    interruption at = locate(thread, context);
    if (at.where == IN_BLOCK && at.at_boundary && !thread->stepping) {
        leave_block(thread, context, &at);
        deliver(thread, context, info, false);
        return;
    }
    if (at.where == IN_BLOCK || at.where == IN_LOOKUP || at.where == IN_FAST_CALL) {
        step_to_delivery(thread, context, &at, info);
    } else {
        keep(thread, context, info);
        redirect_engine(context, &at);
    }
}

/** The instruction that the engine's step has executed may have pushed the flags, and with them the engine's trap flag, or
    popped the client's. */
static void keep_flags_apart(sn_thread *thread, const ucontext_t *context) {
    enum { OPERAND_SIZE = 0x66, PUSH_FLAGS = 0x9c, POP_FLAGS = 0x9d };
    const uint8_t *code = (const uint8_t *)thread->stepped_at;
    if (!sn_in_cache(thread->stepped_at)) return;
    uint8_t opcode = code[code[0] == OPERAND_SIZE];
    if (opcode == POP_FLAGS) {
        thread->steps_itself = is_stepping(context);
    } else if (opcode == PUSH_FLAGS && !thread->steps_itself) {
        uint16_t *pushed = (uint16_t *)context->uc_mcontext.gregs[REG_RSP], flags = *pushed & (uint16_t)~FLAG_TRAP;
        sn_copy_safely(pushed, &flags, sizeof flags);
    }
}

/** A single step through the cache is done. */
static void stepped(sn_thread *thread, ucontext_t *context) {
    interruption at = locate(thread, context);
    keep_flags_apart(thread, context);
    note_step(thread, context, &at);
    set_stepping(context, true);
    if (at.where == IN_FAST_CALL) run_to_return(thread, context);
    if (at.where == IN_LOOKUP || at.where == IN_ENTRY || at.where == IN_FAST_CALL) return;
    if (at.where != IN_BLOCK) {
        end_stepping(thread, context);
        if (thread->pending.present) thread->recheck = 1;
        return;
    }
    if (!at.at_boundary) return;
    bool delivering = thread->pending.present;
    leave_block(thread, context, &at);
    if (delivering) {
        siginfo_t info = thread->pending.info;
        thread->pending.present = false;
        thread->recheck = 0;
        deliver(thread, context, &info, is_synchronous(&info));
    } else {
        go_to_engine(thread, context, SN_EXIT_RESUME);
    }
}

/** Trap number, error code and fault address of a fault that the engine raises itself: an instruction fetch, or what the
    processor reports as a general protection fault (Intel SDM volume 3, 6.15). */
static void describe_fault(ucontext_t *context, const siginfo_t *info) {
    enum { TRAP_PROTECTION = 13, TRAP_PAGE = 14, ERROR_USER_FETCH = 0x14, ERROR_PRESENT = 1 };
    greg_t *registers = context->uc_mcontext.gregs;
    bool page = info->si_signo == SIGSEGV && info->si_code != SI_KERNEL;
    registers[REG_TRAPNO] = page || info->si_signo == SIGBUS ? TRAP_PAGE : TRAP_PROTECTION;
    registers[REG_ERR] = page ? ERROR_USER_FETCH | (info->si_code == SEGV_ACCERR ? ERROR_PRESENT : 0) : 0;
    if (page) registers[REG_CR2] = (greg_t)info->si_addr;
}

/** The thread ran into sn_runtime_deliver: thread->pc is where the client is. */
static void deliver_pending(sn_thread *thread, ucontext_t *context) {
    siginfo_t info = thread->pending.info;
    thread->pending.present = false;
    thread->recheck = 0;
    bool fault = is_synchronous(&info);
    if (fault) describe_fault(context, &info);
    deliver(thread, context, &info, fault);
}

/* ------------------------------------------------------------------ faults */

/** The state before an indirect branch whose jump faulted: its stack access is undone. */
static void undo_branch(sn_thread *thread, ucontext_t *context, const interruption *at) {
    *register_of(context, SN_RCX) = thread->saved[SN_RCX];
    *register_of(context, SN_RSP) -= (uint64_t)sn_abi_branch_pop(at->client);
}

/**
 * The jump through the table faulted: its target lies outside the low window. Targets that no program can have are the
 * client's fault at the branch itself, as on the processor; otherwise this branch takes the general way from now on.
 * Returns true if the thread goes on.
 */
static bool far_branch(sn_thread *thread, ucontext_t *context, siginfo_t *info, const interruption *at) {
    uint64_t target = *register_of(context, SN_RCX) -= at->record->version ? SN_TABLE_DISTANCE : 0;
    if (!sn_abi_is_canonical(target)) {
        undo_branch(thread, context, at);
        info->si_code = SI_KERNEL;
        info->si_addr = NULL;
        return false;
    }
    if (context->uc_mcontext.gregs[REG_ERR] & FAULT_BY_WRITE) {
        /* A predicted return needs its dead stack slot, and this client's stack can only be read. */
        set_counter(context, sn_runtime_address(sn_runtime_miss));
        return true;
    }
    thread->branch_site = counter_of(context);
    sn_lock_acquire(&sn_jit_lock);
    sn_patch_indirect(counter_of(context), at->record->version);
    sn_lock_release(&sn_jit_lock);
    set_counter(context, sn_runtime_address(sn_runtime_lookup));
    return true;
}

/** A breakpoint that the patching of an indirect jump puts there for a moment. */
static bool patching(const siginfo_t *info, ucontext_t *context) {
    if (info->si_signo != SIGTRAP) return false;
    uint64_t counter = counter_of(context) - 1;
    const sn_block_record *record;
    const sn_place *place = place_at(counter, &record);
    if (!place) return false;
    if (SN_PLACE_KIND(place->kind) != SN_PLACE_INDIRECT || counter != (uint64_t)record->start + place->offset) return false;
    set_counter(context, counter);
    return true;
}

/** What the client would see as the fault's address and program counter. */
static void client_fault(sn_thread *thread, ucontext_t *context, siginfo_t *info, interruption *at) {
    restore_spilled(thread, context, at);
    if (at->kind == SN_PLACE_AFTER_SYSCALL) *register_of(context, SN_RCX) = at->client;
    /* A fault whose reported address is the instruction's own. */
    if (info->si_signo != SIGSEGV && info->si_signo != SIGBUS && (uint64_t)info->si_addr == counter_of(context))
        info->si_addr = (void *)at->client;
    sn_block_interrupted(thread, at->block, at->offset, at->client, *register_of(context, SN_RCX),
                         !is_step(info) || at->kind == SN_PLACE_BEGUN);
    thread->repeat.faulted = thread->repeat.interrupted && !is_step(info);
    thread->pc = at->client;
    if (sn_verify_phase_of(thread) == SN_VERIFY_RUNNING) {
        sn_verify_note_fault(info->si_signo);
        go_to_engine(thread, context, SN_EXIT_RESUME);
        return;
    }
    bool is_access = info->si_signo == SIGSEGV || info->si_signo == SIGBUS;
    if (is_access && sn_frames_listening.faulted && sn_frames_listening.faulted(thread)) {
        go_to_engine(thread, context, SN_EXIT_RESUME);
        return;
    }
    deliver(thread, context, info, true);
}

/**
 * Analysis code that looks at the client's memory ran into a fault. The client's own instruction, run bare, tells how that
 * looks, or that there is none: order and kind of its faults are its own.
 */
static void reading_faulted(sn_thread *thread, ucontext_t *context, const interruption *at) {
    restore_analysed(thread, context, at);
    sn_block_interrupted(thread, at->block, at->offset, at->client, *register_of(context, SN_RCX), true);
    thread->pc = at->client;
    thread->bare = true;
    go_to_engine(thread, context, SN_EXIT_RESUME);
}

/** A store of analysis code had nowhere to go: go on behind it. */
static void skip_store(ucontext_t *context) {
    enum { LONGEST = 15 };
    sn_insn store;
    uint64_t counter = counter_of(context);
    sn_decode((const uint8_t *)counter, LONGEST, counter, &store); /* what the engine has emitted, it can read */
    set_counter(context, counter + store.length);
}

static bool engine_copy_failed(ucontext_t *context) {
    uint64_t counter = counter_of(context);
    if (counter < (uint64_t)sn_copy_safely_start || counter >= (uint64_t)sn_copy_safely_end) return false;
    set_counter(context, (uint64_t)sn_copy_safely_failed);
    return true;
}

static bool written_code(sn_thread *thread, ucontext_t *context, const siginfo_t *info, const interruption *at) {
    if (info->si_signo != SIGSEGV || info->si_code != SEGV_ACCERR || !(context->uc_mcontext.gregs[REG_ERR] & FAULT_BY_WRITE)) return false;
    bool inside = false, by_client = at->where == IN_BLOCK;
    bool ours = sn_code_written((uint64_t)info->si_addr, by_client ? counter_of(context) : 0, &inside);
    if (!ours) return false;
    if (inside) {
        /* The rest of this very block may have been rewritten: leave it behind the writing instruction. */
        begin_stepping(thread, context, at, SN_STEP_LEAVE);
    }
    return true;
}

/**
 * The client steps itself by the trap flag: of the traps after every instruction of the cache it sees those at its own
 * instruction boundaries, once each. Returns false if the trap is not one of those.
 */
static bool own_step(sn_thread *thread, ucontext_t *context, const siginfo_t *info, interruption *at) {
    note_step(thread, context, at);
    if (at->where != IN_BLOCK) {
        /* The way in from the middle of a block leads to its next boundary, which has not been shown yet. */
        bool arrives = !thread->branched && !thread->inside_call && !thread->inside_analysis;
        if (at->where == IN_ENTRY) thread->stepped_to = arrives ? thread->pc : 0;
        return false;
    }
    bool arrives = at->client == thread->stepped_to && at->kind != SN_PLACE_BEGUN;
    if (at->at_boundary || !arrives) thread->stepped_to = 0;
    if (!at->at_boundary) {
        /* The instruction that has cleared the flag makes the last step; no further trap leads to where it ends. */
        if (!is_stepping(context) && !arrives) step_to_delivery(thread, context, at, info);
        return false;
    }
    if (arrives) return false;
    if (!sn_settings_current.no_superblocks) {
        /* Jumps that superblocks leave out are steps too. */
        sn_settings_current.no_superblocks = true;
        sn_code_discard(0, UINT64_MAX);
    }
    return true;
}

/** A fault in engine or tool code. Its place is named as an offset in a file, which survives address randomisation. */
_Noreturn static void fail(sn_thread *thread, ucontext_t *context, const siginfo_t *info) {
    char what[256], callback[64];
    Dl_info module = {.dli_fname = "?", .dli_fbase = NULL};
    dladdr((void *)counter_of(context), &module);
    snprintf(what, sizeof what, "signal %d at %s+%#lx, accessing %p, code %d", info->si_signo, module.dli_fname,
             (unsigned long)(counter_of(context) - (uint64_t)module.dli_fbase), info->si_addr, info->si_code);
    interruption at = locate(thread, context);
    const char *by = thread->callback;
    if (at.where == IN_FAST_CALL) by = "(called function)";
    if (at.where == IN_BLOCK) by = "(inserted code)";
    if (!by) sn_engine_failure(thread, thread->pc, what);
    snprintf(callback, sizeof callback, "%s", by);
    sn_tool_failure(thread, callback, what);
}

/** A store of analysis code ran into the end of a trace's buffer: the dispatcher has it emptied, and the store is made
    again, its base register being moved to the buffer's start. */
static bool trace_is_full(sn_thread *thread, ucontext_t *context, const siginfo_t *info, const interruption *at) {
    int trace = info->si_signo == SIGSEGV ? sn_trace_at_end(thread, (uint64_t)info->si_addr) : -1;
    if (trace < 0) return false;
    uint64_t counter = counter_of(context);
    if (!sn_engine_try_enter(thread)) {
        sn_trace_open_reserve(thread, (unsigned)trace);
        begin_stepping(thread, context, at, SN_STEP_LEAVE);
        return true;
    }
    thread->trace_register = sn_store_base((const uint8_t *)counter, counter);
    thread->trace_full = (uint32_t)trace;
    thread->resume = counter;
    go_to_engine(thread, context, SN_EXIT_TRACE_FULL);
    return true;
}

static void synchronous(sn_thread *thread, ucontext_t *context, siginfo_t *info) {
    if (fast_call_returned(thread, context)) return;
    interruption at = locate(thread, context);
    if (at.where == AT_DELIVER) {
        deliver_pending(thread, context);
        return;
    }
    if (info->si_signo == SIGSEGV && counter_of(context) == 0) {
        /* An indirect branch through an entry of a table that was never filled in; the general lookup has the entry, the
           other one the target in %rcx. */
        bool general = *register_of(context, SN_RCX) == 0;
        const char *miss = thread->version ? sn_runtime_miss_second : sn_runtime_miss;
        set_counter(context, sn_runtime_address(general ? sn_runtime_lookup_missed : miss));
        return;
    }
    if (is_step(info) && !own_step(thread, context, info, &at)) return;
    if (patching(info, context)) return;
    if (written_code(thread, context, info, &at)) return;
    if (at.where == IN_BLOCK) {
        if (trace_is_full(thread, context, info, &at)) return;
        if (at.kind == SN_PLACE_INDIRECT && info->si_signo == SIGSEGV && far_branch(thread, context, info, &at))
            return;
        if (at.kind == SN_PLACE_ANALYSIS) fail(thread, context, info);
        else if (at.kind == SN_PLACE_STORING) skip_store(context);
        else if (at.kind == SN_PLACE_READING) reading_faulted(thread, context, &at);
        else client_fault(thread, context, info, &at);
        return;
    }
    if (engine_copy_failed(context)) return;
    fail(thread, context, info);
}

void sn_host_signal(int number, siginfo_t *info, ucontext_t *context, sn_thread *thread) {
    (void)number;
    name_step(thread, context, info);
    if (sn_verify_signal(thread, context, info)) return;
    if (is_step(info) && thread->stepping) stepped(thread, context);
    else if (sn_is_stop_request(info) || sn_dump_note(info)) stop(thread, context);
    else if (is_synchronous(info)) synchronous(thread, context, info);
    else asynchronous(thread, context, info);
}
