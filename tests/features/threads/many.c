// heavy: yes
// build: gcc -O2 -pthread
// variants: dynamic, static, musl, musl-static
/* 2000 short-lived threads, joined and detached, 100 at once; thread-local data, stacks, return values, once, keys. */
#include "check.h"
#include <pthread.h>
#include <semaphore.h>
static _Thread_local long mine = 7;
static long counter;
static sem_t done;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int once_calls, destroyed;
static void only_once(void) { once_calls++; }
static void destroy(void *p) { __atomic_add_fetch(&destroyed, p != NULL, __ATOMIC_SEQ_CST); }
static void *short_lived(void *data) {
    int fresh = mine == 7;
    mine = (long)data;
    pthread_once(&once, only_once);
    pthread_setspecific(key, &mine);
    __atomic_add_fetch(&counter, 1, __ATOMIC_SEQ_CST);
    return (void *)(fresh ? mine * 2 : -1);
}
static void *detached(void *data) {
    short_lived(data);
    sem_post(&done);
    return NULL;
}
static pthread_barrier_t barrier;
static void *together(void *data) {
    char room[10000];
    memset(room, (int)(long)data, sizeof room);
    pthread_barrier_wait(&barrier);
    return (void *)(long)(room[5000] == (char)(long)data);
}
int main(void) {
    sem_init(&done, 0, 0);
    pthread_key_create(&key, destroy);
    int bad = 0;
    for (long i = 0; i < 2000; i++) {
        pthread_t thread;
        void *result;
        if (pthread_create(&thread, NULL, short_lived, (void *)i) || pthread_join(thread, &result) || (long)result != i * 2)
            bad++;
    }
    CHECK(!bad && counter == 2000, "2000 threads one after the other");
    CHECK(once_calls == 1 && destroyed == 2000, "pthread_once and key destructors");
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    for (long i = 0; i < 500; i++) {
        pthread_t thread;
        bad += pthread_create(&thread, &attributes, detached, (void *)i) != 0;
        if (i % 10 == 9)
            for (int k = 0; k < 10; k++)
                sem_wait(&done);
    }
    CHECK(!bad && counter == 2500, "500 detached threads");
    pthread_t threads[100];
    pthread_barrier_init(&barrier, NULL, 100);
    for (long i = 0; i < 100; i++)
        bad += pthread_create(&threads[i], NULL, together, (void *)i) != 0;
    for (long i = 0; i < 100; i++) {
        void *result;
        pthread_join(threads[i], &result);
        bad += result != (void *)1;
    }
    CHECK(!bad, "100 threads at once meet at a barrier");
    CHECK_EQUAL(mine, 7, "the main thread's own copy");
    return finish();
}
