// build: gcc -O1 -mno-avx
// core: yes
/* A fault shows the handler every register exactly: assembly sets all general registers, flags, xmm, ymm, zmm, mask
   registers, MXCSR and the x87 stack to known values and faults, in several instruction forms; RIP is the instruction's. */
#include "check.h"
#include <cpuid.h>
#include <immintrin.h>
#include <setjmp.h>
static ucontext_t seen;
static siginfo_t info;
static unsigned char state[16384] __attribute__((aligned(64)));
static unsigned state_size;
static sigjmp_buf back;
static int number;
static void note(int n, siginfo_t *i, void *c) {
    seen = *(ucontext_t *)c;
    info = *i;
    number = n;
    unsigned char *from = (unsigned char *)seen.uc_mcontext.fpregs;
    state_size = *(uint32_t *)(from + 464) == 0x46505853 ? *(uint32_t *)(from + 464 + 16) : 512;
    if (state_size > sizeof state)
        state_size = sizeof state;
    memcpy(state, from, state_size);
    siglongjmp(back, 1);
}
/* Values: register k of 1..15 holds 0x1111 * k in each 16-bit part, except what the fault needs. */
#define LOAD                                                                                                           \
    "mov $0x1111111111111111,%%rax; mov $0x2222222222222222,%%rcx; mov $0x3333333333333333,%%rdx; mov $0x4444444444444444,%%rbx;" \
    "mov $0x5555555555555555,%%rbp; mov $0x6666666666666666,%%rsi; mov $0x7777777777777777,%%rdi; mov $0x8888888888888888,%%r8;" \
    "mov $0x9999999999999999,%%r9; mov $0xaaaaaaaaaaaaaaaa,%%r10; mov $0xbbbbbbbbbbbbbbbb,%%r11; mov $0xcccccccccccccccc,%%r12;" \
    "mov $0xdddddddddddddddd,%%r13; mov $0xeeeeeeeeeeeeeeee,%%r14; mov $0x0123456789abcdef,%%r15;"
static const uint64_t values[16] = {0x1111111111111111, 0x2222222222222222, 0x3333333333333333, 0x4444444444444444, 0, 0x5555555555555555,
    0x6666666666666666, 0x7777777777777777, 0x8888888888888888, 0x9999999999999999, 0xaaaaaaaaaaaaaaaa, 0xbbbbbbbbbbbbbbbb,
    0xcccccccccccccccc, 0xdddddddddddddddd, 0xeeeeeeeeeeeeeeee, 0x0123456789abcdef};
