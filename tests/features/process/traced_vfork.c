// build: gcc -O1
/* A vfork child that asks to be traced, does many things for the first time, and executes a program: its parent, which
   waits in vfork until then, sees it stop at the execution and end; no stop comes before. */
#include "check.h"
#include <sys/ptrace.h>

/** Functions that are called by their addresses for the first time in the child. */
#define FUNCTION(n) __attribute__((noinline)) static int function_##n(int x) { return x * n + 1; }
FUNCTION(1) FUNCTION(2) FUNCTION(3) FUNCTION(4) FUNCTION(5) FUNCTION(6) FUNCTION(7) FUNCTION(8)
static int (*volatile functions[])(int) = {function_1, function_2, function_3, function_4,
                                           function_5, function_6, function_7, function_8};

int main(int argc, char **argv) {
    if (argc > 1) {
        say("%s executed", argv[1]);
        return 7;
    }
    alarm(20);
    pid_t child = vfork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
            _exit(100);
        int sum = 0;
        for (unsigned i = 0; i < sizeof functions / sizeof *functions; i++)
            sum += functions[i](3);
        if (sum != 116)
            _exit(101);
        execl("/proc/self/exe", "again", "the child", (char *)0);
        _exit(102);
    }
    int status = 0;
    pid_t stopped = waitpid(child, &status, 0);
    CHECK(stopped == child && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP,
          "stops when it has executed: %#x", status);
    ptrace(PTRACE_CONT, child, NULL, NULL);
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status))
        ptrace(PTRACE_CONT, child, NULL, WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status));
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7, "ends: %#x", status);
    return finish();
}
