// build: gcc -O1 -pthread
// variants: dynamic, static
/* Cancellation: deferred at a blocking read, asynchronous in a computing loop, disabled, cleanup handlers in order. */
#include "check.h"
#include <pthread.h>
static char trace[32];
static int ends[2];
static volatile int ready;
static void note(void *c) { trace[strlen(trace)] = *(char *)c; }
static void *blocked(void *data) {
    char c;
    pthread_cleanup_push(note, "a");
    pthread_cleanup_push(note, "b");
    ready = 1;
    if (read(ends[0], &c, 1) >= 0)
        data = NULL;
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return data;
}
static void *computing(void *data) {
    int old;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    pthread_cleanup_push(note, "c");
    ready = 1;
    for (;;)
        ;
    pthread_cleanup_pop(0);
    return data;
}
static void *disabled(void *data) {
    int old;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    ready = 1;
    sleep_milliseconds(60);
    pthread_testcancel();
    trace[strlen(trace)] = 'd';
    pthread_cleanup_push(note, "e");
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
    pthread_testcancel();
    pthread_cleanup_pop(0);
    return data;
}
static void run(void *(*body)(void *), const char *wanted, const char *name) {
    int bad = 0;
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        void *result;
        memset(trace, 0, sizeof trace);
        ready = 0;
        pthread_create(&thread, NULL, body, NULL);
        while (!ready)
            sched_yield();
        if (i & 1)
            usleep(500);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        bad += result != PTHREAD_CANCELED || strcmp(trace, wanted);
        if (body == disabled && i == 2)
            break;
    }
    CHECK(!bad, "%s: cancelled, cleanup %s", name, trace);
}
int main(void) {
    if (pipe(ends))
        return 2;
    run(blocked, "ba", "blocked in read");
    run(computing, "c", "asynchronous");
    run(disabled, "de", "disabled");
    return finish();
}
