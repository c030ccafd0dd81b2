// build: gcc -O1 -mfsgsbase -pthread
/* %gs of the program's own: arch_prctl, wrgsbase, rdgsbase, memory operands of all forms through gs: and fs:, in threads,
   across system calls, signal handlers and fork; wrfsbase there and back. */
#include "check.h"
#include <asm/prctl.h>
#include <elf.h>
#include <immintrin.h>
#include <pthread.h>
#include <sys/auxv.h>
static uint64_t block[64] __attribute__((aligned(64))), other[64] __attribute__((aligned(64)));
static volatile uint64_t in_handler;
static long target(void) { return 4711; }
static uint64_t gs_word(void) {
    uint64_t value;
    __asm__ volatile("mov %%gs:8,%0" : "=r"(value));
    return value;
}
static void note(int n, siginfo_t *i, void *c) { (void)n, (void)i, (void)c; in_handler = gs_word(); }
static void *thread(void *data) {
    uint64_t base = 1;
    syscall(SYS_arch_prctl, ARCH_GET_GS, &base);
    uint64_t fresh = base;
    syscall(SYS_arch_prctl, ARCH_SET_GS, other);
    for (int i = 0; i < 2000; i++)
        if (gs_word() != 2222)
            return (void *)1;
    (void)data;
    return (void *)(fresh == (uintptr_t)block ? 0ul : fresh == 0 ? 0ul : 2ul);
}
int main(void) {
    uint64_t base = 1;
    CHECK(syscall(SYS_arch_prctl, ARCH_GET_GS, &base) == 0 && base == 0, "zero at first");
    for (int i = 0; i < 64; i++)
        block[i] = 1000 + (unsigned)i, other[i] = 2221 + (unsigned)i;
    CHECK(syscall(SYS_arch_prctl, ARCH_SET_GS, block) == 0, "ARCH_SET_GS");
    CHECK(syscall(SYS_arch_prctl, ARCH_GET_GS, &base) == 0 && base == (uintptr_t)block, "ARCH_GET_GS");
    CHECK_EQUAL(gs_word(), 1001, "load gs:8");
    uint64_t value = 0, index = 3;
    __asm__ volatile("mov %%gs:16(,%1,8),%0" : "=r"(value) : "r"(index));
    CHECK_EQUAL(value, 1005, "load gs:16(,index,8)");
    uintptr_t negative = (uintptr_t)-8;
    __asm__ volatile("mov %%gs:72(%1),%0" : "=r"(value) : "r"(negative));
    CHECK_EQUAL(value, 1008, "load gs:72(negative)");
    __asm__ volatile("movq $77,%%gs:32; addq $5,%%gs:32; lock incq %%gs:32; xchg %0,%%gs:32" : "+r"(value));
    CHECK(value == 83 && block[4] == 1008, "store, add, lock inc, xchg");
    __asm__ volatile("pushq %%gs:40; popq %0; pushq $99; popq %%gs:40" : "=&r"(value)::"memory");
    CHECK(value == 1005 && block[5] == 99, "push and pop");
    block[6] = (uintptr_t)target;
    long result;
    __asm__ volatile("sub $128,%%rsp; mov %%rsp,%%rbx; and $-16,%%rsp; call *%%gs:48; mov %%rbx,%%rsp; add $128,%%rsp" : "=a"(result)::"rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
    CHECK_EQUAL(result, 4711, "call through gs:");
    block[7] = 0;
    __asm__ volatile("lea 1f(%%rip),%%rax; mov %%rax,%%gs:56; xor %k0,%k0; jmp *%%gs:56; mov $1,%0; 1: nop" : "=&r"(value)::"rax", "memory", "cc");
    CHECK_EQUAL(value, 0, "jmp through gs:");
    __asm__ volatile("movups %%gs:0,%%xmm0; movups %%xmm0,%%gs:128; cmpxchg %1,%%gs:8; cmp %%gs:0,%1" ::"a"(1001ul), "r"(42ul) : "xmm0", "memory", "cc");
    CHECK(block[16] == 1000 && block[17] == 1001 && block[1] == 42, "vectors, cmpxchg");
    block[1] = 1001;
    void *from = NULL, *to = block + 32;
    long count = 4;
    __asm__ volatile("rep movsq %%gs:(%%rsi),%%es:(%%rdi)" : "+S"(from), "+D"(to), "+c"(count)::"memory");
    CHECK(block[32] == 1000 && block[35] == 1003 && from == (void *)32, "rep movs from gs:");
    unsigned char *table = (unsigned char *)block;
    __asm__ volatile("xor %%ebx,%%ebx; mov $8,%%eax; xlatb %%gs:(%%rbx)" : "=a"(value)::"rbx", "cc");
    CHECK((unsigned char)value == table[8], "xlat gs:");
    __asm__ volatile("lea %%gs:64,%0" : "=r"(value));
    CHECK_EQUAL(value, 64, "lea ignores the segment");
    handle(SIGUSR1, note, 0);
    raise(SIGUSR1);
    CHECK(in_handler == 1001 && gs_word() == 1001, "in a handler and after it");
    pthread_t id;
    void *answer;
    pthread_create(&id, NULL, thread, NULL);
    for (int i = 0; i < 2000; i++)
        if (gs_word() != 1001)
            CHECK(0, "main's gs stays");
    pthread_join(id, &answer);
    CHECK(answer == NULL && gs_word() == 1001, "a thread has its own");
    pid_t child = fork();
    if (child == 0)
        _exit(gs_word() == 1001 ? 5 : 6);
    int status;
    waitpid(child, &status, 0);
    CHECK(WEXITSTATUS(status) == 5, "in a forked child");
    if (!(getauxval(AT_HWCAP2) & 2))
        skip("the kernel has the fsgsbase instructions off");
    _writegsbase_u64((uintptr_t)other);
    CHECK(_readgsbase_u64() == (uintptr_t)other && gs_word() == 2222, "wrgsbase and rdgsbase");
    syscall(SYS_arch_prctl, ARCH_GET_GS, &base);
    CHECK(base == (uintptr_t)other, "ARCH_GET_GS agrees");
    _writegsbase_u32(0);
    CHECK(_readgsbase_u32() == 0, "32-bit forms");
    uint64_t fs = _readfsbase_u64(), through = 0;
    syscall(SYS_arch_prctl, ARCH_GET_FS, &base);
    CHECK(base == fs, "rdfsbase is ARCH_GET_FS");
    __asm__ volatile("mov %%fs:0,%0" : "=r"(through));
    CHECK(through == fs, "fs:0 is its own address");
    __asm__ volatile("wrfsbase %2; mov %%fs:8,%0; syscall; mov %%fs:16,%%rax; add %%rax,%0; wrfsbase %1" : "=&b"(value) : "r"(fs), "r"(block), "a"(SYS_getppid) : "rcx", "r11", "memory", "cc");
    CHECK_EQUAL(value, 1001 + 1002, "wrfsbase there and back, with a system call between");
    CHECK(errno != 12345678 && _readfsbase_u64() == fs, "libc's thread pointer is back");
    return finish();
}
