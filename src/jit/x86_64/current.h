/**
 * @fileoverview How this architecture finds the current thread's state. Included by jit/thread.h only.
 */
#ifndef SONDE_JIT_X86_64_CURRENT_H
#define SONDE_JIT_X86_64_CURRENT_H

static inline sn_thread *sn_thread_current(void) {
    sn_thread *thread;
    __asm__ volatile("mov %%gs:%c1, %0" : "=r"(thread) : "i"(SN_THREAD_SELF));
    return thread;
}

#endif
