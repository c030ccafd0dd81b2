// build: gcc -O1
/* The main stack grows to 7 MB on demand, by pages and by one large step; [stack] in maps grows with it; a raised limit of a
   child lets it go further after exec. */
#include "check.h"
#include <alloca.h>
__attribute__((noinline)) static long touch(size_t size) {
    volatile char *room = alloca(size);
    for (size_t i = size; i >= 4096; i -= 4096)
        room[i - 1] = 1;
    room[0] = 2;
    return room[0] + room[size - 1];
}
__attribute__((noinline)) static long jump(size_t size) {
    volatile char *room = alloca(size);
    room[0] = 5;
    return room[0];
}
int main(int argc, char **argv) {
    struct rlimit limit;
    getrlimit(RLIMIT_STACK, &limit);
    if (argc > 1) {
        CHECK(limit.rlim_cur == 64 << 20 && touch(60 << 20) == 3, "60 MB after raising the limit");
        return finish();
    }
    if (limit.rlim_cur != 8 << 20)
        skip("the stack limit is not 8 MiB");
    CHECK(jump(1 << 20) == 5, "one step of a megabyte");
    CHECK(touch(7 << 20) == 3, "seven megabytes");
    pid_t child = fork();
    if (child == 0) {
        no_core();
        touch(9 << 20);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "nine are too many");
    limit.rlim_cur = 64 << 20;
    if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < limit.rlim_cur)
        skip("the hard limit is too low");
    CHECK(setrlimit(RLIMIT_STACK, &limit) == 0, "limit raised");
    if (check_failures)
        return 1;
    execl("/proc/self/exe", argv[0], "again", (char *)0);
    return 1;
}
// children: yes
