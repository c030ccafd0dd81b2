/**
 * @fileoverview A client request that calls a function of the client (VALGRIND_NON_SIMD_CALL0 to 3): see request.h.
 * Per-architecture file: it makes a call as the System V ABI for x86-64 has it (3.2).
 *
 * The function runs as all client code does. Its return address is the last instruction of the request itself, so that the
 * request is made again when it returns; that is recognised by the place and the stack pointer, and the whole state of the
 * client, of which the request's writer promises nothing, is put back; so are the shadows of its registers, which are clean for the function.
 */
#include <stdlib.h>
#include <string.h>

#include "guest/request.h"
#include "isa/x86_64/emit.h"
#include "jit/runtime.h"

#define RED_ZONE 128
#define FLAG_DIRECTION 0x400

/** A call that has not returned, the newest first. One whose function was left by a jump stays until the same place calls
    again; the number is limited, so that a program that does nothing else comes to no harm. */
struct sn_client_call {
    struct sn_client_call *older;
    uint64_t pc, stack_pointer; /**< where it returns, and what the stack pointer is then */
    uint64_t general[16];
    uint64_t flags;
    uint8_t shadow[SN_THREAD_SHADOW_BYTES];
    uint8_t extended[];
};
enum { MOST_CALLS = 1000 };

static struct sn_client_call **find(sn_thread *thread, uint64_t pc, uint64_t stack_pointer) {
    struct sn_client_call **link = &thread->client_calls;
    while (*link && ((*link)->pc != pc || (*link)->stack_pointer != stack_pointer)) link = &(*link)->older;
    return link;
}

static void forget(struct sn_client_call **link) {
    struct sn_client_call *gone = *link;
    *link = gone->older;
    free(gone);
}

static void forget_stale(sn_thread *thread, uint64_t pc, uint64_t stack_pointer) {
    struct sn_client_call **link = find(thread, pc, stack_pointer);
    if (*link) forget(link);
    link = &thread->client_calls;
    for (unsigned count = 1; *link && count < MOST_CALLS; count++) link = &(*link)->older;
    if (*link) forget(link);
}

bool sn_client_call(sn_thread *thread, uint64_t function, const uint64_t *arguments, unsigned count) {
    static const uint8_t places[] = {SN_RDI, SN_RSI, SN_RDX, SN_RCX};
    uint64_t stack = ((thread->general[SN_RSP] - RED_ZONE) & ~UINT64_C(15)) - sizeof(uint64_t);
    struct sn_client_call *call = malloc(sizeof *call + thread->state_size);
    if (!call) return false;
    if (!sn_copy_safely((void *)stack, &thread->pc, sizeof thread->pc)) {
        free(call);
        return false;
    }
    uint64_t stack_pointer = stack + sizeof(uint64_t);
    forget_stale(thread, thread->pc, stack_pointer);
    call->older = thread->client_calls;
    call->pc = thread->pc;
    call->stack_pointer = stack_pointer;
    call->flags = thread->flags;
    memcpy(call->general, thread->general, sizeof call->general);
    memcpy(call->shadow, thread->shadow, sizeof call->shadow);
    memset(thread->shadow, 0, sizeof thread->shadow);
    memcpy(call->extended, thread->save_area, thread->state_size);
    thread->client_calls = call;
    for (unsigned i = 0; i < count; i++) thread->general[places[i]] = arguments[i];
    thread->general[SN_RSP] = stack;
    thread->general[SN_RAX] = 0;
    thread->flags &= ~(uint64_t)FLAG_DIRECTION;
    thread->pc = function;
    thread->redirected = true;
    return true;
}

bool sn_client_call_returned(sn_thread *thread, uint64_t *result) {
    struct sn_client_call **link = find(thread, thread->pc, thread->general[SN_RSP]), *call = *link;
    if (!call) return false;
    *result = thread->general[SN_RAX];
    memcpy(thread->general, call->general, sizeof call->general);
    memcpy(thread->shadow, call->shadow, sizeof call->shadow);
    thread->flags = call->flags;
    memcpy(thread->save_area, call->extended, thread->state_size);
    forget(link);
    return true;
}

void sn_client_calls_end(sn_thread *thread) {
    while (thread->client_calls) forget(&thread->client_calls);
}
