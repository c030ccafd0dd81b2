/**
 * @fileoverview Client requests: finding them in a block, and handing them to the tool. Per-architecture file: it knows
 * which registers hold a request's arguments and answer.
 */
#include "guest/request.h"

#include "guest/thread.h"
#include "isa/isa.h"
#include "isa/x86_64/emit.h"
#include "jit/runtime.h"

static void answer(sn_thread *thread) {
    uint64_t arguments[6], result = thread->general[SN_RDX];
    if (!sn_copy_safely(arguments, (const void *)thread->general[SN_RAX], sizeof arguments)) return;
    bool known = false;
    SN_TELL_TOOL("request", known = sn_current_tool()->request(thread, arguments, &result));
    if (known) thread->general[SN_RDX] = result;
}

void sn_requests_insert(sn_block *block) {
    for (unsigned i = 0; i < block->count; i++) {
        const sn_insn *insn = &block->insns[i];
        uint8_t before[SN_REQUEST_PREAMBLE];
        if (!sn_may_be_request(insn)) continue;
        if (!sn_copy_safely(before, (const void *)(insn->pc - sizeof before), sizeof before)) continue;
        if (!sn_ends_request(before)) continue;
        sn_insert_before(block, i);
        sn_value thread = sn_current_thread(block);
        sn_call(block, (void *)answer, 1, &thread);
    }
}
