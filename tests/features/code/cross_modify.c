// build: gcc -O2 -pthread
/* A thread that runs a loop of code whose 4-byte immediate another thread changes with aligned stores: it sees old or new
   values only, and the last one within a second once it makes a system call. */
#include "emit.h"
#include <pthread.h>
static unsigned char *code;
static volatile int stop, last_seen, strange;
static void *runner(void *data) {
    while (!stop) {
        int got = run(code);
        if (got < 0 || got > 2000)
            strange++;
        last_seen = got;
        sched_yield();
    }
    return data;
}
int main(void) {
    unsigned char *area = pages(4096, RWX);
    code = area + 63; /* immediate at an aligned 64 */
    emit_return(code, 7);
    pthread_t thread;
    pthread_create(&thread, NULL, runner, NULL);
    while (last_seen != 7)
        sched_yield();
    for (int i = 1; i <= 2000; i++) {
        *(volatile int *)(code + 1) = i;
        for (volatile int spin = 0; spin < 200; spin++)
            ;
        if (i % 50 == 0)
            sched_yield();
    }
    double begin = seconds();
    while (last_seen != 2000 && seconds() - begin < 10)
        sched_yield();
    int seen = last_seen;
    stop = 1;
    pthread_join(thread, NULL);
    CHECK(seen == 2000 && !strange, "the last value is seen: %d, strange ones %d", seen, strange);
    return finish();
}
