// build: gcc -O2
/* No signal is lost between the last look at a flag and a blocking call: ppoll and sigsuspend open their mask
   atomically, and a flag set by a handler just before read must be seen by the read's EINTR. 3000 rounds. */
#include "check.h"
#include <poll.h>
static volatile sig_atomic_t flag;
static void set(int n, siginfo_t *i, void *c) { (void)n, (void)i, (void)c; flag++; }
int main(void) {
    handle(SIGUSR1, set, 0);
    sigset_t block, open;
    sigemptyset(&block);
    sigaddset(&block, SIGUSR1);
    sigprocmask(SIG_BLOCK, &block, &open);
    sigdelset(&open, SIGUSR1);
    int to[2];
    if (pipe(to))
        return 2;
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        char c;
        close(to[1]);
        while (read(to[0], &c, 1) == 1) {
            for (volatile int spin = c * 37; spin > 0; spin--)
                ;
            kill(parent, SIGUSR1);
        }
        _exit(0);
    }
    close(to[0]);
    int rounds = 0, bad = 0;
    for (; rounds < 3000; rounds++) {
        flag = 0;
        char c = (char)(rounds % 100);
        if (write(to[1], &c, 1) != 1)
            return 3;
        if (rounds & 1) {
            while (!flag)
                if (ppoll(NULL, 0, &(struct timespec){10, 0}, &open) == 0)
                    bad++;
        } else {
            while (!flag)
                sigsuspend(&open);
        }
        bad += flag != 1;
    }
    close(to[1]);
    waitpid(child, NULL, 0);
    CHECK(bad == 0, "%d rounds", rounds);
    return finish();
}
