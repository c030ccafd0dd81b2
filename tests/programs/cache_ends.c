/**
 * @fileoverview A loop of known length, and then an end as the argument says: exit, _exit, abort, fault, term, fork, exec, spawn,
 * thread (in which another one still runs), wait (for a signal). For tests/test_cache.py.
 */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int cells[1000];

__attribute__((noinline)) static void work(int rounds) {
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < 1000; i++)
            cells[i] = round; /* the line that counts */
}

static void *run_for_ever(void *data) {
    (void)data;
    for (;;)
        pause();
}

int main(int count, char **arguments) {
    const char *end = count > 1 ? arguments[1] : "exit";
    pthread_t thread;
    work(10);
    if (strcmp(end, "_exit") == 0)
        _exit(7);
    if (strcmp(end, "abort") == 0)
        abort();
    if (strcmp(end, "fault") == 0)
        *(volatile int *)(uintptr_t)(count - 2) = 1;
    if (strcmp(end, "term") == 0)
        kill(getpid(), SIGTERM);
    if (strcmp(end, "wait") == 0) {
        write(1, "ready\n", 6);
        run_for_ever(NULL);
    }
    if (strcmp(end, "spawn") == 0) {
        pid_t child;
        if (posix_spawn(&child, "/bin/true", NULL, NULL, arguments, NULL) != 0 || waitpid(child, &count, 0) != child)
            return 9;
        work(10);
        return WEXITSTATUS(count);
    }
    if (strcmp(end, "exec") == 0)
        execl("/bin/true", "true", (char *)NULL);
    if (strcmp(end, "thread") == 0) {
        pthread_create(&thread, NULL, run_for_ever, NULL);
        exit(3);
    }
    if (strcmp(end, "fork") == 0) {
        if (fork() == 0) {
            work(5);
            return 4;
        }
        wait(NULL);
        work(2);
    }
    return 0;
}
