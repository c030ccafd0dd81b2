// build: gcc -O2
/* cpuid says what the processor says: a digest of the stable leaves (without APIC ids), xgetbv, rdtsc monotone, rdtscp and
   rdpid name a processor of the affinity mask, rdrand and rdseed deliver; CPUID inside a loop keeps the other registers. */
#include "check.h"
#include <cpuid.h>
#include <sched.h>
#include <x86intrin.h>
int main(void) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    unsigned a, b, c, d, top, extended;
    __cpuid(0, top, b, c, d);
    char vendor[13] = {0};
    memcpy(vendor, &b, 4), memcpy(vendor + 4, &d, 4), memcpy(vendor + 8, &c, 4);
    say("vendor %s, highest leaf %x", vendor, top);
    uint64_t digest = 1469598103934665603ull;
    for (unsigned leaf = 0; leaf <= top && leaf < 64; leaf++) {
        if (leaf == 11 || leaf == 31 || leaf == 26)
            continue; /* topology: differs between processors */
        for (unsigned sub = 0; sub < (leaf == 4 || leaf == 7 || leaf == 13 ? 4u : 1u); sub++) {
            __cpuid_count(leaf, sub, a, b, c, d);
            if (leaf == 1)
                b &= 0x00ffffff;
            for (int i = 0; i < 4; i++)
                digest = (digest ^ (i == 0 ? a : i == 1 ? b : i == 2 ? c : d)) * 1099511628211ull;
        }
    }
    say("digest of the leaves %016llx", (unsigned long long)digest);
    __cpuid(0x80000000, extended, b, c, d);
    char brand[49] = {0};
    if (extended >= 0x80000004)
        for (unsigned i = 0; i < 3; i++) {
            __cpuid(0x80000002 + i, a, b, c, d);
            memcpy(brand + i * 16, &a, 4), memcpy(brand + i * 16 + 4, &b, 4), memcpy(brand + i * 16 + 8, &c, 4), memcpy(brand + i * 16 + 12, &d, 4);
        }
    say("brand %s", brand);
    uint64_t keep[4] = {1, 2, 3, 4};
    __asm__ volatile("mov $0x123456789abcdef0,%%r8; mov $0x7000000000000000,%%rax; xor %%ecx,%%ecx; cpuid; mov %%rax,%0; mov %%rbx,%1; mov %%r8,%2" : "=m"(keep[0]), "=m"(keep[1]), "=m"(keep[2])::"rax", "rbx", "rcx", "rdx", "r8");
    CHECK(keep[0] >> 32 == 0 && keep[1] >> 32 == 0 && keep[2] == 0x123456789abcdef0, "upper halves cleared, others kept");
    __cpuid(1, a, b, c, d);
    if (c >> 27 & 1) {
        unsigned low, high;
        __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
        say("xcr0 %x %x", high, low);
        CHECK((low & 3) == 3, "x87 and SSE state enabled");
    }
    uint64_t last = __rdtsc();
    int backwards = 0;
    for (int i = 0; i < 100000; i++) {
        uint64_t now = __rdtsc();
        backwards += now < last;
        last = now;
    }
    CHECK(!backwards, "rdtsc never goes back on one processor");
    unsigned aux;
    CHECK(__rdtscp(&aux) >= last && CPU_ISSET(aux & 0xfff, &one), "rdtscp");
    __cpuid_count(7, 0, a, b, c, d);
    if (c >> 22 & 1) {
        uint64_t pid;
        __asm__ volatile("rdpid %0" : "=r"(pid));
        CHECK(CPU_ISSET(pid & 0xfff, &one), "rdpid");
    }
    __cpuid(1, a, b, c, d);
    if (c >> 30 & 1) {
        uint64_t value = 0, different = 0, previous = 0;
        unsigned char good;
        for (int i = 0; i < 20; i++) {
            do
                __asm__ volatile("rdrand %0; setc %1" : "=r"(value), "=q"(good)::"cc");
            while (!good);
            different += value != previous;
            previous = value;
        }
        CHECK(different >= 19, "rdrand");
    }
    return finish();
}
