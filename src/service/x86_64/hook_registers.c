/**
 * @fileoverview Where a function's arguments and its result are: the System V ABI for x86-64, 3.2.3. See service/hooks.h.
 * Per-architecture file; compiled for general registers only, since inserted code calls it.
 */
#include "isa/x86_64/emit.h"
#include "service/hooks.h"
#include "service/shadow_plan.h"

const uint8_t sn_hook_argument_registers[SN_HOOK_ARGUMENTS] = {SN_RDI, SN_RSI, SN_RDX, SN_RCX};
const uint8_t sn_hook_result_register = SN_RAX;

/* Analysis code has saved the client's values of the registers that it uses itself; the others were kept when it called. */
static bool is_saved(const sn_thread *thread, unsigned reg) { return thread->rare_saved >> reg & 1; }

uint64_t sn_hook_result(const sn_thread *thread) {
    return is_saved(thread, SN_RAX) ? thread->saved[SN_RAX] : thread->kept[SN_RAX];
}

void sn_hook_set_result(sn_thread *thread, uint64_t result) {
    thread->saved[SN_RAX] = result; /* also where only the flags passed through the register */
    if (!is_saved(thread, SN_RAX)) thread->kept[SN_RAX] = result;
}

uint64_t sn_hook_stack_pointer(const sn_thread *thread) { return thread->kept[SN_RSP]; }

uint64_t sn_hook_engine_result(const sn_thread *thread) { return thread->general[SN_RAX]; }
void sn_hook_set_engine_result(sn_thread *thread, uint64_t result) { thread->general[SN_RAX] = result; }

void sn_hook_go_back(sn_thread *thread, uint64_t result) {
    thread->pc = *(const uint64_t *)thread->general[SN_RSP];
    thread->general[SN_RSP] += sizeof(uint64_t);
    thread->general[SN_RAX] = result;
    if (sn_shadow_ruling) sn_shadow_clean(thread, UINT64_C(1) << SN_RAX);
    thread->redirected = true;
}
