// build: gcc -O1
/* 50 short children at once, nested forks, process groups and sessions, wait variants and rusage, orphans get a new parent,
   pipes between them, pids are right on both sides, every exit status from 0 to 255. */
#include "check.h"
#include <sys/prctl.h>
int main(void) {
    pid_t children[50], me = getpid();
    int bad = 0, status;
    for (int i = 0; i < 50; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(getppid() == me && getpid() != me && gettid() == getpid() ? i : 200);
    }
    for (int i = 49; i >= 0; i--)
        bad += waitpid(children[i], &status, 0) != children[i] || WEXITSTATUS(status) != i;
    CHECK(!bad, "50 children");
    for (int i = 0; i < 256; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(i);
        bad += waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != i;
    }
    CHECK(!bad, "exit statuses 0 to 255");
    int ends[2];
    if (pipe(ends))
        return 2;
    pid_t child = fork();
    if (child == 0) {
        for (int depth = 0; depth < 10; depth++) {
            pid_t below = fork();
            if (below) {
                waitpid(below, &status, 0);
                _exit(WEXITSTATUS(status) + 1);
            }
        }
        if (write(ends[1], "deep", 4) != 4)
            _exit(100);
        _exit(1);
    }
    char text[5] = {0};
    CHECK(read(ends[0], text, 4) == 4 && waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 11, "forks ten deep: %s", text);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    child = fork();
    if (child == 0) {
        pid_t parent = getpid();
        if (fork() == 0) {
            while (getppid() == parent)
                usleep(500);
            _exit(getppid() == me ? 61 : 62);
        }
        _exit(0);
    }
    waitpid(child, &status, 0);
    CHECK(wait(&status) > 0 && WEXITSTATUS(status) == 61, "an orphan comes to the subreaper");
    child = fork();
    if (child == 0) {
        pid_t session = setsid();
        _exit(session == getpid() && getsid(0) == session && getpgrp() == session ? 5 : 6);
    }
    siginfo_t info;
    CHECK(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) == 0 && info.si_status == 5 && info.si_code == CLD_EXITED, "setsid, waitid");
    struct rusage usage;
    CHECK(wait4(child, &status, 0, &usage) == child && usage.ru_maxrss > 0, "wait4 with usage");
    CHECK(wait(&status) == -1 && errno == ECHILD, "no more");
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pause();
    }
    kill(child, SIGKILL);
    CHECK(waitpid(child, &status, 0) == child && WTERMSIG(status) == SIGKILL, "killed");
    return finish();
}
