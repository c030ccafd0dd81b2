/**
 * @fileoverview Loads of each data type, and stores, by chosen instructions: `values_types FUNCTION [THREADS]`.
 *
 * The function's loop goes over 64 bytes (256 for 64-byte values), which hold elements of which each third is zero and the
 * others are small; in between, the first element is changed. It is called twice from one place. tests/test_values.py knows
 * what the tools have to find in it. The status is 3 when the processor lacks what the function needs.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A loop of `count` times INSTRUCTION, with (%rax) going on by `step`. */
#define LOOP(name, step, count, ...)                                                                      \
    __asm__(".text\n.globl " #name "\n.type " #name ",@function\n" #name ":\n"                           \
            "mov %rdi, %rax\nmov $" #count ", %ecx\n1:\n" __VA_ARGS__ "\nadd $" #step ", %rax\n"         \
            "dec %ecx\njnz 1b\nret\n.size " #name ", .-" #name "\n");                                    \
    void name(void *data, void *target);

LOOP(load_int8, 1, 64, "movzbl (%rax), %edx")
LOOP(load_int16, 2, 32, "movzwl (%rax), %edx")
LOOP(load_int32, 4, 16, "mov (%rax), %edx")
LOOP(load_int64, 8, 8, "mov (%rax), %rdx")
LOOP(load_int128, 16, 4, "paddd (%rax), %xmm0")
LOOP(load_int256, 32, 2, "vpaddd (%rax), %ymm0, %ymm0")
LOOP(load_int512, 64, 4, "vpaddd (%rax), %zmm0, %zmm0")
LOOP(load_single, 4, 16, "addss (%rax), %xmm0")
LOOP(load_single128, 16, 4, "addps (%rax), %xmm0")
LOOP(load_single256, 32, 2, "vaddps (%rax), %ymm0, %ymm0")
LOOP(load_single512, 64, 4, "vaddps (%rax), %zmm0, %zmm0")
LOOP(load_double, 8, 8, "addsd (%rax), %xmm0")
LOOP(load_double128, 16, 4, "addpd (%rax), %xmm0")
LOOP(load_double256, 32, 2, "vaddpd (%rax), %ymm0, %ymm0")
LOOP(load_double512, 64, 4, "vaddpd (%rax), %zmm0, %zmm0")
LOOP(load_half, 2, 32, "vaddsh (%rax), %xmm0, %xmm0")
LOOP(load_half128, 16, 4, "vaddph (%rax), %xmm0, %xmm0")
LOOP(load_half256, 32, 2, "vaddph (%rax), %ymm0, %ymm0")
LOOP(load_half512, 64, 4, "vaddph (%rax), %zmm0, %zmm0")
LOOP(load_extended, 16, 4, "fldt (%rax)\nfstp %st(0)")
LOOP(load_x87_single, 4, 16, "flds (%rax)\nfstp %st(0)")
/* special forms: the mask has every other lane; the gather's indices are 0, 1, 2, 3 */
LOOP(load_masked, 64, 1, "mov $0x5555, %edx\nkmovd %edx, %k1\nvmovdqu32 (%rax), %zmm0{%k1}{z}")
LOOP(load_gathered, 16, 4, "kxnord %k1, %k1, %k1\nvpmovzxbd indices(%rip), %xmm1\nvgatherdps (%rax,%xmm1,4), %xmm0{%k1}")
LOOP(load_string, 64, 1, "mov %ecx, %edx\nmov %rax, %rsi\nmov %rax, %r8\nmov $16, %ecx\nrep lodsl\nmov %edx, %ecx\nmov %r8, %rax")
LOOP(load_atomic, 4, 16, "xor %edx, %edx\nlock xadd %edx, (%rax)")
LOOP(load_across, 8, 8, "mov 4092-64(%rax), %rdx") /* around the end of a page */
__asm__(".data\nindices: .byte 0, 1, 2, 3\n.text");
/* stores: of what is there already, but for the first element in the second call */
LOOP(store_int8, 1, 64, "movb $5, (%rax)")
LOOP(store_int32, 4, 16, "movl $5, (%rax)")
LOOP(store_int64, 8, 8, "movq $5, (%rax)")
LOOP(store_double128, 16, 4, "movapd %xmm7, (%rax)")
LOOP(store_int512, 64, 4, "vmovdqu32 %zmm31, (%rax)")
LOOP(store_string, 64, 1, "mov %ecx, %edx\nmov %rax, %rdi\nmov %rax, %r8\nmov $16, %ecx\nmov $5, %eax\nrep stosl\nmov %edx, %ecx\nmov %r8, %rax")
LOOP(store_masked, 64, 1, "mov $0x5555, %edx\nkmovd %edx, %k1\nvmovdqu32 %zmm31, (%rax){%k1}")
/* stored, read, stored; stored twice */
LOOP(dead_read, 4, 16, "movl $1, (%rax)\nmov (%rax), %edx\nmovl $2, (%rax)")
LOOP(dead_twice, 4, 16, "movl $1, (%rax)\nmovl $2, (%rax)")
LOOP(dead_half, 4, 16, "movl $1, (%rax)\nmovzwl (%rax), %edx\nmovl $2, (%rax)")

enum { INTEGER, SINGLE, DOUBLE, HALF, EXTENDED };

static const struct {
    const char *name;
    void (*function)(void *, void *);
    int element, kind;
    const char *needs;
} functions[] = {
    {"load_int8", load_int8, 1, INTEGER, ""}, {"load_int16", load_int16, 2, INTEGER, ""},
    {"load_int32", load_int32, 4, INTEGER, ""}, {"load_int64", load_int64, 8, INTEGER, ""},
    {"load_int128", load_int128, 4, INTEGER, ""}, {"load_int256", load_int256, 4, INTEGER, "avx2"},
    {"load_int512", load_int512, 4, INTEGER, "avx512"}, {"load_single", load_single, 4, SINGLE, ""},
    {"load_single128", load_single128, 4, SINGLE, ""}, {"load_single256", load_single256, 4, SINGLE, "avx2"},
    {"load_single512", load_single512, 4, SINGLE, "avx512"}, {"load_double", load_double, 8, DOUBLE, ""},
    {"load_double128", load_double128, 8, DOUBLE, ""}, {"load_double256", load_double256, 8, DOUBLE, "avx2"},
    {"load_double512", load_double512, 8, DOUBLE, "avx512"}, {"load_half", load_half, 2, HALF, "fp16"},
    {"load_half128", load_half128, 2, HALF, "fp16"}, {"load_half256", load_half256, 2, HALF, "fp16"},
    {"load_half512", load_half512, 2, HALF, "fp16"}, {"load_extended", load_extended, 16, EXTENDED, ""},
    {"load_x87_single", load_x87_single, 4, SINGLE, ""}, {"load_masked", load_masked, 4, INTEGER, "avx512"},
    {"load_gathered", load_gathered, 4, SINGLE, "avx512"}, {"load_string", load_string, 4, INTEGER, ""},
    {"load_atomic", load_atomic, 4, INTEGER, ""}, {"load_across", load_across, 8, INTEGER, ""},
    {"store_int8", store_int8, 1, INTEGER, ""}, {"store_int32", store_int32, 4, INTEGER, ""},
    {"store_int64", store_int64, 8, INTEGER, ""}, {"store_double128", store_double128, 8, DOUBLE, ""},
    {"store_int512", store_int512, 4, INTEGER, "avx512"}, {"store_string", store_string, 4, INTEGER, ""},
    {"store_masked", store_masked, 4, INTEGER, "avx512"}, {"dead_read", dead_read, 4, INTEGER, ""},
    {"dead_twice", dead_twice, 4, INTEGER, ""}, {"dead_half", dead_half, 4, INTEGER, ""},
};

static int has(const char *what) {
    unsigned level7, ignored, edx;
    __asm__("cpuid" : "=a"(ignored), "=b"(level7), "=c"(ignored), "=d"(edx) : "a"(7), "c"(0));
    if (!strcmp(what, "avx2")) return __builtin_cpu_supports("avx2");
    if (!strcmp(what, "avx512")) return __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
    return !strcmp(what, "fp16") ? __builtin_cpu_supports("avx512vl") && (edx >> 23 & 1) : 1;
}

enum { DATA = 16384, MOST_THREADS = 8 };
static unsigned char data[MOST_THREADS][DATA] __attribute__((aligned(4096)));
static size_t chosen;

static void put(unsigned char *to, int kind, int size, int place, int number) {
    double wide = number;
    float single = (float)number;
    long double extended = number;
    uint16_t half = number == 1 ? 0x3c00 : number == 2 ? 0x4000 : number == 7 ? 0x4700 : 0;
    int64_t integer = number;
    const void *from[] = {&integer, &single, &wide, &half, &extended};
    memcpy(to + (long)place * size, from[kind], kind == EXTENDED ? 10 : (size_t)size);
}

static void *run(void *its) {
    int size = functions[chosen].element, kind = functions[chosen].kind;
    for (int k = 0; k < DATA / size; k++) put(its, kind, size, k, k % 3);
    for (int call = 0; call < 2; call++) {
        functions[chosen].function(its, its);
        put(its, kind, size, 0, 7);
        put(its, kind, size, (4096 - 4 + size - 1) / size, 7);
    }
    return NULL;
}

int main(int count, char **arguments) {
    int threads = count > 2 ? atoi(arguments[2]) : 1;
    pthread_t started[MOST_THREADS];
    size_t known = sizeof functions / sizeof *functions;
    while (chosen < known && count > 1 && strcmp(functions[chosen].name, arguments[1])) chosen++;
    if (chosen == known || threads < 1 || threads > MOST_THREADS) return 2;
    if (!has(functions[chosen].needs)) return 3;
    for (int i = 1; i < threads; i++)
        if (pthread_create(&started[i], NULL, run, data[i])) return 1;
    run(data[0]);
    for (int i = 1; i < threads; i++) pthread_join(started[i], NULL);
    return 0;
}
