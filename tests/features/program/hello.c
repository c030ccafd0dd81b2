// build: gcc -O1
// variants: dynamic, pie, no-pie, static, static-pie, clang, clang-static, musl, musl-static, O0, O3-native, no-plt, now, no-headers, no-headers-static, sysv-hash, stripped
// arguments: one "two words" ''
/* Every way to build and link a C program: arguments, environment, constructors, thread-local data, atexit order. */
#include "check.h"

static int order[8], count;
static __thread int local = 42;
static int zeroes[100000];

__attribute__((constructor(101))) static void first(void) { order[count++] = 1; }
__attribute__((constructor)) static void second(void) { order[count++] = 2; }
__attribute__((destructor)) static void last(void) { say("destructor"); }
static void exit_a(void) { say("atexit a"); }
static void exit_b(void) { say("atexit b"); }

extern char **environ;

int main(int argc, char **argv) {
    CHECK_EQUAL(argc, 4, "argc");
    for (int i = 1; i < argc; i++)
        say("argv[%d] = '%s'", i, argv[i]);
    CHECK(strrchr(argv[0], '/') != NULL, "argv[0] has a path");
    CHECK(argv[argc] == NULL, "argv ends with NULL");
    CHECK(getenv("FEATURE") && !strcmp(getenv("FEATURE"), "value with spaces"), "environment variable");
    int variables = 0;
    while (environ[variables])
        variables++;
    say("%d environment variables", variables);
    CHECK(count == 2 && order[0] == 1 && order[1] == 2, "constructors ran in order");
    CHECK_EQUAL(local, 42, "thread-local initial value");
    long sum = 0;
    for (size_t i = 0; i < sizeof zeroes / sizeof *zeroes; i++)
        sum += zeroes[i];
    CHECK_EQUAL(sum, 0, "zero-initialised data");
    CHECK(((uintptr_t)__builtin_frame_address(0) & 15) == 0, "stack alignment");
    printf("%.17g %s\n", 1.0 / 3.0, "through printf");
    fprintf(stderr, "to standard error\n");
    atexit(exit_a);
    atexit(exit_b);
    return finish() ? 1 : 23;
}
// status: 23
