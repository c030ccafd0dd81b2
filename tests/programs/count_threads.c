/**
 * @fileoverview Threads with known work: thread N of WORKERS runs a loop of two instructions (N + 1) * 100,000 times,
 * and one more thread loads a library, calls it and unloads it when its path is given.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { WORKERS = 3, UNIT = 100000 };

static void *work(void *argument) {
    uint64_t rounds = ((uintptr_t)argument + 1) * UNIT;
    __asm__ volatile("1: dec %0; jnz 1b" : "+r"(rounds) : : "cc");
    return NULL;
}

static int call_library(const char *path) {
    void *library = dlopen(path, RTLD_NOW);
    int (*function)(int) = library == NULL ? NULL : (int (*)(int))dlsym(library, "library_work");
    if (function == NULL) {
        fprintf(stderr, "count_threads: %s\n", dlerror());
        return 1;
    }
    int result = function(50000);
    return dlclose(library) == 0 && result != 0 ? 0 : 1;
}

int main(int argument_count, char **arguments) {
    pthread_t threads[WORKERS];
    for (uintptr_t i = 0; i < WORKERS; i++) {
        if (pthread_create(&threads[i], NULL, work, (void *)i) != 0) {
            return 1;
        }
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
    }
    return argument_count > 1 ? call_library(arguments[1]) : 0;
}
