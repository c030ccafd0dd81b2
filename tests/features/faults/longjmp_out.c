// build: gcc -O1
/* siglongjmp out of SIGSEGV, SIGFPE, SIGILL and SIGBUS handlers, many times, from a deep frame, on an alternate stack. */
#include "check.h"
#include <setjmp.h>
#include <sys/mman.h>
static sigjmp_buf back;
static volatile int zero, code;
static volatile uintptr_t address;
static void leave(int n, siginfo_t *i, void *c) {
    (void)c;
    code = i->si_code;
    address = (uintptr_t)i->si_addr;
    siglongjmp(back, n);
}
__attribute__((noinline)) static void deep(int n, volatile int *where) {
    volatile int keep = n;
    if (n == 0)
        *where = 1;
    else
        deep(n - 1, where);
    keep++;
}
int main(void) {
    static char stack[65536];
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    handle(SIGSEGV, leave, SA_ONSTACK);
    handle(SIGFPE, leave, SA_NODEFER);
    handle(SIGILL, leave, 0);
    handle(SIGBUS, leave, 0);
    char name[] = "/tmp/featureXXXXXX";
    int file = mkstemp(name);
    unlink(name);
    if (ftruncate(file, 100))
        return 2;
    char *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    char *read_only = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    volatile int counts[64] = {0}, bad = 0;
    for (volatile int i = 0; i < 5000; i++) {
        int n = sigsetjmp(back, 1);
        if (n) {
            counts[n]++;
            continue;
        }
        switch (i % 5) {
        case 0: deep(i % 100, (int *)0x1000); break;
        case 1: zero = 100 / zero; break;
        case 2: __asm__ volatile("ud2"); break;
        case 3: map[5000] = 1; break;
        case 4: read_only[8] = 1; break;
        }
        bad++;
    }
    CHECK(!bad && counts[SIGSEGV] == 2000 && counts[SIGFPE] == 1000 && counts[SIGILL] == 1000 && counts[SIGBUS] == 1000, "5000 faults left by siglongjmp");
    if (!sigsetjmp(back, 1))
        read_only[8] = 1;
    CHECK(code == SEGV_ACCERR && address == (uintptr_t)read_only + 8, "SEGV_ACCERR and its address");
    if (!sigsetjmp(back, 1))
        map[5000] = 1;
    CHECK(code == BUS_ADRERR && address == (uintptr_t)map + 5000, "BUS_ADRERR and its address");
    if (!sigsetjmp(back, 1))
        *(volatile int *)0x1234 = 1;
    CHECK(code == SEGV_MAPERR && address == 0x1234, "SEGV_MAPERR and its address");
    return finish();
}
