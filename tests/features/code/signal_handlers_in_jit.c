// build: gcc -O1
/* Faults inside generated code are shown at its address; generated code as a signal handler; code that is freed and
   overwritten with other code in its own handler. */
#include "emit.h"
#include <setjmp.h>
static sigjmp_buf back;
static uintptr_t rip;
static unsigned char *area;
static void note(int n, siginfo_t *i, void *c) {
    (void)i;
    rip = (uintptr_t)((ucontext_t *)c)->uc_mcontext.gregs[REG_RIP];
    siglongjmp(back, n);
}
static void patch_and_return(int n, siginfo_t *i, void *c) {
    (void)n, (void)i, (void)c;
    emit_return(area + 2, 77); /* behind the ud2, which becomes nops */
    area[0] = area[1] = 0x90;
}
int main(void) {
    area = pages(4096, RWX);
    handle(SIGSEGV, note, 0);
    /* xor ecx,ecx; nop; mov eax,[rcx]; ret */
    memcpy(area, "\x31\xc9\x90\x8b\x01\xc3", 6);
    int bad = 0;
    for (volatile int i = 0; i < 500; i++) {
        int n = sigsetjmp(back, 1);
        if (!n)
            run(area);
        bad += n != SIGSEGV || rip != (uintptr_t)area + 3;
    }
    CHECK(!bad, "500 faults in generated code");
    handle(SIGILL, patch_and_return, 0);
    for (int i = 0; i < 300; i++) {
        memcpy(area, "\x0f\x0b\xb8\x01\0\0\0\xc3", 8);
        bad += run(area) != 77 || run(area) != 77;
    }
    CHECK(!bad, "a handler replaces the code that faulted");
    /* handler: mov [rip+x], edi ; ret */
    unsigned char *handler = area + 1024;
    memcpy(handler, "\x89\x3d\x0a\0\0\0\xc3", 7);
    signal(SIGUSR1, (void (*)(int))(uintptr_t)handler);
    raise(SIGUSR1);
    CHECK_EQUAL(*(volatile int *)(handler + 16), SIGUSR1, "generated code as a handler");
    return finish();
}
