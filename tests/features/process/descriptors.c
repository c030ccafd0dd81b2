// build: gcc -O1
// runs: list=0 close-all=0 close-range=0 dup-over=0 limit=0
/* Descriptors: only 0, 1 and 2 are open at the start and the next one is 3; closing all of 3..1023 (and of the limit) and
   close_range, dup2 over every number, a low limit; the program and its signals, forks and reads go on. */
#include "check.h"
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
static volatile int handled;
static void note(int n, siginfo_t *i, void *c) { (void)n, (void)i, (void)c; handled++; }
static void still_works(void) {
    handle(SIGUSR1, note, 0);
    raise(SIGUSR1);
    CHECK(handled, "a handler runs");
    pid_t child = fork();
    if (child == 0)
        _exit(3);
    int status;
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3, "fork works");
    int file = open("/proc/self/stat", O_RDONLY);
    char buffer[100];
    CHECK(file == 3 && read(file, buffer, sizeof buffer) == sizeof buffer && close(file) == 0, "open gives 3");
    file = open("/proc/self/maps", O_RDONLY);
    CHECK(file == 3 && read(file, buffer, sizeof buffer) > 0 && close(file) == 0, "maps opens as 3");
    qsort(buffer, 100, 1, (int (*)(const void *, const void *))strcmp); /* code not yet run */
    CHECK(close(3) == -1 && errno == EBADF, "3 is closed again");
}
int main(int argc, char **argv) {
    const char *kind = argc > 1 ? argv[1] : "list";
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    if (!strcmp(kind, "list")) {
        DIR *directory = opendir("/proc/self/fd");
        int count = 0, high = 0;
        for (struct dirent *entry; (entry = readdir(directory));)
            if (entry->d_name[0] != '.') {
                int number = atoi(entry->d_name);
                count++;
                high = number > high ? number : high;
            }
        say("%d descriptors, highest %d", count, high);
        CHECK(count == 4 && high == 3, "0, 1, 2 and the directory itself");
        closedir(directory);
        int good = 1;
        for (int i = 3; i < 200; i++)
            good &= fcntl(i, F_GETFD) == -1 && errno == EBADF;
        CHECK(good, "all others are closed");
        for (int i = 3; i < 100; i++)
            good &= dup(0) == i;
        CHECK(good, "dup counts up");
        for (int i = 3; i < 100; i++)
            close(i);
    } else if (!strcmp(kind, "close-all")) {
        int closed = 0;
        long top = limit.rlim_cur > 100000 ? 100000 : (long)limit.rlim_cur;
        for (int i = 3; i < top; i++)
            closed += close(i) == 0;
        CHECK_EQUAL(closed, 0, "descriptors that close() found open");
    } else if (!strcmp(kind, "close-range")) {
        CHECK(syscall(SYS_close_range, 3, ~0u, 0) == 0, "close_range(3, all)");
        CHECK(syscall(SYS_close_range, 3, ~0u, 4 /* CLOSE_RANGE_CLOEXEC */) == 0, "close_range to close-on-exec");
        CHECK(syscall(SYS_close_range, 5, 4, 0) == -1 && errno == EINVAL, "wrong order");
    } else if (!strcmp(kind, "dup-over")) {
        int bad = 0;
        long top = limit.rlim_cur > 10000 ? 10000 : (long)limit.rlim_cur;
        for (int i = 3; i < top; i++)
            bad += dup2(2, i) != i;
        CHECK(!bad, "dup2 over every number");
        for (int i = 3; i < top; i++)
            bad += close(i) != 0;
        CHECK(!bad, "and closed again");
        CHECK(dup2(2, (int)limit.rlim_cur) == -1 && errno == EBADF, "dup2 beyond the limit");
    } else {
        limit.rlim_cur = 16;
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0, "a limit of 16");
        int opened = 0;
        while (dup(0) >= 0)
            opened++;
        CHECK(opened == 13 && errno == EMFILE, "13 more, then EMFILE");
        for (int i = 3; i < 16; i++)
            close(i);
        getrlimit(RLIMIT_NOFILE, &limit);
        CHECK(limit.rlim_cur == 16, "the limit reads back");
    }
    still_works();
    return finish();
}