static const char *const names[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"};
static const int places[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
static uint64_t stack_pointer;
/* change: bit k set when the case itself changes register k to `other` */
static void compare(const char *name, unsigned long at, int signal_number, int code, int changed, uint64_t other, unsigned flags) {
    int good = 1;
    for (int k = 0; k < 16; k++) {
        uint64_t got = (uint64_t)seen.uc_mcontext.gregs[places[k]], wanted = k == 4 ? stack_pointer : k == changed ? other : values[k];
        if (got != wanted) {
            say("  %s is %llx, expected %llx", names[k], (unsigned long long)got, (unsigned long long)wanted);
            good = 0;
        }
    }
    CHECK(good, "%s: general registers", name);
    CHECK((unsigned long)seen.uc_mcontext.gregs[REG_RIP] == at, "%s: rip at the instruction (off by %ld)", name, (long)((unsigned long)seen.uc_mcontext.gregs[REG_RIP] - at));
    CHECK(((unsigned)seen.uc_mcontext.gregs[REG_EFL] & 0xcd5) == flags, "%s: flags %x", name, (unsigned)seen.uc_mcontext.gregs[REG_EFL] & 0xcd5);
    CHECK(number == signal_number && info.si_code == code, "%s: signal %d code %d", name, number, info.si_code);
}
#define CASE(label, text, signal_number, code, changed, other, flags)                                                   \
    if (sigsetjmp(back, 1) == 0) {                                                                                     \
        __asm__ volatile("mov %%rsp,%0;" LOAD text : "=m"(stack_pointer)::"rax", "rcx", "rdx", "rbx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc"); \
        CHECK(0, "%s did not fault", #label);                                                                          \
    } else {                                                                                                           \
        extern char at_##label[];                                                                                      \
        compare(#label, (unsigned long)at_##label, signal_number, code, changed, other, flags);                        \
    }
#define AT(label) "at_" #label ": "
#define SET_FLAGS(low) "movb $" low ",%%ah; sahf; mov $0x1111111111111111,%%rax;"

/* Where a state component lies in the frame. */
static unsigned char *component(unsigned n) {
    unsigned eax, ebx, ecx, edx;
    __cpuid_count(13, n, eax, ebx, ecx, edx);
    return state + ebx;
}

__attribute__((target("avx512f,avx512bw"))) static void vectors(void) {
    static uint64_t pattern[32][8] __attribute__((aligned(64)));
    for (int r = 0; r < 32; r++)
        for (int w = 0; w < 8; w++)
            pattern[r][w] = 0x0101010101010101ull * (unsigned)(r * 8 + w + 1);
    if (sigsetjmp(back, 1) == 0) {
        __asm__ volatile("vmovdqa64 (%0),%%zmm0; vmovdqa64 64(%0),%%zmm1; vmovdqa64 64*15(%0),%%zmm15; vmovdqa64 64*16(%0),%%zmm16; vmovdqa64 64*31(%0),%%zmm31;"
                         "kmovq (%0),%%k1; kmovq 8(%0),%%k7; fninit; fldpi; fld1; vmovups %%zmm1,0x100"
                         ::"r"(pattern) : "xmm0", "xmm1", "xmm15", "xmm16", "xmm31", "k1", "k7", "memory");
        CHECK(0, "vector store did not fault");
    }
    __asm__ volatile("vzeroupper");
    int good = !memcmp(state + 160, pattern[0], 16) && !memcmp(state + 176, pattern[1], 16) && !memcmp(state + 160 + 240, pattern[15], 16);
    CHECK(good, "xmm0, xmm1 and xmm15 in the frame");
    uint64_t present = *(uint64_t *)(state + 512);
    CHECK((present & 0xe7) == 0xe7, "the frame holds AVX-512 state");
    CHECK(!memcmp(component(2), &pattern[0][2], 16) && !memcmp(component(2) + 240, &pattern[15][2], 16), "upper halves of ymm0 and ymm15");
    CHECK(!memcmp(component(6), &pattern[0][4], 32) && !memcmp(component(6) + 480, &pattern[15][4], 32), "upper halves of zmm0 and zmm15");
    CHECK(!memcmp(component(7), pattern[16], 64) && !memcmp(component(7) + 15 * 64, pattern[31], 64), "zmm16 and zmm31");
    CHECK(!memcmp(component(5) + 8, pattern[0], 8) && !memcmp(component(5) + 56, (uint64_t *)pattern + 1, 8), "k1 and k7");
    long double st0, st1;
    memcpy(&st0, state + 32, 10);
    memcpy(&st1, state + 48, 10);
    CHECK(st0 == 1 && st1 > 3.14159L && st1 < 3.1416L, "x87 stack");
    CHECK((uintptr_t)info.si_addr == 0x100, "si_addr of a vector store");
}

int main(void) {
    handle(SIGSEGV, note, SA_NODEFER);
    handle(SIGILL, note, SA_NODEFER);
    handle(SIGFPE, note, SA_NODEFER);
    handle(SIGTRAP, note, SA_NODEFER);
    handle(SIGBUS, note, SA_NODEFER);
    CASE(load, SET_FLAGS("0xd7") "xor %%ebx,%%ebx; stc; std; cld; mov $0x40,%%ebx; " AT(load) "mov (%%rbx),%%rax", SIGSEGV, SEGV_MAPERR, 3, 0x40, 0x45)
    CHECK((uintptr_t)info.si_addr == 0x40, "si_addr");
    CASE(store, "xor %%ecx,%%ecx; mov $0x48,%%ecx; cmp %%rax,%%rax; " AT(store) "movb $1,8(%%rcx)", SIGSEGV, SEGV_MAPERR, 1, 0x48, 0x44)
    CHECK((uintptr_t)info.si_addr == 0x50, "si_addr");
    CASE(high, "mov $0x8000000000000000,%%r15; test %%r15,%%r15; " AT(high) "add %%rax,(%%r15,%%r15,1)", SIGSEGV, SEGV_MAPERR, 15, 0x8000000000000000, 0x84)
    CASE(non_canonical, "cmp %%rcx,%%rax; " AT(non_canonical) "mov (%%r12),%%rdx", SIGSEGV, 128, -1, 0, 0x91)
    CASE(undefined, "xor %%esi,%%esi; mov $5,%%esi; test %%esi,%%esi; " AT(undefined) "ud2", SIGILL, ILL_ILLOPN, 6, 5, 4)
    CASE(divide, "xor %%edi,%%edi; " AT(divide) "idivq %%rdi", SIGFPE, FPE_INTDIV, 7, 0, 0x44)
    CASE(overflow, "xor %%r9d,%%r9d; dec %%r9; stc; " AT(overflow) "idivb %%r9b", SIGFPE, FPE_INTDIV, 9, UINT64_MAX, 0x95)
    CASE(breakpoint, "xor %%r8d,%%r8d; int3; " AT(breakpoint) "nop", SIGTRAP, 128, 8, 0, 0x44)
    CASE(hlt, "xor %%r8d,%%r8d; " AT(hlt) "hlt", SIGSEGV, 128, 8, 0, 0x44)
    CASE(push, "xor %%r10d,%%r10d; mov $0x30,%%r10d; add $0,%%r10; " AT(push) "pushq (%%r10)", SIGSEGV, SEGV_MAPERR, 10, 0x30, 4)
    CASE(string, "xor %%edi,%%edi; cld; mov $0x20,%%edi; " AT(string) "stosb", SIGSEGV, SEGV_MAPERR, 7, 0x20, 0x44)
    CASE(call_memory, "xor %%r14d,%%r14d; mov $0x10,%%r14d; " AT(call_memory) "call *(%%r14)", SIGSEGV, SEGV_MAPERR, 14, 0x10, 0x44)
    CASE(jump_memory, "xor %%r13d,%%r13d; mov $0x18,%%r13d; " AT(jump_memory) "jmp *(%%r13)", SIGSEGV, SEGV_MAPERR, 13, 0x18, 0x44)
    CASE(locked, "xor %%r11d,%%r11d; mov $0x28,%%r11d; " AT(locked) "lock xadd %%rax,(%%r11)", SIGSEGV, SEGV_MAPERR, 11, 0x28, 0x44)
    CASE(compare, "xor %%ebp,%%ebp; mov $0x60,%%ebp; push %%rbp; pop %%rbp;" AT(compare) "cmp %%rax,(%%rbp)", SIGSEGV, SEGV_MAPERR, 5, 0x60, 0x44)
    if (__builtin_cpu_supports("avx512bw"))
        vectors();
    return finish();
}
