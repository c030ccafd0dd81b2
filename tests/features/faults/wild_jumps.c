// build: gcc -O1
/* Calls, jumps and returns to where no code is: NULL, low, high, kernel, non-canonical, data, unmapped and PROT_NONE
   pages. RIP is the target (or the branch when the target is not canonical), the return address lies on the stack. */
#include "check.h"
#include <setjmp.h>
#include <sys/mman.h>
static sigjmp_buf back;
static siginfo_t info;
static uintptr_t rip, rsp, top, base;
static void note(int n, siginfo_t *i, void *c) {
    ucontext_t *user = c;
    info = *i;
    rip = (uintptr_t)user->uc_mcontext.gregs[REG_RIP];
    rsp = (uintptr_t)user->uc_mcontext.gregs[REG_RSP];
    base = (uintptr_t)user->uc_mcontext.gregs[REG_R12];
    top = *(uintptr_t *)rsp;
    siglongjmp(back, n);
}
enum { CALL, JUMP, RETURN, CALL_MEMORY };
__attribute__((noinline)) static int go(int how, uintptr_t target) {
    int n = sigsetjmp(back, 1);
    if (n)
        return n;
    static volatile uintptr_t place;
    place = target;
    switch (how) {
    case CALL: __asm__ volatile("mov %%rsp,%%r12; wild_call: call *%0; wild_after:" ::"r"(target) : "r12", "memory"); break;
    case JUMP: __asm__ volatile("mov %%rsp,%%r12; wild_jump: jmp *%0" ::"r"(target) : "r12", "memory"); break;
    case RETURN: __asm__ volatile("mov %%rsp,%%r12; push %0; wild_return: ret" ::"r"(target) : "r12", "memory"); break;
    case CALL_MEMORY: __asm__ volatile("mov %%rsp,%%r12; wild_call_memory: call *%0; wild_after_memory:" ::"m"(place) : "r12", "memory"); break;
    }
    return 0;
}
static char data[64] = {(char)0xc3};
int main(void) {
    static char stack[65536];
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    extern char wild_call[], wild_after[], wild_jump[], wild_return[], wild_call_memory[], wild_after_memory[];
    static const uintptr_t branches[] = {(uintptr_t)wild_call, (uintptr_t)wild_jump, (uintptr_t)wild_return, (uintptr_t)wild_call_memory};
    static const char *const names[] = {"call", "jmp", "ret", "call through memory"};
    handle(SIGSEGV, note, SA_ONSTACK);
    handle(SIGBUS, note, SA_ONSTACK);
    handle(SIGILL, note, SA_ONSTACK);
    char *readable = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(readable, 0xc3, 4096);
    char *none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *gone = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(gone, 4096);
    const struct { const char *name; uintptr_t target; int code, canonical; } targets[] = {
        {"NULL", 0, SEGV_MAPERR, 1}, {"16", 16, SEGV_MAPERR, 1}, {"low", 0x8000, SEGV_MAPERR, 1}, {"2 GB", 0x7fff0000, SEGV_MAPERR, 1},
        {"4 GB", 0x100000010, SEGV_MAPERR, 1}, {"1 TB", 0x10000000000, SEGV_MAPERR, 1}, {"high", 0x7ffffffff000, SEGV_MAPERR, 1},
        {"kernel", 0xffffffff81000000, SEGV_MAPERR, 1}, {"non-canonical", 0x8000000000000000, 128, 0}, {"non-canonical text", 0x4141414141414141, 128, 0},
        {"data of the program", (uintptr_t)data, SEGV_ACCERR, 1}, {"data page", (uintptr_t)readable, SEGV_ACCERR, 1}, {"PROT_NONE", (uintptr_t)none + 8, SEGV_ACCERR, 1},
        {"unmapped", (uintptr_t)gone, SEGV_MAPERR, 1}, {"stack", (uintptr_t)stack, SEGV_ACCERR, 1}};
    for (unsigned t = 0; t < sizeof targets / sizeof *targets; t++)
        for (int how = CALL; how <= CALL_MEMORY; how++) {
            int n = go(how, targets[t].target);
            int good = n == SIGSEGV && info.si_code == targets[t].code;
            if (targets[t].canonical) {
                good &= rip == targets[t].target && (uintptr_t)info.si_addr == targets[t].target;
                if (how == CALL || how == CALL_MEMORY)
                    good &= rsp == base - 8 && top == (uintptr_t)(how == CALL ? wild_after : wild_after_memory);
                else
                    good &= rsp == base;
            } else {
                good &= rip == branches[how] && info.si_addr == NULL && rsp == (how == RETURN ? base - 8 : base);
            }
            CHECK(good, "%s to %s: signal %d code %d%s", names[how], targets[t].name, n, info.si_code, rip == targets[t].target ? " at the target" : rip == branches[how] ? " at the branch" : " elsewhere");
        }
    return finish();
}
