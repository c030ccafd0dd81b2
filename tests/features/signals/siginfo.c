// build: gcc -O1 -pthread
/* What a handler is told: si_code, si_pid, si_uid, si_value, si_status for kill, tgkill, sigqueue, timers and SIGCHLD. */
#include "check.h"
static siginfo_t last;
static int number, calls;
static void note(int signal_number, siginfo_t *info, void *context) {
    (void)context;
    number = signal_number;
    last = *info;
    calls++;
}
int main(void) {
    handle(SIGUSR1, note, 0);
    handle(SIGRTMIN + 2, note, 0);
    handle(SIGCHLD, note, 0);
    kill(getpid(), SIGUSR1);
    CHECK(calls == 1 && number == SIGUSR1, "delivered before kill returns");
    CHECK(last.si_code == SI_USER && last.si_pid == getpid() && last.si_uid == getuid(), "kill: SI_USER, pid, uid");
    raise(SIGUSR1);
    CHECK(calls == 2 && last.si_code == SI_TKILL && last.si_pid == getpid(), "raise: SI_TKILL");
    sigqueue(getpid(), SIGRTMIN + 2, (union sigval){.sival_int = 12345});
    CHECK(calls == 3 && last.si_code == SI_QUEUE && last.si_value.sival_int == 12345, "sigqueue: SI_QUEUE with its value");
    siginfo_t own = {.si_code = -77, .si_signo = SIGUSR1};
    own.si_value.sival_ptr = (void *)0x123456789abc;
    syscall(SYS_rt_sigqueueinfo, getpid(), SIGUSR1, &own);
    CHECK(calls == 4 && last.si_code == -77 && last.si_value.sival_ptr == (void *)0x123456789abc, "rt_sigqueueinfo: own code");
    syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGUSR1, &own);
    CHECK(calls == 5 && last.si_code == -77, "rt_tgsigqueueinfo");
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 9};
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &(struct itimerspec){.it_value.tv_nsec = 1000000}, NULL);
    while (calls < 6)
        usleep(1000);
    CHECK(last.si_code == SI_TIMER && last.si_value.sival_int == 9 && last.si_overrun == 0, "timer: SI_TIMER with its value");
    pid_t child = fork();
    if (child == 0)
        _exit(33);
    while (calls < 7)
        usleep(1000);
    CHECK(number == SIGCHLD && last.si_code == CLD_EXITED && last.si_pid == child && last.si_status == 33, "SIGCHLD: exited");
    waitpid(child, NULL, 0);
    child = fork();
    if (child == 0) {
        no_core();
        signal(SIGTERM, SIG_DFL);
        pause();
    }
    kill(child, SIGTERM);
    while (calls < 8)
        usleep(1000);
    CHECK(last.si_code == CLD_KILLED && last.si_status == SIGTERM, "SIGCHLD: killed");
    return finish();
}
