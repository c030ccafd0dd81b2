/**
 * @fileoverview References of every kind that the tool `cache` treats in a way of its own: repeated string instructions,
 * pushes, read-modify-writes, references that span lines, processor state, gathers. For tests/test_cache.py.
 */
#include "freestanding.h"

static uint8_t memory[1 << 16] __attribute__((aligned(4096)));

#define REPEAT(what, count, to, from)                                                                                 \
    do {                                                                                                              \
        uint64_t left = (count);                                                                                      \
        void *target = (to), *source = (from);                                                                        \
        __asm__ volatile("xor %%eax, %%eax\n\t" what                                                                  \
                         : "+c"(left), "+D"(target), "+S"(source)                                                     \
                         :                                                                                            \
                         : "rax", "memory", "cc");                                                                    \
    } while (0)

static void strings(void) {
    for (unsigned round = 0; round < 20; round++) {
        REPEAT("rep movsb", 700 + round, memory + 5000 + round, memory + 63);
        REPEAT("rep stosq", 90, memory + 9 * round, memory);
        REPEAT("repe cmpsw", 500, memory + 20000, memory + 30000);
        REPEAT("repne scasb", 300, memory + 12345, memory);
        REPEAT("rep movsb", 0, memory, memory);
        REPEAT("movsl\n\tlodsw\n\tstosb", 1, memory + 62, memory + 127);
    }
}

static void stacks(void) {
    for (unsigned round = 0; round < 50; round++)
        __asm__ volatile("push %%rax\n\tpush (%0)\n\tpop 8(%0)\n\tpop %%rax\n\tcall 1f\n\tjmp 2f\n"
                         "1:\tadd %%rax, 62(%0)\n\tlock incl 126(%0)\n\txchg %%rcx, 190(%0)\n\tret\n2:\n"
                         :
                         : "r"(memory + 64 * round)
                         : "rax", "rcx", "memory", "cc");
}

/** Same address again, with and without a change of a register between: what the tool concludes while translating. */
static void repeated(void) {
    for (unsigned round = 0; round < 100; round++)
        __asm__ volatile("mov (%0), %%rax\n\tadd $1, %%rax\n\tmov %%rax, (%0)\n\tmov %%eax, (%0)\n\t"
                         "mov (%0), %%rcx\n\tlea 4096(%0), %%rcx\n\tmov (%%rcx), %%rax\n\tlea 4096(%%rcx), %%rcx\n\t"
                         "mov (%%rcx), %%rax\n\tmov (%0), %%rax\n\tmov 60(%0), %%eax\n\tmov 60(%0), %%rax\n\t"
                         "mov 60(%0), %%rdx\n\tmov (%0), %%dl\n\tmov 64(%0), %%rax\n"
                         :
                         : "r"(memory + 40 * round)
                         : "rax", "rcx", "rdx", "memory", "cc");
}

static void states(void) {
    for (unsigned round = 0; round < 10; round++)
        __asm__ volatile("fxsave64 (%0)\n\tfxrstor64 (%0)\n\tprefetcht0 8192(%0)\n\tmovups 56(%0), %%xmm0\n\t"
                         "movups %%xmm0, 120(%0)\n\tclflush 64(%0)\n"
                         :
                         : "r"(memory + 1024 * round)
                         : "memory", "xmm0");
}

#ifdef __AVX2__
static void gathers(void) {
    for (unsigned round = 0; round < 30; round++)
        __asm__ volatile("vpcmpeqd %%ymm1, %%ymm1, %%ymm1\n\tvpxor %%ymm2, %%ymm2, %%ymm2\n\t"
                         "vmovdqu (%1), %%ymm2\n\tvpsrld $18, %%ymm2, %%ymm2\n\t"
                         "vpgatherdd %%ymm1, (%0,%%ymm2,2), %%ymm3\n\tvpcmpeqd %%ymm1, %%ymm1, %%ymm1\n\t"
                         "vpslld $31, %%ymm1, %%ymm1\n\tvpmaskmovd %%ymm2, %%ymm1, 4000(%0)\n\tvzeroupper\n"
                         :
                         : "r"(memory), "r"(memory + 3000 + 33 * round)
                         : "memory", "xmm1", "xmm2", "xmm3");
}
#else
static void gathers(void) {
}
#endif

int run(void) {
    for (unsigned i = 0; i < sizeof memory; i += 7)
        memory[i] = (uint8_t)(i * 31 + 5);
    strings();
    stacks();
    repeated();
    states();
    gathers();
    return 0;
}
