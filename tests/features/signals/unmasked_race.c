// build: gcc -O2 -pthread
/* A signal that arrives just before a blocking system call must interrupt it: a parent sends single signals at varying
   moments to a child that reads from an empty pipe without a mask; every handler run makes the child's read fail or
   happens outside it, where the handler's own write makes the next read return. */
#include "check.h"
static int self[2];
static volatile sig_atomic_t handled;
static void wake(int n, siginfo_t *i, void *c) {
    (void)n, (void)i, (void)c;
    handled++;
    if (write(self[1], "w", 1) != 1)
        _exit(9);
}
int main(void) {
    int report[2];
    if (pipe(self) || pipe(report))
        return 2;
    pid_t child = fork();
    if (child == 0) {
        handle(SIGUSR1, wake, SA_RESTART);
        char c = 'r';
        if (write(report[1], &c, 1) != 1)
            _exit(3);
        for (int i = 0; i < 3000; i++) {
            if (read(self[0], &c, 1) != 1)
                _exit(4);
            if (write(report[1], &c, 1) != 1)
                _exit(5);
        }
        _exit(handled == 3000 ? 77 : 6);
    }
    close(self[0]);
    close(self[1]);
    close(report[1]);
    char c;
    int got = 0;
    if (read(report[0], &c, 1) == 1)
        for (; got < 3000; got++) {
            for (volatile int spin = got % 50 * 41; spin > 0; spin--)
                ;
            kill(child, SIGUSR1);
            if (read(report[0], &c, 1) != 1)
                break;
        }
    int status;
    waitpid(child, &status, 0);
    CHECK(got == 3000 && WIFEXITED(status) && WEXITSTATUS(status) == 77, "3000 signals, each woke its read");
    return finish();
}
