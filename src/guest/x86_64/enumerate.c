/**
 * @fileoverview Telling a tool of the accesses of an instruction that are known only when it runs: see enumerate.h.
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

static bool has_short_addresses(const sn_insn *insn) {
    for (unsigned i = 0; i < insn->prefix_length; i++)
        if (insn->bytes[i] == 0x67) return true;
    return false;
}

/** Tell of what was done since the state was noted, `left` repetitions being still to do. */
static void tell_repetitions(sn_thread *thread, const sn_call_record *call, const sn_insn *insn, uint64_t left) {
    static __thread sn_state_copy copy;
    sn_access_state state;
    sn_state_for_accesses(thread, &copy, &state);
    state.general = thread->repeat.general;
    state.backwards = thread->repeat.flags & FLAG_DIRECTION;
    uint64_t done = thread->repeat.general[SN_RCX] - left;
    if (has_short_addresses(insn)) done = (uint32_t)done;
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

void sn_enumerate_interrupted(sn_thread *thread) {
    sn_insn insn;
    if (!thread->repeat.interrupted) return;
    thread->repeat.interrupted = false;
    if (decode(thread->repeat.call.instruction, &insn))
        tell_repetitions(thread, &thread->repeat.call, &insn, thread->repeat.left);
}
