/**
 * @fileoverview Telling a tool of accesses that are known only when an instruction runs: see enumerate.h.
 *
 * Per-architecture file: it knows which register counts repetitions.
 */
#include "guest/enumerate.h"

#include <string.h>

#include "guest/host_memory.h"
#include "guest/thread.h"
#include "guest/x86_64/state.h"
#include "isa/isa.h"
#include "isa/x86_64/emit.h"
#include "jit/analysis.h"
#include "jit/insert.h"
#include "jit/runtime.h"

#define MOST_AT_ONCE 256
#define FLAG_DIRECTION 0x400

static void tell(sn_thread *thread, const sn_call_record *call, const sn_insn *insn, const sn_access_state *state,
                 uint64_t done) {
    sn_access accesses[MOST_AT_ONCE];
    sn_accesses_function *function = (sn_accesses_function *)call->function;
    for (uint64_t first = 0;;) {
        size_t count = sn_accesses_of(insn, state, done, first, accesses, MOST_AT_ONCE);
        if (count) function(thread, accesses, count, call->data);
        if (count < MOST_AT_ONCE) return;
        first += count;
    }
}

/** The state becomes the one before the instruction; how many repetitions it has made since, `left` being still to do. */
static uint64_t begin_repetitions(const sn_thread *thread, const sn_insn *insn, sn_access_state *state, uint64_t left) {
    state->general = thread->repeat.general;
    state->backwards = thread->repeat.flags & FLAG_DIRECTION;
    uint64_t done = thread->repeat.general[SN_RCX] - left;
    return sn_has_narrow_addresses(insn) ? (uint32_t)done : done;
}

static void tell_repetitions(sn_thread *thread, const sn_call_record *call, const sn_insn *insn, uint64_t left) {
    static __thread sn_state_copy copy;
    sn_access_state state;
    sn_state_for_accesses(thread, &copy, &state);
    uint64_t done = begin_repetitions(thread, insn, &state, left);
    if (done) tell(thread, call, insn, &state, done);
}

static bool decode(uint64_t client, sn_insn *insn) {
    uint8_t bytes[15];
    size_t size = sizeof bytes;
    while (size && !sn_copy_safely(bytes, (const void *)client, size)) size--;
    return sn_decode(bytes, size, client, insn);
}

void sn_enumerate_accesses(sn_thread *thread, const sn_call_record *call) {
    sn_insn insn;
    if (!decode(call->instruction, &insn)) return;
    if (insn.repeated && !call->after) {
        memcpy(thread->repeat.general, thread->general, sizeof thread->general);
        thread->repeat.flags = thread->flags;
        thread->repeat.call = *call;
        thread->repeat.running = true;
        return;
    }
    if (insn.repeated) {
        thread->repeat.running = false;
        tell_repetitions(thread, call, &insn, thread->general[SN_RCX]);
        return;
    }
    static __thread sn_state_copy copy;
    sn_access_state state;
    sn_state_for_accesses(thread, &copy, &state);
    tell(thread, call, &insn, &state, 0);
}

static void (*unreadable)(sn_thread *thread, uint64_t instruction, unsigned how);

void sn_on_unreadable(void (*function)(sn_thread *thread, uint64_t instruction, unsigned how)) { unreadable = function; }

static void tell_unreadable(sn_thread *thread, uint64_t instruction, unsigned how) {
    if (unreadable) SN_TELL_TOOL("(unreadable)", unreadable(thread, instruction, how));
}

void sn_enumerate_interrupted(sn_thread *thread) {
    sn_insn insn;
    if (!thread->repeat.interrupted) return;
    thread->repeat.interrupted = false;
    if (decode(thread->repeat.call.instruction, &insn))
        tell_repetitions(thread, &thread->repeat.call, &insn, thread->repeat.left);
    if (thread->repeat.faulted) {
        bool is_handled = thread->exit != SN_EXIT_FATAL;
        tell_unreadable(thread, thread->repeat.call.instruction, SN_UNREADABLE_REPEATED | (is_handled ? SN_UNREADABLE_HANDLED : 0));
    }
    thread->repeat.faulted = false;
}

/* ------------------------------------------------------------------ instructions that can't be looked at before */

void sn_enumerate_unreadable(sn_thread *thread) { tell_unreadable(thread, thread->pc, 0); }

static size_t accesses_of_operands(const sn_insn *insn, const sn_access_state *state, sn_access *accesses, size_t capacity) {
    sn_operand operands[SN_MOST_OPERANDS];
    int operand_count = sn_operands(insn, operands, SN_MOST_OPERANDS);
    size_t count = 0;
    for (int i = 0; i < operand_count && count < capacity; i++) {
        const sn_operand *operand = &operands[i];
        bool is_access = operand->place == SN_PLACE_MEMORY && operand->size && operand->role != SN_ROLE_ADDRESS;
        if (!is_access) continue;
        bool reads = operand->role & SN_ROLE_READ;
        uint64_t address = sn_operand_offset(operand, insn, state->general) + state->bases[operand->segment];
        accesses[count++] = (sn_access){.address = address, .size = operand->size, .operand = (uint8_t)i,
                                        .role = reads ? SN_ROLE_READ : SN_ROLE_WRITTEN};
    }
    return count;
}

size_t sn_thread_accesses(sn_thread *thread, uint64_t instruction, sn_access *accesses, size_t capacity) {
    static __thread sn_state_copy copy;
    sn_access_state state;
    sn_insn insn;
    if (!decode(instruction, &insn)) return 0;
    sn_state_for_accesses(thread, &copy, &state);
    if (!sn_accesses_vary(&insn)) return accesses_of_operands(&insn, &state, accesses, capacity);
    uint64_t done = 0, told = 0;
    if (thread->repeat.faulted) {
        done = begin_repetitions(thread, &insn, &state, thread->repeat.left);
        told = done * sn_accesses_of(&insn, &state, 1, 0, accesses, capacity);
    }
    return sn_accesses_of(&insn, &state, done + 1, told, accesses, capacity);
}
