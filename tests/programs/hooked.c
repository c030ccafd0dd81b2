/**
 * @fileoverview Functions that tests/test_hooks.py hooks: called plainly, by pointers, in tail calls, recursively, left by
 * longjmp, in threads, in a library that comes and goes (argument: its path).
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline, noclone, noipa))

APART long plain(long x) { return 3 * x + 1; }
APART long other(long x) { return 7 * x; }
APART long tail_target(long x) { return x ^ 1; }
APART long tail(long x) { return tail_target(x + 5); }
APART long recursive(long x) {
    if (!x) return 0;
    long below = recursive(x - 1);
    __asm__("" : "+r"(below)); /* or the compiler makes a loop of it */
    return 1 + below;
}
APART static long hidden(long x) { return x - 2; }

static jmp_buf back;
APART long leaves(long x) {
    if (x) longjmp(back, (int)x);
    return 0;
}

static void *many(void *unused) {
    (void)unused;
    long sum = 0;
    for (long i = 0; i < 20000; i++) sum += plain(i);
    return (void *)sum;
}

static void use_library(const char *path) {
    for (int round = 0; round < 3; round++) {
        void *library = dlopen(path, RTLD_NOW);
        if (!library) exit(3);
        long (*in_library)(long) = (long (*)(long))dlsym(library, "in_library");
        printf("library %ld\n", in_library(round));
        dlclose(library);
    }
}

int main(int count, char **arguments) {
    long (*volatile pointer)(long) = plain;
    printf("other %ld\n", other(1));
    printf("plain %ld pointer %ld\n", plain(10), pointer(20));
    printf("tail %ld\n", tail(8));
    printf("recursive %ld\n", recursive(5));
    printf("hidden %ld\n", hidden(44));
    int left = setjmp(back);
    if (!left) leaves(9);
    printf("left %d, %ld\n", left, leaves(0));
    if (count > 1 && !strcmp(arguments[1], "threads")) {
        pthread_t threads[4];
        void *sum;
        for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, many, NULL);
        for (int i = 0; i < 4; i++) {
            pthread_join(threads[i], &sum);
            printf("sum %ld\n", (long)sum);
        }
    } else if (count > 1) {
        use_library(arguments[1]);
    }
    return 0;
}
