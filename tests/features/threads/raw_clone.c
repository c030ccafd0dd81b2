// build: gcc -O1
/* Threads without libc's help: clone with CLONE_VM|CLONE_THREAD|CLONE_SETTLS|CLONE_CHILD_CLEARTID by inline assembly,
   clone3, clone(CLONE_VM) as another process, CLONE_FILES sharing, return value on both sides, set_tid_address. */
#include "check.h"
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sched.h>
static char stacks[4][65536] __attribute__((aligned(64)));
static volatile int ran, tid_in_child, parent_tid, child_tid = -1, tls_good, sum;
static uint64_t tls_block[64] __attribute__((aligned(64)));
/* A thread that must not touch libc's thread-local data: only system calls by hand. */
static long raw(long number, long a, long b, long c) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}
__attribute__((used)) static void thread_body(long argument) {
    uint64_t value;
    __asm__ volatile("mov %%fs:16,%0" : "=r"(value));
    tls_good = value == 0x5eed;
    tid_in_child = (int)raw(SYS_gettid, 0, 0, 0);
    for (int i = 0; i < 100000; i++)
        sum += (int)argument;
    ran = 1;
    raw(SYS_exit, 0, 0, 0);
}
static long start(unsigned long flags, char *stack) {
    long result;
    register long parent __asm__("rdx") = (long)&parent_tid;
    register long child __asm__("r10") = (long)&child_tid;
    register long tls __asm__("r8") = (long)tls_block;
    __asm__ volatile("syscall; test %%rax,%%rax; jnz 1f; xor %%ebp,%%ebp; mov $3,%%edi; call thread_body; hlt; 1:"
                     : "=a"(result) : "a"(SYS_clone), "D"(flags), "S"(stack), "r"(parent), "r"(child), "r"(tls) : "rcx", "r11", "memory");
    return result;
}
static int process_body(void *data) {
    *(volatile int *)data = 5;
    return 21;
}
int main(void) {
    tls_block[2] = 0x5eed;
    unsigned long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID;
    for (int i = 0; i < 20; i++) {
        ran = tls_good = sum = tid_in_child = 0;
        child_tid = -1;
        long tid = start(flags, stacks[0] + sizeof stacks[0] - 64);
        while (child_tid != 0) {
            int now = child_tid;
            if (now)
                syscall(SYS_futex, &child_tid, FUTEX_WAIT, now, NULL, NULL, 0);
        }
        if (!(tid > 0 && ran && tls_good && sum == 300000 && tid_in_child == tid && parent_tid == tid))
            CHECK(0, "raw clone %d: ran %d tls %d sum %d", i, ran, tls_good, sum);
    }
    CHECK(ran, "20 raw threads with their own %%fs, tid stored and cleared");
    ran = tls_good = sum = 0;
    child_tid = -1;
    struct clone_args arguments = {.flags = flags, .child_tid = (uintptr_t)&child_tid, .parent_tid = (uintptr_t)&parent_tid,
        .stack = (uintptr_t)stacks[1], .stack_size = sizeof stacks[1] - 64, .tls = (uintptr_t)tls_block};
    long result;
    __asm__ volatile("syscall; test %%rax,%%rax; jnz 1f; xor %%ebp,%%ebp; mov $4,%%edi; call thread_body; hlt; 1:"
                     : "=a"(result) : "a"(SYS_clone3), "D"(&arguments), "S"(sizeof arguments) : "rcx", "r11", "rdx", "r8", "r9", "r10", "memory");
    if (result == -ENOSYS) {
        say("ok clone3 is absent");
    } else {
        while (child_tid != 0) {
            int now = child_tid;
            if (now)
                syscall(SYS_futex, &child_tid, FUTEX_WAIT, now, NULL, NULL, 0);
        }
        CHECK(result > 0 && ran && tls_good && sum == 400000, "clone3");
    }
    int value = 0, status = 0;
    pid_t pid = clone(process_body, stacks[2] + sizeof stacks[2], CLONE_VM | SIGCHLD, &value);
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 21 && value == 5, "a process that shares memory");
    value = 0;
    pid = clone(process_body, stacks[2] + sizeof stacks[2], SIGCHLD, &value);
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 21 && value == 0, "a process with a copy, on another stack");
    value = 0;
    pid = clone(process_body, stacks[2] + sizeof stacks[2], CLONE_VM | CLONE_VFORK | SIGCHLD, &value);
    CHECK(pid > 0 && value == 5 && waitpid(pid, &status, 0) == pid, "CLONE_VFORK waits");
    CHECK(syscall(SYS_set_tid_address, &value) == gettid() && gettid() == getpid(), "set_tid_address returns the tid");
    return finish();
}
