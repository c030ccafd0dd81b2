/**
 * @fileoverview What the feature programs share: printing a check, and looking at how a child ended.
 *
 * Every program prints each thing that it checked and exits with 1 if one was wrong, so that the same run is a test
 * natively (does the program expect what Linux does?) and under Sonde (does it see the same?). Included by the programs
 * in the folders beside this file, which tests/test_features.py builds and runs.
 */
#ifndef FEATURES_CHECK_H
#define FEATURES_CHECK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int check_failures;

/** Unbuffered, one write a line: safe before fork, in threads and in children. */
__attribute__((format(printf, 1, 2), unused)) static void say(const char *format, ...) {
    char line[512];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(line, sizeof line - 1, format, list);
    va_end(list);
    if (length > (int)sizeof line - 2)
        length = (int)sizeof line - 2;
    line[length++] = '\n';
    if (write(1, line, (size_t)length) < 0)
        check_failures++;
}

__attribute__((format(printf, 3, 4), unused)) static void check_line(int holds, int line, const char *format, ...) {
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (holds) {
        say("ok %s", text);
    } else {
        check_failures++;
        say("WRONG %s (line %d)", text, line);
    }
}

/** Print what was checked; a wrong one makes finish() return 1. */
#define CHECK(holds, ...) check_line(!!(holds), __LINE__, __VA_ARGS__)

/** Print an integer result that must be `wanted`. */
#define CHECK_EQUAL(got, wanted, name)                                                                       \
    do {                                                                                                     \
        long long got_ = (long long)(got), wanted_ = (long long)(wanted);                                    \
        check_line(got_ == wanted_, __LINE__, "%s: %lld, expected %lld", name, got_, wanted_);                 \
    } while (0)

__attribute__((unused)) static int finish(void) {
    return check_failures != 0;
}

/** For features that this machine lacks: one line, and success. */
__attribute__((noreturn, unused)) static void skip(const char *reason) {
    say("skipped: %s", reason);
    exit(check_failures != 0);
}

__attribute__((unused)) static void no_core(void) {
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

/** Run `body(data)` in a forked child without core dumps; its wait status. */
__attribute__((unused)) static int child_status(void (*body)(void *), void *data) {
    pid_t child = fork();
    if (child == 0) {
        no_core();
        body(data);
        _exit(0);
    }
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/** Install a siginfo handler. */
__attribute__((unused)) static void handle(int number, void (*handler)(int, siginfo_t *, void *), int flags) {
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};
    sigemptyset(&action.sa_mask);
    if (sigaction(number, &action, NULL) != 0)
        CHECK(0, "sigaction(%d)", number);
}

__attribute__((unused)) static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

__attribute__((unused)) static void sleep_milliseconds(long count) {
    struct timespec rest = {count / 1000, count % 1000 * 1000000};
    while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
        ;
}

#endif
