/**
 * @fileoverview Client requests: finding them in a block, and handing them to the tool or to request_core.c.
 * Per-architecture file: it knows which registers hold a request's arguments and answer.
 */
#include "guest/request.h"

#include <string.h>

#include "guest/thread.h"
#include "isa/isa.h"
#include "isa/x86_64/emit.h"
#include "jit/runtime.h"

static void answer(sn_thread *thread) {
    uint64_t arguments[6], result = thread->general[SN_RDX];
    if (sn_client_call_returned(thread, &result)) {
        thread->general[SN_RDX] = result;
        return;
    }
    if (!sn_copy_safely(arguments, (const void *)thread->general[SN_RAX], sizeof arguments)) return;
    bool known = false;
    const sn_tool *tool = sn_current_tool();
    if (tool->request) SN_TELL_TOOL("request", known = tool->request(thread, arguments, &result));
    if (!known) known = sn_request_answer(thread, arguments, &result);
    if (known && !thread->redirected) thread->general[SN_RDX] = result;
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

bool sn_request_take_list(uint64_t from, va_list *list) {
    /* System V ABI for x86-64, 3.5.7: room for the registers that may hold arguments, and those on the stack. */
    enum { REGISTER_ROOM = 176 };
    char probe[REGISTER_ROOM];
    return sn_copy_safely(*list, (const void *)from, sizeof *list) &&
           sn_copy_safely(probe, (*list)->reg_save_area, sizeof probe) &&
           sn_copy_safely(probe, (*list)->overflow_arg_area, sizeof(uint64_t));
}
