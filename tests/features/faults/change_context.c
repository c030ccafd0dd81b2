// build: gcc -O1
// core: yes
/* A fault handler repairs and returns: skips the instruction, changes the base register, maps the page, emulates a load
   (ud2 as a virtual machine's trap), goes elsewhere with another stack pointer; 20000 faults in a row. */
#include "check.h"
#include <sys/mman.h>
static volatile long faults;
static char good[64];
static void skip_three(int n, siginfo_t *i, void *c) { (void)n, (void)i; ((ucontext_t *)c)->uc_mcontext.gregs[REG_RIP] += 3; faults++; }
static void fix_base(int n, siginfo_t *i, void *c) { (void)n, (void)i; ((ucontext_t *)c)->uc_mcontext.gregs[REG_RBX] = (long)good; faults++; }
static void map_page(int n, siginfo_t *i, void *c) {
    (void)n, (void)c;
    faults++;
    if (mprotect((void *)((uintptr_t)i->si_addr & ~4095ul), 4096, PROT_READ | PROT_WRITE))
        _exit(9);
}
static void emulate(int n, siginfo_t *i, void *c) {
    (void)n, (void)i;
    ucontext_t *user = c;
    user->uc_mcontext.gregs[REG_RAX] += 7;
    user->uc_mcontext.gregs[REG_EFL] ^= 1;
    user->uc_mcontext.gregs[REG_RIP] += 2;
    faults++;
}
static char other_stack[65536] __attribute__((aligned(16)));
static void elsewhere(int n, siginfo_t *i, void *c) {
    (void)n, (void)i;
    ucontext_t *user = c;
    extern char landing[];
    user->uc_mcontext.gregs[REG_RIP] = (long)landing;
    user->uc_mcontext.gregs[REG_R8] = (long)(other_stack + sizeof other_stack);
}
int main(void) {
    handle(SIGSEGV, skip_three, 0);
    uint64_t rax = 5;
    __asm__ volatile("mov (%1),%0" : "+a"(rax) : "c"(0x123ul));
    CHECK(rax == 5 && faults == 1, "skipped the load");
    handle(SIGSEGV, fix_base, 0);
    strcpy(good, "repaired");
    char *base = (char *)0x10;
    uint64_t value;
    __asm__ volatile("mov (%1),%0" : "=a"(value), "+b"(base)::"memory");
    CHECK(!memcmp(&value, "repaired", 8) && base == good, "ran again with another base register");
    handle(SIGSEGV, map_page, 0);
    char *area = mmap(NULL, 1000 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    faults = 0;
    for (int i = 0; i < 1000; i++)
        area[i * 4096 + i]++;
    int sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += area[i * 4096 + i];
    CHECK(faults == 1000 && sum == 1000, "1000 pages on demand");
    handle(SIGILL, emulate, 0);
    faults = 0;
    uint64_t total = 0, carries = 0;
    for (int i = 0; i < 20000; i++)
        __asm__ volatile("mov %0,%%rax; clc; ud2; adc $0,%1; mov %%rax,%0" : "+r"(total), "+r"(carries)::"rax", "cc");
    CHECK(total == 140000 && carries == 20000 && faults == 20000, "20000 emulated instructions");
    handle(SIGSEGV, elsewhere, 0);
    uint64_t landed = 0, moved = 0;
    __asm__ volatile("mov %%rsp,%%r12; mov 0x20,%%rax; mov $99,%0; landing: mov %%r8,%%rsp; push $77; pop %0; mov %%rsp,%1; mov %%r12,%%rsp"
                     : "+r"(landed), "+r"(moved)::"r8", "r12", "rax", "memory");
    CHECK(landed == 77 && moved == (uint64_t)(other_stack + sizeof other_stack), "went elsewhere on another stack");
    return finish();
}
