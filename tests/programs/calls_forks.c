/** @fileoverview Calls a function before a fork, in the child, and in the parent behind it. */
#include <sys/wait.h>
#include <unistd.h>

static volatile long data;

__attribute__((noinline)) void leaf(void) { data; }

__attribute__((noinline)) void times(int n) {
    for (int i = 0; i < n; i++) leaf();
}

int main(void) {
    times(10);
    if (fork() == 0) {
        times(20);
        _exit(0);
    }
    wait(0);
    times(30);
    return 0;
}
