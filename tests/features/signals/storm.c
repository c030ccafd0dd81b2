// heavy: yes
// build: gcc -O2 -pthread
/* Threads that send each other 4 x 2000 real-time signals by pthread_kill while they compute; none is lost, and the
   computations are exact. */
#include "check.h"
#include <pthread.h>
enum { THREADS = 4, EACH = 2000 };
static pthread_t threads[THREADS];
static _Thread_local volatile long received;
static long total, results[THREADS];
static pthread_barrier_t barrier;
static pthread_mutex_t started = PTHREAD_MUTEX_INITIALIZER;
static void note(int n, siginfo_t *i, void *c) {
    (void)n, (void)i, (void)c;
    received++;
    __atomic_add_fetch(&total, 1, __ATOMIC_SEQ_CST);
}
__attribute__((noinline)) static long compute(long rounds) {
    double x = 0.5;
    unsigned long h = 1;
    for (long i = 0; i < rounds; i++) {
        x = x * 3.7 * (1 - x);
        h = h * 6364136223846793005ul + 1442695040888963407ul;
    }
    return (long)(x * 1e15) ^ (long)h;
}
static void *worker(void *data) {
    long me = (long)data;
    pthread_mutex_lock(&started); /* until all of threads[] is written */
    pthread_mutex_unlock(&started);
    pthread_barrier_wait(&barrier);
    long result = 0;
    for (int i = 0; i < EACH; i++) {
        while (pthread_kill(threads[(me + 1) % THREADS], SIGRTMIN + (int)me) == EAGAIN)
            sched_yield();
        result += compute(200);
    }
    results[me] = result;
    pthread_barrier_wait(&barrier);
    while (received < EACH)
        usleep(100);
    return (void *)received;
}
int main(void) {
    for (int i = 0; i < THREADS; i++)
        handle(SIGRTMIN + i, note, SA_RESTART);
    long wanted = compute(200) * EACH;
    pthread_barrier_init(&barrier, NULL, THREADS);
    pthread_mutex_lock(&started);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    pthread_mutex_unlock(&started);
    int bad = 0;
    for (int i = 0; i < THREADS; i++) {
        void *got;
        pthread_join(threads[i], &got);
        bad += (long)got != EACH || results[i] != wanted;
    }
    CHECK(!bad, "every thread got its %d signals and computed exactly", EACH);
    CHECK_EQUAL(total, THREADS * EACH, "all handlers");
    return finish();
}
