// build: gcc -O1
// variants: dynamic, static
/* Time through the vdso and by system call agree: clock_gettime, gettimeofday, time, getcpu, clock_getres; monotone. */
#include "check.h"
#include <elf.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/time.h>
static int64_t nanoseconds(struct timespec t) { return t.tv_sec * 1000000000l + t.tv_nsec; }
int main(void) {
    const Elf64_Ehdr *vdso = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
    CHECK(vdso && !memcmp(vdso->e_ident, ELFMAG, 4), "a vdso");
    static const struct { clockid_t clock; const char *name; } clocks[] = {{CLOCK_REALTIME, "realtime"}, {CLOCK_MONOTONIC, "monotonic"}, {CLOCK_MONOTONIC_RAW, "raw"}, {CLOCK_BOOTTIME, "boot"}, {CLOCK_PROCESS_CPUTIME_ID, "process"}, {CLOCK_THREAD_CPUTIME_ID, "thread"}, {CLOCK_MONOTONIC_COARSE, "coarse"}};
    for (unsigned k = 0; k < sizeof clocks / sizeof *clocks; k++) {
        int bad = 0;
        for (int i = 0; i < 2000; i++) {
            struct timespec before, kernel, after;
            clock_gettime(clocks[k].clock, &before);
            syscall(SYS_clock_gettime, clocks[k].clock, &kernel);
            clock_gettime(clocks[k].clock, &after);
            bad += nanoseconds(before) > nanoseconds(kernel) || nanoseconds(kernel) > nanoseconds(after);
        }
        CHECK(bad == 0, "%s: the vdso and the kernel agree", clocks[k].name);
    }
    struct timeval a, b;
    time_t now = time(NULL);
    gettimeofday(&a, NULL);
    syscall(SYS_gettimeofday, &b, NULL);
    CHECK(b.tv_sec - a.tv_sec <= 1 && a.tv_sec - now <= 1 && syscall(SYS_time, NULL) - now <= 2, "gettimeofday and time");
    unsigned cpu, node, count = 0;
    for (int i = 0; i < 1000; i++)
        count += getcpu(&cpu, &node) == 0 && cpu < 4096;
    CHECK_EQUAL(count, 1000, "getcpu");
    struct timespec resolution;
    CHECK(clock_getres(CLOCK_MONOTONIC, &resolution) == 0 && resolution.tv_nsec > 0, "clock_getres");
    return finish();
}
