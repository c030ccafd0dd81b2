// build: gcc -O1
/* Blocking, pending, delivery on unblocking; sigsuspend, sigwaitinfo, sigtimedwait, signalfd; real-time queue order. */
#include "check.h"
#include <poll.h>
#include <sys/signalfd.h>
static int values[64], codes, usr1, masked_inside;
static void note(int n, siginfo_t *i, void *c) {
    (void)c;
    if (n == SIGUSR1)
        usr1++;
    else if (codes < 64)
        values[codes++] = (n - SIGRTMIN) * 100 + i->si_value.sival_int;
    sigset_t now;
    sigprocmask(SIG_BLOCK, NULL, &now);
    masked_inside = sigismember(&now, n) && sigismember(&now, SIGWINCH);
}
int main(void) {
    sigset_t set, old, pending;
    handle(SIGUSR1, note, 0);
    for (int i = 0; i < 4; i++)
        handle(SIGRTMIN + i, note, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGWINCH);
    for (int i = 0; i < 4; i++)
        sigaddset(&set, SIGRTMIN + i);
    sigprocmask(SIG_BLOCK, &set, &old);
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGUSR1);
    CHECK(usr1 == 0, "blocked");
    sigpending(&pending);
    CHECK(sigismember(&pending, SIGUSR1) && !sigismember(&pending, SIGUSR2), "pending");
    sigsuspend(&old);
    CHECK(usr1 == 1, "sigsuspend delivers one of two standard signals");
    sigset_t now;
    sigprocmask(SIG_BLOCK, NULL, &now);
    CHECK(sigismember(&now, SIGUSR1), "and puts the mask back");
    for (int i = 0; i < 5; i++)
        for (int s = 3; s >= 0; s--)
            sigqueue(getpid(), SIGRTMIN + s, (union sigval){.sival_int = i});
    /* The kernel builds all frames at once, so that handlers without sa_mask start with the last one. */
    for (int s = 0; s < 4; s++) {
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, SIGRTMIN + s);
        sigprocmask(SIG_UNBLOCK, &one, NULL);
        sigprocmask(SIG_BLOCK, &one, NULL);
    }
    int ordered = codes == 20;
    for (int i = 0; i < codes; i++) {
        int found = 0;
        for (int j = 0; j < codes; j++)
            found += values[j] == i / 5 * 100 + i % 5;
        ordered &= found == 1 && values[i] / 100 == i / 5;
    }
    CHECK(ordered, "20 queued real-time signals, each once, by number");
    CHECK(masked_inside, "mask inside a handler: the thread's and the signal's own");
    for (int i = 0; i < 6; i++)
        sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = i});
    siginfo_t info;
    int in_order = 1;
    for (int i = 0; i < 6; i++)
        in_order &= sigwaitinfo(&set, &info) == SIGRTMIN + 1 && info.si_value.sival_int == i && info.si_code == SI_QUEUE;
    CHECK(in_order, "sigwaitinfo takes them in the order sent");
    double begin = seconds();
    CHECK(sigtimedwait(&set, &info, &(struct timespec){0, 30000000}) == -1 && errno == EAGAIN && seconds() - begin >= 0.03, "sigtimedwait times out");
    sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 7});
    CHECK(sigtimedwait(&set, &info, &(struct timespec){0, 0}) == SIGRTMIN && info.si_value.sival_int == 7, "sigtimedwait polls");
    int file = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    struct signalfd_siginfo record;
    CHECK(read(file, &record, sizeof record) == -1 && errno == EAGAIN, "signalfd empty");
    sigqueue(getpid(), SIGRTMIN + 3, (union sigval){.sival_int = 8});
    CHECK(poll(&(struct pollfd){file, POLLIN, 0}, 1, 1000) == 1, "signalfd readable");
    CHECK(read(file, &record, sizeof record) == sizeof record && record.ssi_signo == (unsigned)SIGRTMIN + 3 && record.ssi_int == 8 && record.ssi_pid == (unsigned)getpid(), "signalfd read");
    pid_t child = fork();
    if (child == 0) {
        sleep_milliseconds(30);
        kill(getppid(), SIGUSR1);
        _exit(0);
    }
    CHECK(sigwaitinfo(&set, &info) == SIGUSR1 && info.si_code == SI_USER && info.si_pid == child, "sigwaitinfo blocks until another process sends");
    waitpid(child, NULL, 0);
    codes = usr1 = 0;
    kill(getpid(), SIGUSR1);
    signal(SIGUSR1, SIG_IGN);
    sigpending(&pending);
    CHECK(!sigismember(&pending, SIGUSR1), "ignoring a pending signal discards it");
    sigprocmask(SIG_SETMASK, &old, NULL);
    CHECK(usr1 == 0 && codes == 0, "nothing left");
    sigfillset(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    sigprocmask(SIG_BLOCK, NULL, &now);
    CHECK(!sigismember(&now, SIGKILL) && !sigismember(&now, SIGSTOP) && sigismember(&now, SIGSEGV), "SIGKILL and SIGSTOP stay unblocked");
    return finish();
}
