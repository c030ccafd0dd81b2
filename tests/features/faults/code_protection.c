// build: gcc -O1
/* Writes to read-only code fault with SEGV_ACCERR at the written address, execute-only-by-mistake data does not run, code
   runs off the end of its page into an unmapped one and faults there, an instruction that straddles the end too. */
#include "check.h"
#include <setjmp.h>
#include <sys/mman.h>
static sigjmp_buf back;
static siginfo_t info;
static uintptr_t rip;
static void note(int n, siginfo_t *i, void *c) {
    info = *i;
    rip = (uintptr_t)((ucontext_t *)c)->uc_mcontext.gregs[REG_RIP];
    siglongjmp(back, n);
}
__attribute__((noinline)) static int victim(int x) { return x * 3 + 1; }
int main(void) {
    handle(SIGSEGV, note, 0);
    handle(SIGILL, note, 0);
    CHECK_EQUAL(victim(2), 7, "code runs");
    if (!sigsetjmp(back, 1)) {
        *(volatile char *)victim = 0;
        CHECK(0, "write to code succeeded");
    }
    CHECK(info.si_code == SEGV_ACCERR && info.si_addr == (void *)victim, "write to code: SEGV_ACCERR");
    CHECK_EQUAL(victim(3), 10, "code still runs");
    unsigned char *area = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(area, 0x90, 4096);
    mprotect(area, 4096, PROT_READ | PROT_EXEC);
    munmap(area + 4096, 4096);
    if (!sigsetjmp(back, 1))
        ((void (*)(void))(area + 4000))();
    CHECK(rip == (uintptr_t)area + 4096 && info.si_code == SEGV_MAPERR && (unsigned char *)info.si_addr == area + 4096, "ran off the end of a page");
    mprotect(area, 4096, PROT_READ | PROT_WRITE);
    memcpy(area + 4092, "\x90\x48\xb8\x01", 4); /* nop; mov imm64 cut after 3 bytes */
    mprotect(area, 4096, PROT_READ | PROT_EXEC);
    if (!sigsetjmp(back, 1))
        ((void (*)(void))(area + 4092))();
    CHECK(rip == (uintptr_t)area + 4093 && info.si_code == SEGV_MAPERR && (unsigned char *)info.si_addr == area + 4096, "an instruction across the end");
    mprotect(area, 4096, PROT_READ | PROT_WRITE);
    memcpy(area, "\xb8\x2a\0\0\0\x06", 6); /* mov; invalid */
    mprotect(area, 4096, PROT_READ | PROT_EXEC);
    int n = sigsetjmp(back, 1);
    if (!n)
        ((void (*)(void))area)();
    CHECK(n == SIGILL && rip == (uintptr_t)area + 5, "an undefined opcode after a good instruction");
    mprotect(area, 4096, PROT_READ | PROT_WRITE);
    memset(area, 0x66, 20); /* more than 15 bytes of prefixes: general protection */
    area[20] = 0x90;
    mprotect(area, 4096, PROT_READ | PROT_EXEC);
    n = sigsetjmp(back, 1);
    if (!n)
        ((void (*)(void))area)();
    CHECK(n == SIGSEGV && rip == (uintptr_t)area && info.si_code == SI_KERNEL, "an instruction of more than 15 bytes");
    mprotect(area, 4096, PROT_EXEC);
    return finish();
}
