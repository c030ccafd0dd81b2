// build: gcc -O1
/* Signals that instructions raise, sent by kill and waited for: before the wait, during it, in vain; from a signalfd with
   all signals in its mask. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct timespec second = {1, 0}, moment = {0, 1000000};

static int wait_for(int number, const struct timespec *time) {
    sigset_t set;
    siginfo_t info;
    sigemptyset(&set);
    sigaddset(&set, number);
    int got = sigtimedwait(&set, &info, time);
    return got < 0 ? -errno : info.si_signo == got ? got : 0;
}

int main(void) {
    static const int numbers[] = {SIGILL, SIGSEGV, SIGTRAP, SIGBUS, SIGFPE};
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        kill(getpid(), numbers[i]);
        printf("%d", wait_for(numbers[i], &second));
        printf(" %d", wait_for(numbers[i], &moment));
        fflush(stdout);
        pid_t child = fork();
        if (!child) {
            usleep(50000);
            _exit(kill(getppid(), numbers[i]));
        }
        printf(" %d", wait_for(numbers[i], &second));
        printf(" %d\n", wait_for(SIGCHLD, &second));
        waitpid(child, NULL, 0);
    }
    int descriptor = signalfd(-1, &all, 0);
    struct signalfd_siginfo info = {0};
    kill(getpid(), SIGUSR1);
    printf("%zd %u\n", read(descriptor, &info, sizeof info), SIGUSR1);
    return info.ssi_signo != SIGUSR1;
}
