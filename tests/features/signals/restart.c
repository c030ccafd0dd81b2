// build: gcc -O1
/* SA_RESTART on read, wait4, futex and others against EINTR without it, and calls that are never restarted. */
#include "check.h"
#include <linux/futex.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/time.h>
static int calls, pipes[2];
static void count(int n, siginfo_t *i, void *c) { (void)n, (void)i, (void)c; calls++; }
static void write_later(int n, siginfo_t *i, void *c) {
    (void)n, (void)i, (void)c;
    if (++calls == 3 && write(pipes[1], "data", 4) != 4)
        _exit(9);
}
static void start(int flags, void (*handler)(int, siginfo_t *, void *)) {
    calls = 0;
    handle(SIGALRM, handler, flags);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 15000}, {0, 20000}}, NULL);
}
static void stop(void) {
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
}
int main(void) {
    char buffer[16];
    CHECK(pipe(pipes) == 0, "pipe");
    volatile uint32_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    start(0, count);
    long got = read(pipes[0], buffer, sizeof buffer);
    int error = errno;
    stop();
    CHECK(got == -1 && error == EINTR && calls >= 1, "read: EINTR");
    start(SA_RESTART, write_later);
    got = read(pipes[0], buffer, sizeof buffer);
    stop();
    CHECK(got == 4 && calls >= 3, "read with SA_RESTART: goes on after each of three handlers");
    for (int flags = 0; flags <= SA_RESTART; flags += SA_RESTART) {
        const char *with = flags ? "with SA_RESTART" : "without";
        start(flags, count);
        struct timespec rest, ask = {30, 0};
        got = nanosleep(&ask, &rest);
        error = errno;
        stop();
        CHECK(got == -1 && error == EINTR && rest.tv_sec >= 28 && rest.tv_sec < 30, "nanosleep %s: EINTR and the rest", with);
        start(flags, count);
        got = poll(&(struct pollfd){pipes[0], POLLIN, 0}, 1, 30000);
        error = errno;
        stop();
        CHECK(got == -1 && error == EINTR, "poll %s: EINTR", with);
        start(flags, count);
        fd_set set;
        FD_ZERO(&set);
        FD_SET(pipes[0], &set);
        got = select(pipes[0] + 1, &set, NULL, NULL, &(struct timeval){30, 0});
        error = errno;
        stop();
        CHECK(got == -1 && error == EINTR, "select %s: EINTR", with);
        int queue = epoll_create1(0);
        struct epoll_event event;
        start(flags, count);
        got = epoll_wait(queue, &event, 1, 30000);
        error = errno;
        stop();
        CHECK(got == -1 && error == EINTR, "epoll_wait %s: EINTR", with);
        close(queue);
        start(flags, count);
        uint32_t word = 5;
        got = syscall(SYS_futex, &word, FUTEX_WAIT, 5, &(struct timespec){30, 0}, NULL, 0);
        error = errno;
        stop();
        CHECK(got == -1 && error == EINTR, "futex with a time-out %s: EINTR", with);
        *shared = 5;
        pid_t waker = fork();
        if (waker == 0) {
            sleep_milliseconds(150);
            *shared = 6;
            syscall(SYS_futex, shared, FUTEX_WAKE, 1, NULL, NULL, 0);
            _exit(0);
        }
        start(flags, count);
        got = syscall(SYS_futex, shared, FUTEX_WAIT, 5, NULL, NULL, 0);
        error = errno;
        stop();
        if (flags)
            CHECK(got == 0 && calls >= 2, "futex with SA_RESTART: restarts until woken");
        else
            CHECK(got == -1 && error == EINTR, "futex without: EINTR");
        waitpid(waker, NULL, 0);
        start(flags, count);
        got = pause();
        error = errno;
        stop();
        CHECK(got == -1 && error == EINTR && calls == 1, "pause %s: EINTR after one", with);
        pid_t child = fork();
        if (child == 0) {
            sleep_milliseconds(150);
            _exit(4);
        }
        start(flags, count);
        int status = 0;
        got = waitpid(child, &status, 0);
        error = errno;
        stop();
        if (flags)
            CHECK(got == child && WEXITSTATUS(status) == 4, "waitpid with SA_RESTART: restarts");
        else {
            CHECK(got == -1 && error == EINTR, "waitpid without: EINTR");
            waitpid(child, &status, 0);
        }
    }
    double begin = seconds();
    start(0, count);
    sleep_milliseconds(200);
    stop();
    CHECK(seconds() - begin >= 0.2 && calls >= 5, "interrupted sleep goes on with the rest");
    return finish();
}
