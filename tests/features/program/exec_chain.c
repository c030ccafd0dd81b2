// build: gcc -O1
// variants: dynamic, static
/* execve of itself with other arguments and environment, through /proc/self/exe, fexecve, and failures of execve. */
#include "check.h"
#include <fcntl.h>
int main(int argc, char **argv) {
    int step = argc > 1 ? atoi(argv[1]) : 0;
    say("step %d, argv[0] '%s'", step, step ? argv[0] : "first");
    if (step == 0) {
        CHECK(execl("/nonexistent/program", "x", (char *)0) == -1 && errno == ENOENT, "ENOENT");
        CHECK(execl("/etc/passwd", "x", (char *)0) == -1 && errno == EACCES, "EACCES for a file without x");
        CHECK(execl("/tmp", "x", (char *)0) == -1 && errno == EACCES, "EACCES for a directory");
        signal(SIGUSR1, SIG_IGN);
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGUSR2);
        sigprocmask(SIG_BLOCK, &set, NULL);
        kill(getpid(), SIGUSR2);
        char *arguments[] = {"renamed program", "1", NULL}, *environment[] = {"ONLY=this", NULL};
        int first = getpid();
        char number[20];
        snprintf(number, sizeof number, "PID=%d", first);
        environment[0] = number;
        if (check_failures)
            return 1;
        execve("/proc/self/exe", arguments, environment);
    } else if (step == 1) {
        CHECK(getenv("PID") && atoi(getenv("PID")) == getpid(), "same pid after execve");
        struct sigaction action;
        sigaction(SIGUSR1, NULL, &action);
        CHECK(action.sa_handler == SIG_IGN, "ignored signal stays ignored");
        sigset_t set;
        sigpending(&set);
        CHECK(sigismember(&set, SIGUSR2), "pending signal survives execve");
        sigprocmask(SIG_BLOCK, NULL, &set);
        CHECK(sigismember(&set, SIGUSR2) && !sigismember(&set, SIGUSR1), "mask survives execve");
        int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        char *arguments[] = {"by descriptor", "2", NULL}, *environment[] = {NULL};
        if (check_failures)
            return 1;
        fexecve(file, arguments, environment);
    } else {
        CHECK(getenv("PID") == NULL, "empty environment");
        CHECK(open("/dev/null", O_RDONLY) == 3, "descriptor was closed on exec");
        return finish();
    }
    return 1;
}
