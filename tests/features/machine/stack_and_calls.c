// build: gcc -O2 -fno-omit-frame-pointer
// variants: dynamic, static, clang
// core: yes
/* push and pop of all sizes and forms, enter and leave, ret imm16, call and jmp through registers, memory, rip-relative and
   fs: memory, push rsp, pop into memory by rsp, call of the next instruction, retf-free far-ish things, high-byte registers,
   deep recursion, tail calls, jump tables, bit tests with memory offsets, cmpxchg16b. */
#include "check.h"
#define SAFE_BEGIN "sub $256,%%rsp; "
#define SAFE_END "; add $256,%%rsp"
static long forty_two(void) { return 42; }
static long (*volatile pointer)(void) = forty_two;
__attribute__((noinline)) static long tail_a(long n, long sum);
__attribute__((noinline)) static long tail_b(long n, long sum) { return n == 0 ? sum : tail_a(n - 1, sum + 2); }
__attribute__((noinline)) static long tail_a(long n, long sum) { return n == 0 ? sum : tail_b(n - 1, sum + 1); }
__attribute__((noinline)) static long recurse(long n) {
    if (n == 0)
        return 0;
    long below = recurse(n - 1);
    __asm__ volatile("" : "+r"(below));
    return below + 1;
}
__attribute__((noinline)) static int table(int x) {
    switch (x) {
    case 0: return 17; case 1: return 4; case 2: return 99; case 3: return -5; case 4: return 1000; case 5: return 23;
    case 6: return 8; case 7: return 31; case 8: return 77; case 9: return 12; default: return -1;
    }
}
int main(void) {
    uint64_t a, b, c;
    __asm__ volatile(SAFE_BEGIN "mov %%rsp,%%rbx; push %%rsp; pop %0; sub %%rbx,%0; push $-5; pop %1; pushq $0x12345678; pop %2; sub %%rsp,%%rbx" SAFE_END : "=&r"(a), "=&r"(b), "=&r"(c)::"rbx", "memory", "cc");
    CHECK(a == 0 && b == (uint64_t)-5 && c == 0x12345678, "push rsp, sign-extended immediates");
    __asm__ volatile(SAFE_BEGIN "mov %%rsp,%%rbx; mov $0x1122334455667788,%%rax; pushw %%ax; pushw $0x99; mov %%rbx,%0; sub %%rsp,%0; popw %w1; popw %w2; movzwl %w1,%k1; movzwl %w2,%k2" SAFE_END : "=&r"(a), "=&r"(b), "=&r"(c)::"rax", "rbx", "memory", "cc");
    CHECK(a == 4 && b == 0x99 && c == 0x7788, "16-bit push and pop");
    __asm__ volatile(SAFE_BEGIN "mov %%rsp,%%rbx; push $77; popq -32(%%rsp); mov -24(%%rsp),%0; mov -32(%%rsp),%1; mov %%rbx,%2; sub %%rsp,%2" SAFE_END : "=&r"(a), "=&r"(b), "=&r"(c)::"rbx", "memory", "cc");
    CHECK((a == 77 || b == 77) && c == 0, "pop into memory addressed by rsp: the address is after the increment: %d", b == 77);
    __asm__ volatile(SAFE_BEGIN "pushq 8(%%rsp); movq $5,8(%%rsp); push %%rax; pushq (%%rsp); pop %0; pop %1; add $8,%%rsp; xor %1,%0" SAFE_END : "=&r"(a), "=&r"(b)::"memory", "cc");
    CHECK(a == 0, "push from memory addressed by rsp");
    __asm__ volatile(SAFE_BEGIN "mov %%rsp,%%rbx; mov %%rbp,%%r12; enter $64,$0; mov %%rbx,%0; sub %%rsp,%0; leave; mov %%rbx,%1; sub %%rsp,%1; xor %%r12,%%rbp; mov %%rbp,%2; mov %%r12,%%rbp" SAFE_END : "=&r"(a), "=&r"(b), "=&r"(c)::"rbx", "r12", "memory", "cc");
    CHECK(a == 72 && b == 0 && c == 0, "enter and leave");
    __asm__ volatile(SAFE_BEGIN "mov %%rsp,%%rbx; mov %%rbp,%%r12; mov %%rsp,%%rbp; sub $64,%%rsp; movq $11,-8(%%rbp); enter $16,$2; mov %%rbx,%0; sub %%rsp,%0; mov 16(%%rsp),%1; mov %%r12,%%rbp; mov %%rbx,%%rsp" SAFE_END : "=&r"(a), "=&r"(b)::"rbx", "r12", "memory", "cc");
    CHECK(a == 64 + 8 + 16 + 16, "nested enter: %lld", (long long)a);
    __asm__ volatile(SAFE_BEGIN "mov %%rsp,%%rbx; push $1; push $2; call 1f; jmp 2f; 1: mov 8(%%rsp),%1; ret $16; 2: mov %%rbx,%0; sub %%rsp,%0" SAFE_END : "=&r"(a), "=&r"(b)::"rbx", "memory", "cc");
    CHECK(a == 0 && b == 2, "ret imm16");
    __asm__ volatile(SAFE_BEGIN "call 1f; 1: pop %0; lea 1b(%%rip),%1; push %1; lea 2f(%%rip),%1; xchg %1,(%%rsp); ret; ud2; 2: sub %1,%0" SAFE_END : "=&r"(a), "=&r"(b)::"memory", "cc");
    CHECK(a == 0, "call of the next instruction, push and ret as a jump");
    __asm__ volatile(SAFE_BEGIN "mov %%rsp,%%rbx; and $-16,%%rsp; mov %3,%%rax; call *%%rax; mov %%rax,%0; call *%4; mov %%rax,%1; mov %4,%%rax; push %%rax; call *(%%rsp); mov %%rax,%2; mov %%rbx,%%rsp" SAFE_END
                     : "=&r"(a), "=&r"(b), "=&r"(c) : "r"(forty_two), "m"(pointer) : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
    CHECK(a == 42 && b == 42 && c == 42, "call through a register, rip-relative memory, the stack pointer's memory");
    static __thread uint64_t slot;
    slot = (uintptr_t)forty_two;
    uint64_t thread_pointer;
    __asm__ volatile("mov %%fs:0,%0" : "=r"(thread_pointer));
    uint64_t offset = (uintptr_t)&slot - thread_pointer;
    __asm__ volatile(SAFE_BEGIN "mov %%rsp,%%rbx; and $-16,%%rsp; call *%%fs:(%1); mov %%rbx,%%rsp" SAFE_END : "=a"(a) : "r"(offset) : "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
    CHECK_EQUAL(a, 42, "call through fs: memory");
    __asm__ volatile(SAFE_BEGIN "lea 1f(%%rip),%%rax; mov %%rax,(%%rsp); xor %k0,%k0; mov %%rsp,%%rcx; jmp *(%%rcx); mov $1,%0; 1: nop" SAFE_END : "=&r"(a)::"rax", "rcx", "memory", "cc");
    CHECK_EQUAL(a, 0, "jmp through memory");
    __asm__ volatile("mov $0x1122334455667788,%%rax; mov $0x0102030405060708,%%rbx; mov %%ah,%%bl; add %%bh,%%al; xchg %%ah,%%al; mov %%rax,%0; mov %%rbx,%1; mov $0x5a,%%ch; movzbl %%ch,%%edx; mov %%rdx,%2" : "=&r"(a), "=&r"(b), "=&r"(c)::"rax", "rbx", "rcx", "rdx", "cc");
    CHECK(a == 0x1122334455668f77 && b == 0x0102030405060777 && c == 0x5a, "high-byte registers: %llx %llx", (unsigned long long)a, (unsigned long long)b);
    CHECK_EQUAL(tail_a(1000001, 0), 1500001, "tail calls");
    struct rlimit limit;
    getrlimit(RLIMIT_STACK, &limit);
    long deep = limit.rlim_cur >= 8 << 20 ? 100000 : 20000;
    CHECK(recurse(deep) == deep && recurse(deep) == deep, "deep recursion");
    long sum = 0;
    for (int i = 0; i < 100000; i++)
        sum += table(i % 12) * (i % 3 + 1);
    say("jump table sum %ld", sum);
    CHECK(table(4) == 1000 && table(11) == -1, "jump table");
    static uint64_t bits[8];
    unsigned char carry;
    for (long i = -100; i < 200; i += 37) {
        __asm__ volatile("btsq %2,%1; setc %0" : "=q"(carry), "+m"(bits[3]) : "r"(i) : "memory", "cc");
        a = bits[3 + (i >> 6)] >> (i & 63) & 1;
        __asm__ volatile("btrq %2,%1; setc %0" : "=q"(carry), "+m"(bits[3]) : "r"(i) : "memory", "cc");
        CHECK(a == 1 && carry == 1 && bits[3 + (i >> 6)] == 0, "bit %ld from memory", i);
    }
    static unsigned __int128 pair __attribute__((aligned(16))) = 5;
    unsigned char swapped;
    a = 5, b = 0;
    __asm__ volatile("cmpxchg16b %1; sete %0" : "=q"(swapped), "+m"(pair), "+a"(a), "+d"(b) : "b"(7ul), "c"(8ul) : "cc");
    CHECK(swapped && (uint64_t)pair == 7 && (uint64_t)(pair >> 64) == 8, "cmpxchg16b swaps");
    __asm__ volatile("cmpxchg16b %1; sete %0" : "=q"(swapped), "+m"(pair), "+a"(a), "+d"(b) : "b"(1ul), "c"(1ul) : "cc");
    CHECK(!swapped && a == 7 && b == 8, "cmpxchg16b loads");
    return finish();
}
