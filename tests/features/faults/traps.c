// build: gcc -O1
/* SIGTRAP: int3, icebp (int1), int $3; RIP after the trap; TF self-stepping counts each instruction of a few, through a
   call, a rep and a jump; SIGILL of ud2, ud1 and an undefined opcode, skipped by changing RIP. */
#include "check.h"
static int traps, code;
static uintptr_t places[200];
static void note(int n, siginfo_t *i, void *c) {
    (void)n;
    code = i->si_code;
    if (traps < 200)
        places[traps] = (uintptr_t)((ucontext_t *)c)->uc_mcontext.gregs[REG_RIP];
    traps++;
}
static int skip_bytes, illegal;
static uintptr_t illegal_at;
static void over(int n, siginfo_t *i, void *c) {
    (void)n, (void)i;
    ucontext_t *user = c;
    illegal_at = (uintptr_t)i->si_addr;
    illegal += illegal_at == (uintptr_t)user->uc_mcontext.gregs[REG_RIP] && i->si_code == ILL_ILLOPN;
    user->uc_mcontext.gregs[REG_RIP] += skip_bytes;
}
int main(void) {
    extern char after_int3[], after_int1[], after_int_3[];
    handle(SIGTRAP, note, 0);
    handle(SIGILL, over, 0);
    __asm__ volatile("int3; after_int3: nop");
    CHECK(traps == 1 && places[0] == (uintptr_t)after_int3 && code == SI_KERNEL, "int3: rip behind it");
    __asm__ volatile(".byte 0xf1; after_int1: nop");
    CHECK(traps == 2 && places[1] == (uintptr_t)after_int1, "int1: rip behind it, code %d", code);
    __asm__ volatile(".byte 0xcd,3; after_int_3: nop");
    CHECK(traps == 3 && places[2] == (uintptr_t)after_int_3, "int $3: rip behind it");
    skip_bytes = 2;
    __asm__ volatile("ud2");
    CHECK_EQUAL(illegal, 1, "ud2 skipped");
    skip_bytes = 3;
    __asm__ volatile(".byte 0x0f,0xb9,0xc0");
    CHECK_EQUAL(illegal, 2, "ud1 skipped");
    skip_bytes = 1;
    __asm__ volatile(".byte 0x06");
    CHECK_EQUAL(illegal, 3, "an opcode that 64-bit mode lacks, skipped");
    traps = 0;
    static char from[8], to[8];
    void *d = to, *s = from;
    long n = 3, x = 0;
    __asm__ volatile("sub $128,%%rsp; pushfq; orl $0x100,(%%rsp); popfq; step0: nop; step1: inc %3; step2: jmp step3; nop; step3: rep movsb; step4: call step7; step5: pushfq; step6: andl $~0x100,(%%rsp);"
                     "step8: popfq; step9: jmp step_end; step7: ret; step_end: add $128,%%rsp"
                     : "+D"(d), "+S"(s), "+c"(n), "+r"(x)::"memory", "cc");
    extern char step0[], step1[], step2[], step3[], step4[], step5[], step6[], step7[], step8[], step9[];
    (void)step0;
    /* popf itself is not followed by a trap; each instruction behind it is, rep after each iteration */
    static const char *const wanted[] = {step1, step2, step3, step3, step3, step4, step7, step5, step6, step8, step9};
    int good = traps == 11;
    for (int i = 0; i < 11; i++)
        good &= places[i] == (uintptr_t)wanted[i];
    CHECK(good && x == 1, "single-stepped itself: %d traps", traps);
    if (!good)
        for (int i = 0; i < traps && i < 20; i++)
            say("  trap at step0+%ld", (long)(places[i] - (uintptr_t)step0));
    CHECK(code == TRAP_TRACE, "TRAP_TRACE");
    return finish();
}
