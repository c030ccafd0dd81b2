/**
 * @fileoverview The client's registers as plans of shadows see them (service/shadow_plan.h), in the code cache and in the engine.
 * Per-architecture file; compiled for general registers only.
 */
#include "isa/isa.h"
#include "isa/x86_64/emit.h"
#include "isa/x86_64/features.h"
#include "service/shadow_plan.h"


#define KEPT(offset, reg) KEPT_AT(offset, reg)
#define KEPT_AT(offset, reg) #offset "+8*" #reg "(%rdi)\n\t"

/* The registers that a function may not change are still the client's: they are put beside those that the call has kept. Functions
   expect the direction flag to be clear (System V ABI); it is the client's, too. */
__asm__(".text\n\t"
        ".balign 16\n"
        "sn_shadow_enter:\n\t"
        "mov %rbx, " KEPT(SN_THREAD_KEPT, 3)
        "mov %rbp, " KEPT(SN_THREAD_KEPT, 5)
        "mov %r12, " KEPT(SN_THREAD_KEPT, 12)
        "mov %r13, " KEPT(SN_THREAD_KEPT, 13)
        "mov %r14, " KEPT(SN_THREAD_KEPT, 14)
        "mov %r15, " KEPT(SN_THREAD_KEPT, 15)
        "pushfq\n\t"
        "testl $0x400, (%rsp)\n\t"
        "lea 8(%rsp), %rsp\n\t"
        "jz sn_shadow_run\n\t"
        "push %rdi\n\t"
        "cld\n\t"
        "call sn_shadow_run\n\t"
        "std\n\t"
        "pop %rdi\n\t"
        "ret\n\t"
        ".globl sn_shadow_enter\n\t"
        ".hidden sn_shadow_enter\n\t"
        ".type sn_shadow_enter, @function\n\t"
        ".size sn_shadow_enter, . - sn_shadow_enter");

uint64_t sn_shadow_general(const sn_plan_view *view, unsigned reg) {
    const sn_thread *thread = view->thread;
    if (view->in_engine) return thread->general[reg];
    return thread->rare_saved >> reg & 1 ? thread->saved[reg] : thread->kept[reg];
}

/** As lahf and seto have left them (Intel SDM volume 2, LAHF). */
unsigned sn_shadow_flags_value(const sn_plan_view *view) {
    static const uint8_t order[8] = {SN_FLAG_CARRY, 0, SN_FLAG_PARITY, 0, SN_FLAG_ADJUST, 0, SN_FLAG_ZERO, SN_FLAG_SIGN};
    uint64_t saved = view->thread->saved_flags;
    unsigned flags = saved & 1 ? SN_FLAG_OVERFLOW : 0;
    for (unsigned i = 0; i < 8; i++)
        if (saved >> (8 + i) & 1) flags |= order[i];
    return flags;
}

uint64_t sn_shadow_segment_base(const sn_plan_view *view, unsigned segment) {
    const sn_thread *thread = view->thread;
    uint64_t base;
    if (segment == SN_SEGMENT_GS) return thread->client_base2;
    if (view->in_engine || !sn_features_read_bases()) return thread->client_base;
    __asm__ volatile("rdfsbase %0" : "=r"(base));
    return base;
}

/** kmovq of each; the registers are the client's as long as code runs that uses none. */
uint64_t sn_shadow_mask_value(unsigned reg) {
    uint64_t value = 0;
    switch (reg) {
#define ROW(n) case n: __asm__ volatile(".byte 0xc4, 0xe1, 0xfb, 0x93, 0xc0 + " #n : "=a"(value)); break
    ROW(0);
    ROW(1);
    ROW(2);
    ROW(3);
    ROW(4);
    ROW(5);
    ROW(6);
    ROW(7);
#undef ROW
    default: break;
    }
    return value;
}

static unsigned vector_bytes; /* 16, 32, 64; 0: not asked yet */

static unsigned find_vector_bytes(void) {
    return sn_features_wide_masks() ? 64 : sn_features_avx() ? 32 : 16;
}

unsigned sn_shadow_vector_value(unsigned reg, uint8_t bytes[64]) {
    if (!vector_bytes) vector_bytes = find_vector_bytes();
#define NARROW(n) case n: __asm__ volatile("movups %%xmm" #n ", (%0)" ::"r"(bytes) : "memory"); break;
#define MIDDLE(n) case n: __asm__ volatile("vmovups %%ymm" #n ", (%0)" ::"r"(bytes) : "memory"); break;
#define WIDE(n) case n: __asm__ volatile("vmovups %%zmm" #n ", (%0)" ::"r"(bytes) : "memory"); break;
#define EIGHT(R, a, b, c, d, e, f, g, h) R(a) R(b) R(c) R(d) R(e) R(f) R(g) R(h)
#define SIXTEEN(R) EIGHT(R, 0, 1, 2, 3, 4, 5, 6, 7) EIGHT(R, 8, 9, 10, 11, 12, 13, 14, 15)
    if (vector_bytes == 64) {
        switch (reg) {
            SIXTEEN(WIDE)
            EIGHT(WIDE, 16, 17, 18, 19, 20, 21, 22, 23)
            EIGHT(WIDE, 24, 25, 26, 27, 28, 29, 30, 31)
        }
    } else if (vector_bytes == 32) {
        switch (reg) {
            SIXTEEN(MIDDLE)
        }
    } else {
        switch (reg) {
            SIXTEEN(NARROW)
        }
    }
    return vector_bytes;
}

/* System V ABI, AMD64 supplement, A.2.1; Intel SDM, SYSCALL. */
const uint64_t sn_shadow_system_call_results = 1u << SN_RAX | 1u << SN_RCX | 1u << SN_R11;

static uint64_t *shadow_of(const sn_thread *thread, uint8_t general) { return (uint64_t *)(thread->shadow + SN_SHADOW_GENERAL) + general; }

SN_FAST uint64_t sn_shadow_register(const sn_thread *thread, uint8_t general) { return *shadow_of(thread, general); }

SN_FAST void sn_shadow_set_register(sn_thread *thread, uint8_t general, uint64_t shadow) {
    *shadow_of(thread, general) = shadow;
    sn_shadow_note(thread, general);
}

SN_FAST uint8_t sn_shadow_argument_register(unsigned argument) {
    static const uint8_t registers[] = {SN_RDI, SN_RSI, SN_RDX, SN_RCX, SN_R8, SN_R9};
    return registers[argument % 6];
}

SN_FAST uint8_t sn_shadow_system_call_register(unsigned argument) {
    static const uint8_t registers[] = {SN_RDI, SN_RSI, SN_RDX, SN_R10, SN_R8, SN_R9};
    return registers[argument % 6];
}

SN_FAST uint8_t sn_shadow_result_register(void) { return SN_RAX; }
SN_FAST uint8_t sn_shadow_stack_register(void) { return SN_RSP; }
