// heavy: yes
// build: gcc -O1 -pthread
/* timer_create with SIGEV_SIGNAL, SIGEV_THREAD_ID, SIGEV_THREAD and SIGEV_NONE; overruns; timerfd; clocks. */
#include "check.h"
#include <pthread.h>
#include <sys/timerfd.h>
static volatile int calls, thread_calls, right_thread = 1, wanted_thread, overrun;
static void note(int n, siginfo_t *i, void *c) {
    (void)n, (void)c;
    right_thread &= gettid() == wanted_thread;
    overrun = i->si_overrun;
    calls++;
}
static void in_thread(union sigval value) { __atomic_add_fetch(&thread_calls, value.sival_int, __ATOMIC_SEQ_CST); }
static void *worker(void *data) {
    (void)data;
    wanted_thread = gettid();
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN, ._sigev_un._tid = gettid()};
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "SIGEV_THREAD_ID");
    timer_settime(timer, 0, &(struct itimerspec){{0, 2000000}, {0, 2000000}}, NULL);
    for (volatile long i = 0; calls < 20; i++)
        ;
    timer_delete(timer);
    return NULL;
}
int main(void) {
    handle(SIGRTMIN, note, SA_RESTART);
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
    CHECK(right_thread && calls >= 20, "only that thread got them");
    wanted_thread = gettid();
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
    timer_create(CLOCK_REALTIME, &event, &timer);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &set, NULL);
    calls = 0;
    timer_settime(timer, 0, &(struct itimerspec){{0, 1000000}, {0, 1000000}}, NULL);
    sleep_milliseconds(50);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    timer_settime(timer, 0, &(struct itimerspec){{0, 0}, {0, 0}}, NULL);
    CHECK(calls >= 1 && right_thread, "blocked ones merge");
    timer_delete(timer);
    event = (struct sigevent){.sigev_notify = SIGEV_THREAD, .sigev_notify_function = in_thread, .sigev_value.sival_int = 1};
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &(struct itimerspec){{0, 3000000}, {0, 3000000}}, NULL);
    for (int i = 0; i < 1000 && thread_calls < 5; i++)
        usleep(2000);
    timer_delete(timer);
    CHECK(thread_calls >= 5, "SIGEV_THREAD");
    event = (struct sigevent){.sigev_notify = SIGEV_NONE};
    timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer);
    timer_settime(timer, 0, &(struct itimerspec){{0, 0}, {1000, 0}}, NULL);
    struct itimerspec left;
    timer_gettime(timer, &left);
    CHECK(left.it_value.tv_sec >= 900 && left.it_value.tv_sec <= 1000, "SIGEV_NONE on processor time counts down");
    int file = timerfd_create(CLOCK_MONOTONIC, 0);
    timerfd_settime(file, 0, &(struct itimerspec){{0, 0}, {0, 5000000}}, NULL);
    uint64_t expirations = 0;
    CHECK(read(file, &expirations, 8) == 8 && expirations == 1, "timerfd");
    alarm(100);
    CHECK_EQUAL(alarm(0), 100, "alarm returns what was left");
    return finish();
}
