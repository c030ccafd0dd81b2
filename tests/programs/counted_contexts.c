/**
 * @fileoverview Makes the system call `getppid` in known calling contexts, with amounts that tell them apart: for
 * tests/tools/context_counts.c. With an argument: that many calls deep.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>

static inline __attribute__((always_inline)) long note(long amount) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_getppid), "D"(amount) : "rcx", "r11", "memory");
    return result;
}
__attribute__((noinline)) static void leaf(long amount) { note(amount); __asm__ volatile(""); }
__attribute__((noinline)) static void first(void) {
    leaf(1);
    leaf(10);
    __asm__ volatile("");
}
__attribute__((noinline)) static void second(void) {
    first();
    leaf(100);
    __asm__ volatile("");
}
__attribute__((noinline)) static void down(long n) {
    if (n > 0) down(n - 1);
    else leaf(1000);
    __asm__ volatile("");
}
__attribute__((noinline)) static void handler(int number) { (void)number; leaf(10000); }
static void *work(void *nothing) {
    second();
    return nothing;
}

int main(int words, char **text) {
    pthread_t thread;
    if (words > 1) {
        down(atol(text[1]));
        return 0;
    }
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    second();
    down(3);
    signal(SIGUSR1, handler);
    raise(SIGUSR1);
    return 0;
}
