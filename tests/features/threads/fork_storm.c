// build: gcc -O1 -pthread
// Threads that fork, make threads, change memory and run at the same time: none waits for another for ever.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int stop;
static _Atomic int failures;

static void *change_memory(void *unused) {
    while (!stop) {
        char *start = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        start[0] = 1;
        start = mremap(start, 65536, 131072, MREMAP_MAYMOVE);
        munmap(start, 131072);
    }
    return unused;
}

static void *fork_often(void *unused) {
    for (int i = 0; i < 30; i++) {
        pid_t child = fork();
        if (!child) {
            char *start = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            start[0] = 1;
            _exit(munmap(start, 4096));
        }
        int status = -1;
        failures += waitpid(child, &status, 0) != child || status != 0;
    }
    return unused;
}

static void *nothing(void *unused) { return unused; }

static void *create_often(void *unused) {
    for (int i = 0; i < 100; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, nothing, NULL)) failures++;
        else pthread_join(thread, NULL);
    }
    return unused;
}

int main(void) {
    void *(*const work[])(void *) = {change_memory, fork_often, fork_often, create_often};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work[i], NULL);
    for (int i = 1; i < 4; i++) pthread_join(threads[i], NULL);
    stop = 1;
    pthread_join(threads[0], NULL);
    printf("%d failures\n", failures);
    return failures != 0;
}
