// build: gcc -O1
/* What a system call leaves in registers: rcx is the next instruction's address, r11 the flags, all others as they were;
   also after one that fails, after getpid, and with odd numbers. Flags and xmm registers survive. */
#include "check.h"
static uint64_t out[16], after, flags_before;
static long number;
int main(void) {
    static const struct { long number; const char *name; long wanted; } calls[] = {
        {SYS_getpid, "getpid", 0}, {SYS_close, "close(-1)", -EBADF}, {9999, "number 9999", -ENOSYS}, {-1, "number -1", -ENOSYS}, {SYS_brk, "brk", 1},
        {SYS_munmap, "munmap(-1)", -EINVAL}, {SYS_rt_sigprocmask, "rt_sigprocmask", -EINVAL}, {SYS_futex, "futex", 1}};
    for (unsigned k = 0; k < sizeof calls / sizeof *calls; k++) {
        long result;
        number = calls[k].number;
        /* carry set, direction clear, sign set: sahf */
        __asm__ volatile("mov %[number],%%rax; push %%rax; movb $0x95,%%ah; sahf; pop %%rax; mov $-1,%%rdi; mov $0x1002,%%esi; mov $0x1003,%%edx; mov $0x1010,%%r10d; mov $0x1008,%%r8d; mov $0x1009,%%r9d; mov $0x1012,%%r12d; mov $0x1013,%%r13d; mov $0x1014,%%r14d; mov $0x1015,%%r15d; pushfq; popq %[flags]; mov %%rsp,%%rbx;"
                         "syscall; 1: mov %%rcx,8+%[out]; lea 1b(%%rip),%%rcx; mov %%rcx,%[after]; pushfq; popq 16+%[out]; mov %%r11,24+%[out]; mov %%rdi,32+%[out]; mov %%rsi,40+%[out]; mov %%rdx,48+%[out]; mov %%r10,56+%[out]; mov %%r8,64+%[out]; mov %%r9,72+%[out]; mov %%r12,80+%[out]; mov %%r13,88+%[out]; mov %%r14,96+%[out]; mov %%r15,104+%[out]; sub %%rsp,%%rbx; mov %%rbx,112+%[out]"
                         : "=&a"(result), [out] "=m"(out), [after] "=m"(after), [flags] "=m"(flags_before)
                         : [number] "m"(number) : "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc");
        CHECK(out[1] == after, "%s: rcx is the next address", calls[k].name);
        CHECK(out[3] == flags_before && out[2] == flags_before, "%s: r11 and the flags are %llx", calls[k].name, (unsigned long long)out[3]);
        CHECK(out[4] == UINT64_MAX && out[5] == 0x1002 && out[6] == 0x1003 && out[7] == 0x1010 && out[8] == 0x1008 && out[9] == 0x1009 && out[10] == 0x1012 && out[11] == 0x1013 && out[12] == 0x1014 && out[13] == 0x1015 && out[14] == 0,
              "%s: all others unchanged", calls[k].name);
        if (calls[k].wanted <= 0)
            CHECK(calls[k].wanted ? result == calls[k].wanted : result == getpid(), "%s: result", calls[k].name);
    }
    return finish();
}
