// build: gcc -O1 -pthread
// library: tls_library.c
// link: -ldl
/* dlopen and dlclose in loops, thread-local data of a loaded library (dynamic model) in old and new threads, constructors
   and destructors, RTLD_NEXT-free symbol look-up, the same library at the same address with another content. */
#include "check.h"
#include <dlfcn.h>
#include <pthread.h>
static void *library;
static long (*bump)(long);
static pthread_barrier_t barrier;
static void *worker(void *data) {
    pthread_barrier_wait(&barrier); /* opened by main in between */
    pthread_barrier_wait(&barrier);
    long result = 0;
    for (int i = 0; i < 1000; i++)
        result = bump((long)data);
    return (void *)result;
}
int main(int argc, char **argv) {
    (void)argc;
    char path[4096];
    snprintf(path, sizeof path, "%s.library.so", argv[0]);
    pthread_t threads[3];
    pthread_barrier_init(&barrier, NULL, 4);
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, worker, (void *)(i + 1));
    pthread_barrier_wait(&barrier);
    library = dlopen(path, RTLD_NOW);
    CHECK(library != NULL, "dlopen");
    if (!library)
        say("%s", dlerror());
    bump = (long (*)(long))dlsym(library, "bump");
    CHECK_EQUAL(bump(5), 1005, "thread-local data of a loaded library");
    pthread_barrier_wait(&barrier);
    for (long i = 0; i < 3; i++) {
        void *result;
        pthread_join(threads[i], &result);
        CHECK((long)result == 1000 + 1000 * (i + 1), "in thread %ld: %ld", i, (long)result);
    }
    CHECK_EQUAL(bump(5), 1010, "the main thread's copy");
    dlclose(library);
    int bad = 0;
    for (int i = 0; i < 100; i++) {
        library = dlopen(path, i & 1 ? RTLD_LAZY : RTLD_NOW);
        bump = library ? (long (*)(long))dlsym(library, "bump") : NULL;
        bad += !bump || bump(i) != 1000 + i;
        bad += dlclose(library) != 0;
    }
    CHECK(!bad, "100 times opened, used and closed");
    CHECK(dlopen("/nonexistent.so", RTLD_NOW) == NULL && dlerror() != NULL, "missing library");
    return finish();
}
