// build: gcc -O1 -mavx
// core: yes
/* What a handler changes in its ucontext takes effect on return: mask, general registers, flags, SSE, MXCSR, x87; and
   rt_sigreturn's frame: uc_flags, uc_link, a valid extended state (magic numbers). */
#include "check.h"
#include <cpuid.h>
static int magic, link_null, in_mask;
static void change(int n, siginfo_t *i, void *c) {
    (void)n, (void)i;
    ucontext_t *user = c;
    sigaddset(&user->uc_sigmask, SIGUSR2);
    user->uc_mcontext.gregs[REG_R12] = 0x1212;
    user->uc_mcontext.gregs[REG_RBX] = 0xbbbb;
    user->uc_mcontext.gregs[REG_EFL] |= 1;
    struct _libc_fpstate *state = user->uc_mcontext.fpregs;
    state->mxcsr = 0x7f80;
    state->cwd = 0x27f;
    memset(&state->_xmm[5], 0x5a, 16);
    magic = *(uint32_t *)((char *)state + 464) == 0x46505853;
    uint32_t extended = *(uint32_t *)((char *)state + 464 + 4), feature_size = *(uint32_t *)((char *)state + 464 + 16);
    magic = magic && *(uint32_t *)((char *)state + extended - 4) == 0x46505845 && feature_size + 4 == extended;
    magic = magic && (user->uc_flags & 1);
    link_null = user->uc_link == NULL;
    in_mask = !sigismember(&user->uc_sigmask, SIGUSR1);
}
int main(void) {
    handle(SIGUSR1, change, 0);
    uint64_t rbx = 1, r12 = 2, carry = 0, xmm[2] = {0};
    uint32_t mxcsr = 0x1f80;
    uint16_t control = 0;
    long result = SYS_tgkill;
    __asm__ volatile("mov $1,%%rbx; mov $2,%%r12d; vpxor %%xmm5,%%xmm5,%%xmm5; clc; syscall; setc %b[carry]; vmovdqu %%xmm5,%[xmm]; stmxcsr %[mxcsr]; fnstcw %[control]; ldmxcsr %[usual]; fninit"
                     : "+a"(result), "=&b"(rbx), [carry] "+r"(carry), [xmm] "=m"(xmm), [mxcsr] "=m"(mxcsr), [control] "=m"(control)
                     : "D"(getpid()), "S"(gettid()), "d"(SIGUSR1), [usual] "m"((uint32_t){0x1f80})
                     : "rcx", "r11", "r12", "xmm5", "memory", "cc");
    __asm__ volatile("mov %%r12,%0" : "=r"(r12));
    CHECK(result == 0, "result of the system call");
    CHECK(rbx == 0xbbbb, "rbx changed");
    CHECK(carry == 1, "carry set");
    CHECK(xmm[0] == 0x5a5a5a5a5a5a5a5a && xmm[1] == xmm[0], "xmm5 changed");
    CHECK(mxcsr == 0x7f80, "MXCSR changed: %x", mxcsr);
    CHECK(control == 0x27f, "x87 control word changed: %x", control);
    sigset_t now;
    sigprocmask(SIG_BLOCK, NULL, &now);
    CHECK(sigismember(&now, SIGUSR2) && !sigismember(&now, SIGUSR1), "mask changed");
    CHECK(magic && link_null && in_mask, "the frame's extended state, uc_link and mask");
    (void)r12;
    return finish();
}
