// heavy: yes
// build: gcc -O1 -pthread
/* 2 kHz signals while the program makes many system calls: reads, writes, mmap, fork and wait; all must succeed. */
#include "check.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/time.h>
static volatile long ticks;
static void tick(int n, siginfo_t *i, void *c) { (void)n, (void)i, (void)c; ticks++; getppid(); }
int main(void) {
    handle(SIGALRM, tick, SA_RESTART);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 500}, {0, 500}}, NULL);
    int ends[2], bad = 0;
    if (pipe(ends))
        return 2;
    char buffer[3000], back[3000];
    for (int i = 0; i < 20000; i++) {
        memset(buffer, i, sizeof buffer);
        bad += write(ends[1], buffer, sizeof buffer) != (long)sizeof buffer;
        bad += read(ends[0], back, sizeof back) != (long)sizeof back || memcmp(buffer, back, sizeof back);
    }
    CHECK(!bad, "20000 pipe round trips");
    for (int i = 0; i < 2000; i++) {
        char *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        bad += map == MAP_FAILED;
        map[4096] = 1;
        bad += mprotect(map, 4096, PROT_READ) || munmap(map, 8192);
    }
    CHECK(!bad, "2000 mappings");
    for (int i = 0; i < 40; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(i);
        int status = 0;
        bad += waitpid(child, &status, 0) != child || WEXITSTATUS(status) != i;
    }
    CHECK(!bad, "40 forks");
    for (int i = 0; i < 3000; i++) {
        int file = open("/proc/self/stat", O_RDONLY);
        bad += file < 0 || read(file, buffer, sizeof buffer) < 50 || close(file);
    }
    CHECK(!bad && ticks > 20, "3000 opens, ticks arrived");
    return finish();
}
