// heavy: yes
// build: gcc -O2 -pthread
/* Mutexes, condition variables, read-write locks, spin locks, robust mutex with a dying owner, and lock-prefixed
   instructions of all kinds from two threads at once (no update lost). */
#include "check.h"
#include <pthread.h>
enum { ROUNDS = 200000 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, robust;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static long shared, queue, produced, consumed, spun;
static struct { long add, inc, xadd, exchange; unsigned __int128 pair; long bits; } atomics __attribute__((aligned(16)));
static void *atomic_worker(void *data) {
    long me = (long)data;
    for (long i = 0; i < ROUNDS; i++) {
        long one = 1;
        __asm__ volatile("lock addq $1,%0; lock incq %1; lock xaddq %2,%3" : "+m"(atomics.add), "+m"(atomics.inc), "+r"(one), "+m"(atomics.xadd));
        long seen = __atomic_load_n(&atomics.exchange, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(&atomics.exchange, &seen, seen + 3, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
            ;
        uint64_t low = 0, high = 0;
        __asm__ volatile("mov (%2),%%rax; mov 8(%2),%%rdx; 1: mov %%rax,%%rbx; mov %%rdx,%%rcx; add $1,%%rbx; adc $0,%%rcx; add $2,%%rcx; lock cmpxchg16b (%2); jnz 1b"
                         : "+a"(low), "+d"(high) : "r"(&atomics.pair) : "rbx", "rcx", "memory", "cc");
        __asm__ volatile("lock btcq %1,%0" : "+m"(atomics.bits) : "r"(me * 20 + i % 20) : "cc", "memory");
        pthread_spin_lock(&spin);
        spun++;
        pthread_spin_unlock(&spin);
    }
    return NULL;
}
static void *mutex_worker(void *data) {
    (void)data;
    for (int i = 0; i < 20000; i++) {
        pthread_mutex_lock(&mutex);
        shared++;
        pthread_mutex_unlock(&mutex);
        pthread_rwlock_rdlock(&lock);
        long a = consumed;
        pthread_rwlock_unlock(&lock);
        if (a < 0)
            shared = -1000;
    }
    return NULL;
}
static void *producer(void *data) {
    (void)data;
    for (int i = 0; i < 5000; i++) {
        pthread_mutex_lock(&mutex);
        while (queue >= 3)
            pthread_cond_wait(&condition, &mutex);
        queue++;
        produced++;
        pthread_cond_broadcast(&condition);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}
static void *consumer(void *data) {
    (void)data;
    for (int i = 0; i < 5000; i++) {
        pthread_mutex_lock(&mutex);
        while (queue == 0)
            pthread_cond_wait(&condition, &mutex);
        queue--;
        consumed++;
        pthread_cond_broadcast(&condition);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}
static void *dies_holding(void *data) { pthread_mutex_lock(&robust); return data; }
static void both(void *(*a)(void *), void *(*b)(void *)) {
    pthread_t first, second;
    pthread_create(&first, NULL, a, (void *)0);
    pthread_create(&second, NULL, b, (void *)1);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
}
int main(void) {
    pthread_spin_init(&spin, 0);
    both(atomic_worker, atomic_worker);
    CHECK(atomics.add == 2 * ROUNDS && atomics.inc == 2 * ROUNDS && atomics.xadd == 2 * ROUNDS, "lock add, inc, xadd");
    CHECK_EQUAL(atomics.exchange, 6 * ROUNDS, "lock cmpxchg");
    CHECK(atomics.pair == (((unsigned __int128)(4 * ROUNDS) << 64) | (2 * ROUNDS)), "lock cmpxchg16b");
    CHECK_EQUAL(atomics.bits, 0, "lock btc");
    CHECK_EQUAL(spun, 2 * ROUNDS, "spin lock");
    both(mutex_worker, mutex_worker);
    CHECK_EQUAL(shared, 40000, "mutex");
    both(producer, consumer);
    CHECK(produced == 5000 && consumed == 5000 && queue == 0, "condition variables");
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &attributes);
    pthread_t thread;
    pthread_create(&thread, NULL, dies_holding, NULL);
    pthread_join(thread, NULL);
    CHECK_EQUAL(pthread_mutex_lock(&robust), EOWNERDEAD, "robust mutex of a dead owner");
    pthread_mutex_consistent(&robust);
    CHECK_EQUAL(pthread_mutex_unlock(&robust), 0, "made consistent");
    pthread_mutex_lock(&mutex);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 20000000;
    if (until.tv_nsec >= 1000000000)
        until.tv_sec++, until.tv_nsec -= 1000000000;
    CHECK_EQUAL(pthread_cond_timedwait(&condition, &mutex, &until), ETIMEDOUT, "condition times out");
    return finish();
}
