/**
 * @fileoverview Blocks that are made where stacks are not ordinary, for tests/test_heap_unwind.py: each has a size of its own, and
 * the test knows the calls that lead there.
 */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <new>

#define APART __attribute__((noinline, noclone, noipa))

static void *volatile kept;

extern "C" {

/** No tail call. */
APART void make(size_t size) {
    kept = malloc(size);
    *(volatile char *)kept = 1;
}

APART void recurse(int depth) {
    if (depth > 0) recurse(depth - 1);
    else make(1001);
    kept = NULL;
}

/** The size of the frame varies, and it is aligned more than the stack is. */
APART void varying(size_t room) {
    char *place = (char *)alloca(room);
    alignas(64) volatile char aligned[64];
    aligned[0] = place[0] = 1;
    make(1002);
    aligned[1] = place[1] = 1;
}

APART void handler(int number) {
    make((size_t)(1000 + number - SIGUSR1 + 3));
    kept = NULL;
}

APART void interrupted(int number) {
    raise(number);
    kept = NULL;
}

APART void on_other_stack(void) {
    static char memory[1 << 16];
    stack_t stack = {};
    stack.ss_sp = memory;
    stack.ss_size = sizeof memory;
    struct sigaction action = {};
    action.sa_handler = handler;
    sigaction(SIGUSR1, &action, NULL);
    interrupted(SIGUSR1); /* 1003 */
    sigaltstack(&stack, NULL);
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR2, &action, NULL);
    interrupted(SIGUSR2); /* 1005 */
}

static ucontext_t outside, inside;

APART void coroutine(void) {
    make(1006);
    swapcontext(&inside, &outside);
    make(1007);
    swapcontext(&inside, &outside);
}

APART void resume(void) {
    swapcontext(&outside, &inside);
    kept = NULL;
}

APART void coroutines(void) {
    static char memory[1 << 16];
    getcontext(&inside);
    inside.uc_stack.ss_sp = memory;
    inside.uc_stack.ss_size = sizeof memory;
    inside.uc_link = &outside;
    makecontext(&inside, coroutine, 0);
    resume();
    make(1008);
    resume();
}

APART void *in_thread(void *argument) {
    make(1009);
    return argument;
}

APART void threads(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, in_thread, NULL) || pthread_join(thread, NULL)) abort();
}

/** Code without any information, which keeps a frame pointer, and calls make(1010). */
APART void generated(void) {
    static const unsigned char code[] = {0x55,                         /* push %rbp */
                                         0x48, 0x89, 0xe5,             /* mov %rsp,%rbp */
                                         0xbf, 0xf2, 0x03, 0x00, 0x00, /* mov $1010,%edi */
                                         0xff, 0xd0,                   /* call *%rax */
                                         0x5d, 0xc3};                  /* pop %rbp; ret */
    void *place = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(place, code, sizeof code);
    asm volatile("call *%1" : : "a"(make), "r"(place) : "memory", "cc", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11");
    kept = NULL;
}

/** Operator new is left by an exception, and what comes afterwards has nothing to do with it. */
APART void after_failure(void) {
    for (int round = 0; round < 3; round++) {
        try {
            kept = operator new((size_t)1 << 62);
        } catch (const std::bad_alloc &) {
            make(1011);
        }
    }
    make(1012);
    kept = NULL;
}

/** Which goes on in operator new by a jump. */
APART void array(void) {
    kept = operator new[](1013);
    *(volatile char *)kept = 1;
    operator delete[](kept);
}

} /* extern "C" */

int main(int count, char **) {
    recurse(30);
    varying((size_t)count * 100);
    on_other_stack();
    coroutines();
    threads();
    generated();
    after_failure();
    array();
    return 0;
}
