// build: gcc -O1
/* Instructions that only the kernel may run (and unmapped port I/O, wrong system registers) fault as natively. */
#include "check.h"
#include <setjmp.h>
static sigjmp_buf back;
static int code;
static void note(int n, siginfo_t *i, void *c) { (void)c; code = i->si_code; siglongjmp(back, n); }
#define TRY(name, text, wanted)                                                                                        \
    do {                                                                                                               \
        int n = sigsetjmp(back, 1);                                                                                    \
        if (!n) {                                                                                                      \
            __asm__ volatile(text ::: "rax", "rbx", "rcx", "rdx", "memory", "cc");                                     \
            n = 0;                                                                                                     \
        }                                                                                                              \
        CHECK(n == wanted, "%s: signal %d code %d", name, n, n ? code : 0);                                           \
    } while (0)
int main(void) {
    handle(SIGSEGV, note, 0);
    handle(SIGILL, note, 0);
    handle(SIGTRAP, note, 0);
    TRY("hlt", "hlt", SIGSEGV);
    TRY("cli", "cli", SIGSEGV);
    TRY("in", "xor %%edx,%%edx; in %%dx,%%al", SIGSEGV);
    TRY("out", "xor %%edx,%%edx; out %%al,%%dx", SIGSEGV);
    TRY("rdmsr", "xor %%ecx,%%ecx; rdmsr", SIGSEGV);
    TRY("mov from cr0", "mov %%cr0,%%rax", SIGSEGV);
    TRY("lgdt", "lgdt (%%rsp)", SIGSEGV);
    TRY("wbinvd", "wbinvd", SIGSEGV);
    TRY("invlpg", "invlpg (%%rsp)", SIGSEGV);
    TRY("int 0x21", "int $0x21", SIGSEGV);
    TRY("iretq to a bad segment", "mov %%rsp,%%rbx; sub $256,%%rsp; push $0; push $0; push $0; push $0xfff0; push $0; iretq", SIGSEGV);
    TRY("mov to ss", "mov $0x1234,%%eax; mov %%eax,%%ss", SIGSEGV);
    TRY("xsetbv", "xor %%ecx,%%ecx; xor %%eax,%%eax; xor %%edx,%%edx; xsetbv", SIGSEGV);
    TRY("ldmxcsr reserved", "movl $0xffffffff,-8(%%rsp); ldmxcsr -8(%%rsp)", SIGSEGV);
    TRY("misaligned movaps", "mov %%rsp,%%rax; or $1,%%rax; movaps (%%rax),%%xmm0", SIGSEGV);
    TRY("lock on a register form", ".byte 0xf0,0x01,0xc0", SIGILL);
    TRY("reading ds", "mov %%ds,%%eax; mov %%eax,%%ds", 0);
    return finish();
}
