/**
 * @fileoverview Allocations of several threads, some of whose blocks others free, and of a forked child, for
 * tests/test_heap_service.py: `heap_threads THREADS ROUNDS [fork|late]`: late: not before the
 * forking thread has done its part. Prints how many bytes its functions step_... allocate and free.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone, noipa))
enum { SLOTS = 64 };

static void *_Atomic slots[SLOTS]; /* blocks on their way from one thread to another */
static long rounds;
static _Atomic unsigned long allocated;

APART static void *step_make(unsigned *random, unsigned long *bytes) {
    *random = *random * 1103515245 + 12345;
    size_t size = 1 + (*random >> 16) % 600;
    char *block = *random >> 30 ? malloc(size) : calloc(1, size);
    block[0] = 1;
    *bytes += size;
    return block;
}

APART static void step_drop(void *block) { free(block); }

static void *work(void *number) {
    unsigned random = (unsigned)(size_t)number;
    unsigned long bytes = 0;
    for (long i = 0; i < rounds; i++) {
        void *block = step_make(&random, &bytes);
        step_drop(__atomic_exchange_n(&slots[(random >> 8) % SLOTS], block, __ATOMIC_ACQ_REL));
    }
    allocated += bytes;
    return NULL;
}

int main(int count, char **arguments) {
    int threads = count > 2 ? atoi(arguments[1]) : 1;
    rounds = count > 2 ? atol(arguments[2]) : 1000;
    pthread_t made[16];
    for (int i = 0; i < threads; i++) pthread_create(&made[i], NULL, work, (void *)(size_t)(i + 1));
    if (count > 3) {
        if (!strcmp(arguments[3], "late")) work((void *)88);
        pid_t child = fork();
        if (child == 0) {
            allocated = 0; /* what the others do is not known here */
            work((void *)77);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    for (int i = 0; i < threads; i++) pthread_join(made[i], NULL);
    for (int i = 0; i < SLOTS; i++) step_drop(slots[i]);
    printf("allocated %lu freed %lu\n", allocated, allocated);
    return 0;
}
