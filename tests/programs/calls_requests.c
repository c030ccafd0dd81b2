/** @fileoverview Asks `sonde calls`, as Callgrind, to zero, to dump, to stop collecting and to stop instrumenting. */
#include <valgrind/callgrind.h>

static volatile long data;

/** Two instructions, of which one reads, and the other reads its return address. */
__attribute__((noinline)) void leaf(void) { data; }

__attribute__((noinline)) static void times(int n) {
    for (int i = 0; i < n; i++) leaf();
}

int main(void) {
    times(10);
    CALLGRIND_ZERO_STATS;
    times(20);
    CALLGRIND_DUMP_STATS_AT("here");
    times(30);
    CALLGRIND_TOGGLE_COLLECT;
    times(40);
    CALLGRIND_TOGGLE_COLLECT;
    times(50);
    CALLGRIND_DUMP_STATS;
    CALLGRIND_STOP_INSTRUMENTATION;
    times(60);
    CALLGRIND_START_INSTRUMENTATION;
    times(70);
    return 0;
}
