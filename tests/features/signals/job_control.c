// build: gcc -O1
/* SIGSTOP, SIGTSTP and SIGCONT by a parent: statuses, a handler for SIGCONT, a handler for SIGTSTP that stops itself as
   editors do, default-ignored signals. */
#include "check.h"
static volatile int continued, stops;
static void on_continue(int n, siginfo_t *i, void *c) { (void)n, (void)i, (void)c; continued++; }
static void on_stop(int n, siginfo_t *i, void *c) {
    (void)n, (void)i, (void)c;
    stops++;
    signal(SIGTSTP, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTSTP);
    raise(SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &set, NULL); /* stops here */
    handle(SIGTSTP, on_stop, 0);
}
int main(void) {
    int ends[2];
    if (pipe(ends))
        return 2;
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        handle(SIGCONT, on_continue, SA_RESTART);
        raise(SIGCHLD); /* ignored by default, as are the next two */
        raise(SIGURG);
        raise(SIGWINCH);
        if (write(ends[1], "r", 1) != 1)
            _exit(1);
        while (continued < 2)
            usleep(1000);
        handle(SIGTSTP, on_stop, 0);
        if (write(ends[1], "h", 1) != 1)
            _exit(1);
        while (stops < 2 || continued < 4)
            ;
        sleep_milliseconds(400); /* the parent sees it continued before it sees it gone */
        _exit(50 + stops);
    }
    char c;
    int status;
    CHECK(read(ends[0], &c, 1) == 1 && c == 'r', "signals ignored by default");
    static const int stopping[] = {SIGSTOP, SIGTTIN};
    for (int i = 0; i < 2; i++) {
        kill(child, stopping[i]);
        CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status) && WSTOPSIG(status) == stopping[i], "stopped by signal %d", stopping[i]);
        kill(child, SIGCONT);
        CHECK(waitpid(child, &status, WCONTINUED) == child && WIFCONTINUED(status), "continued");
        sleep_milliseconds(400); /* longer than the child needs on a busy machine */
    }
    CHECK(read(ends[0], &c, 1) == 1 && c == 'h', "SIGCONT handler ran twice");
    for (int i = 0; i < 2; i++) {
        kill(child, SIGTSTP);
        CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTSTP, "stopped by its own handler");
        kill(child, SIGCONT);
        CHECK(waitpid(child, &status, WCONTINUED) == child && WIFCONTINUED(status), "continued");
        sleep_milliseconds(400); /* longer than the child needs on a busy machine */
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 52, "child ended by itself");
    return finish();
}
