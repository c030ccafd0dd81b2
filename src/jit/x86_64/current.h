/**
 * @fileoverview How this architecture finds the current thread's state, and its flags. Included by jit/thread.h only.
 */
#ifndef SONDE_JIT_X86_64_CURRENT_H
#define SONDE_JIT_X86_64_CURRENT_H

static inline sn_thread *sn_thread_current(void) {
    sn_thread *thread;
    __asm__ volatile("mov %%gs:%c1, %0" : "=r"(thread) : "i"(SN_THREAD_SELF));
    return thread;
}

/** The flags register; from functions that emitted code calls: as the client has it, the arithmetic flags excepted. */
SN_FAST static inline __attribute__((always_inline)) uint64_t sn_flags_current(void) {
    uint64_t flags;
    __asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; popq %0; lea 128(%%rsp), %%rsp" : "=r"(flags)); /* over the red zone */
    return flags;
}

/** Whether string instructions go down. */
SN_FAST static inline __attribute__((always_inline)) bool sn_flags_backwards(uint64_t flags) { return flags >> 10 & 1; }

#endif
