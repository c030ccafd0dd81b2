/* Valgrind's macros, unchanged, from its own headers: what each answers goes to standard output. The results do not depend on
   where things lie; the state around a call of a function is checked by what is computed across it. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <valgrind/valgrind.h>
#include <valgrind/callgrind.h>
static long seen;
__attribute__((noinline)) static long zero(long tid) { volatile char big[300]; memset((void *)big, 1, sizeof big); seen = tid; return 41 + big[3]; }
__attribute__((noinline)) static long three(long tid, long a, long b, long c) { double d = a * 1.5; for (int i = 0; i < b; i++) d += c; return (long)d + (tid != 0); }
static long nested(long tid, long depth) { return depth ? 1 + VALGRIND_NON_SIMD_CALL1(nested, depth - 1) : tid != 0; }
static jmp_buf back;
static long jumps(long tid) { longjmp(back, 1); return tid; }
int main(void) {
    printf("running %d\n", (int)RUNNING_ON_VALGRIND);
    printf("call0 %ld\n", (long)VALGRIND_NON_SIMD_CALL0(zero));
    double live = 1.25;
    long sum = 0;
    for (int i = 0; i < 1000; i++) { sum += VALGRIND_NON_SIMD_CALL3(three, i, 3, 2); live += 0.5; }
    printf("call3 %ld %g\n", sum, live);
    printf("nested %ld\n", (long)VALGRIND_NON_SIMD_CALL1(nested, 20));
    volatile int n = 0;
    if (setjmp(back) < 2 && n++ < 5000) VALGRIND_NON_SIMD_CALL0(jumps);
    printf("jumped %d\n", n);
    printf("printed %d\n", VALGRIND_PRINTF("hello %d %s %5.2f|%-6lx|%c%% %Lg %*d %zu %hhd %p %s\n", -3, "text", 2.5, 0xabcdefL, 'x', 3.5L, 5, 42, (size_t)7, 300, (void *)16, (char *)16));
    printf("backtrace %d\n", VALGRIND_PRINTF_BACKTRACE("no newline"));
    VALGRIND_PRINTF(" goes on\ntwo\n");
    VALGRIND_DISCARD_TRANSLATIONS(main, 100);
    printf("errors %u\n", VALGRIND_COUNT_ERRORS);
    printf("command %d %d\n", (int)VALGRIND_MONITOR_COMMAND("status"), (int)VALGRIND_MONITOR_COMMAND("what is this"));
    VALGRIND_CLO_CHANGE("--trace-children=yes");
    CALLGRIND_ZERO_STATS;
    CALLGRIND_DUMP_STATS_AT("here");
    return 0;
}
