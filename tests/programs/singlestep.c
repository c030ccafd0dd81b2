/**
 * @fileoverview Counts the instructions of a program by single-stepping it: `singlestep RESULT PROGRAM [ARGUMENTS]`.
 *
 * The number goes to the file RESULT. Counted is each step from the program's first instruction on: an instruction, or
 * one iteration of a repeated string instruction (a repeated one with count zero is a step too). The last step is the
 * system call that ends the process and does not return. Used by tests/test_count.py to check the tool `count`.
 *
 * The program must have one thread, must not fork, and must not get signals: each of these ends the run with status 2.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static void fail(const char *what) {
    fprintf(stderr, "singlestep: %s: %s\n", what, strerror(errno));
    exit(2);
}

static pid_t start(char **command) {
    pid_t child = fork();
    if (child < 0) {
        fail("fork");
    }
    if (child == 0) {
        personality(ADDR_NO_RANDOMIZE);
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0) {
            execv(command[0], command);
        }
        fail(command[0]);
    }
    return child;
}

/** Step until the process is gone. Returns its exit status. */
static int step_to_end(pid_t child, unsigned long long *steps) {
    int status;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
        fail("the program did not start");
    }
    for (*steps = 0; WIFSTOPPED(status); ++*steps) {
        if (WSTOPSIG(status) != SIGTRAP) {
            fprintf(stderr, "singlestep: signal %d after %llu steps\n", WSTOPSIG(status), *steps);
            kill(child, SIGKILL);
            exit(2);
        }
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0 || waitpid(child, &status, 0) != child) {
            fail("step");
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argument_count, char **arguments) {
    if (argument_count < 3) {
        fprintf(stderr, "usage: singlestep RESULT PROGRAM [ARGUMENTS]\n");
        return 2;
    }
    unsigned long long steps;
    int status = step_to_end(start(arguments + 2), &steps);
    FILE *result = fopen(arguments[1], "w");
    if (result == NULL || fprintf(result, "%llu\n", steps) < 0 || fclose(result) != 0) {
        fail(arguments[1]);
    }
    return status;
}
