// heavy: yes
// build: gcc -O2 -pthread
/* A small compiler as JITs are: 100 functions that call each other, whose call targets and bodies are patched between
   runs; and two threads, one of which generates code that the other runs (published by an atomic pointer). */
#include "emit.h"
#include <pthread.h>
#include <sched.h>
enum { FUNCTIONS = 100, SIZE = 32 };
static unsigned char *area;
/* each: sub rsp,8; call target; add eax,imm; add rsp,8; ret   (the last one returns a constant) */
static void emit_link(int k, int target, int add) {
    unsigned char *at = area + k * SIZE;
    memcpy(at, "\x48\x83\xec\x08", 4);
    emit_call(at + 4, area + target * SIZE);
    at[9] = 0x05;
    memcpy(at + 10, &add, 4);
    memcpy(at + 14, "\x48\x83\xc4\x08\xc3", 5);
}
static unsigned char *volatile published;
static volatile int expected, stop;
static long ran, wrong;
static void *runner(void *data) {
    unsigned char *last = NULL;
    while (!stop) {
        unsigned char *now = __atomic_load_n(&published, __ATOMIC_ACQUIRE);
        if (!now || now == last) {
            sched_yield();
            continue;
        }
        int want;
        memcpy(&want, now + 64, 4);
        if (run(now) != want)
            wrong++;
        ran++;
        last = now;
        __atomic_store_n(&published, NULL, __ATOMIC_RELEASE);
    }
    return data;
}
int main(void) {
    area = pages(FUNCTIONS * SIZE + 4096, RWX);
    emit_return(area, 1000);
    int add[FUNCTIONS], target[FUNCTIONS], bad = 0;
    for (int k = 1; k < FUNCTIONS; k++) {
        target[k] = k - 1;
        add[k] = k;
        emit_link(k, k - 1, k);
    }
    uint32_t seed = 1;
    for (int round = 0; round < 2000; round++) {
        int wanted = 0, at = FUNCTIONS - 1;
        while (at > 0) {
            wanted += add[at];
            at = target[at];
        }
        bad += run(area + (FUNCTIONS - 1) * SIZE) != wanted + 1000;
        seed = seed * 1664525 + 1013904223;
        int k = 1 + (int)(seed >> 8) % (FUNCTIONS - 1);
        if (round & 1) {
            target[k] = (int)((seed >> 16) % (unsigned)k);
            emit_call(area + k * SIZE + 4, area + target[k] * SIZE);
        } else {
            add[k] = (int)seed >> 12;
            memcpy(area + k * SIZE + 10, &add[k], 4);
        }
    }
    CHECK(!bad, "2000 patches of call targets and constants");
    unsigned char *ring = pages(64 * 4096, RWX);
    pthread_t thread;
    pthread_create(&thread, NULL, runner, NULL);
    for (int i = 0; i < 5000; i++) {
        unsigned char *at = ring + i % 64 * 4096 + i / 64 * 128 % 2048;
        emit_return(at, i * 3);
        int want = i * 3;
        memcpy(at + 64, &want, 4);
        __atomic_store_n(&published, at, __ATOMIC_RELEASE);
        while (__atomic_load_n(&published, __ATOMIC_ACQUIRE))
            sched_yield();
    }
    stop = 1;
    pthread_join(thread, NULL);
    CHECK(ran == 5000 && !wrong, "one thread generates, the other runs: %ld, wrong %ld", ran, wrong);
    return finish();
}
