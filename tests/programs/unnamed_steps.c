/**
 * @fileoverview Runs a program as on a machine that loses the reason of traps: `unnamed_steps RESULT PROGRAM [ARGUMENTS]`.
 *
 * The trap of every single step reaches the program with the code TRAP_BRKPT instead of TRAP_TRACE, as it may in a
 * virtual machine (name_step in src/guest/x86_64/host_signal.c says why). How many these were goes to the file RESULT.
 * Ends as the program does. Follows the first thread of one process only. Used by tests/test_analysis.py.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static void fail(const char *what) {
    fprintf(stderr, "unnamed_steps: %s: %s\n", what, strerror(errno));
    exit(2);
}

static pid_t start(char **command) {
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0) execv(command[0], command);
        fail(command[0]);
    }
    return child;
}

/** Takes the name from the signal at which the program stands, if it is a step's. Returns whether it was one. */
static int take_name(pid_t child) {
    siginfo_t info;
    if (ptrace(PTRACE_GETSIGINFO, child, NULL, &info)) fail("what the signal is");
    if (info.si_signo != SIGTRAP || info.si_code != TRAP_TRACE) return 0;
    info.si_code = TRAP_BRKPT;
    if (ptrace(PTRACE_SETSIGINFO, child, NULL, &info)) fail("changing the signal");
    return 1;
}

/** Returns the program's exit status. */
static int follow(pid_t child, unsigned long *steps) {
    int status, began = 0;
    for (;;) {
        if (waitpid(child, &status, 0) != child) fail("waiting");
        if (!WIFSTOPPED(status)) break;
        /* At the start, and when a new program begins in the process. */
        int begins = !began || status >> 16 == PTRACE_EVENT_EXEC;
        if (!began && ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)) fail("options");
        began = 1;
        if (!begins) *steps += take_name(child);
        if (ptrace(PTRACE_CONT, child, NULL, begins ? 0 : WSTOPSIG(status))) fail("going on");
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argument_count, char **arguments) {
    if (argument_count < 3) {
        fprintf(stderr, "unnamed_steps: the words are RESULT PROGRAM [ARGUMENTS]\n");
        return 2;
    }
    unsigned long steps = 0;
    int status = follow(start(arguments + 2), &steps);
    FILE *result = fopen(arguments[1], "w");
    if (!result || fprintf(result, "%lu\n", steps) < 0 || fclose(result)) fail(arguments[1]);
    return status;
}
