/**
 * @fileoverview Functions that begin with registers which have no value: overwritten before anybody reads them, or not. memcheck's
 * code for defined data may run for the first ones all the same.
 */
#include <stdio.h>
#include <stdlib.h>

#define FUNCTION(name, text)                                                                                            \
    __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" text "\n1: ret\n.size " #name ", . - " #name); \
    long name(void)

/* Silent: what had no value is written as a whole. */
FUNCTION(whole, "mov $1, %eax\n test %eax, %eax\n jz 1f");
FUNCTION(zeroed, "pxor %xmm0, %xmm0\n movq %xmm0, %rax\n test %rax, %rax\n jz 1f");
FUNCTION(loaded, "movups (%rdi), %xmm0\n movq %xmm0, %rax\n test %rax, %rax\n jz 1f");
FUNCTION(copied, "movups (%rdi), %xmm0\n movups %xmm0, (%rdi)\n movhlps %xmm0, %xmm0\n movq %xmm0, %rax\n test %rax, %rax\n jz 1f");

/* Reported: some of it is left. */
FUNCTION(part, "movb $0, %al\n test %eax, %eax\n jz 1f");
FUNCTION(read_first, "add $1, %eax\n test %eax, %eax\n jz 1f");
FUNCTION(one_way_only, "test %rcx, %rcx\n jz 2f\n mov $1, %eax\n 2: test %eax, %eax\n jz 1f");
FUNCTION(if_moved, "mov $1, %edx\n cmp $1, %rcx\n cmove %edx, %eax\n test %eax, %eax\n jz 1f");
FUNCTION(high_half, "movlps (%rdi), %xmm0\n movhlps %xmm0, %xmm1\n movq %xmm1, %rax\n test %rax, %rax\n jz 1f");
FUNCTION(upper_half, "movups (%rdi), %xmm0\n vextractf128 $1, %ymm0, %xmm1\n vmovq %xmm1, %rax\n test %rax, %rax\n jz 1f");

/** Call a function with %rax, and %xmm0 or all of %ymm0, of what `junk` points to, 0 in %rcx and some defined memory at %rdi. */
static void call(long (*function)(void), const long *junk, int has_avx) {
    static long memory[4] = {1, 2, 3, 4};
    register long (*target)(void) __asm__("r11") = function;
    if (has_avx) __asm__ volatile("vmovups (%0), %%ymm0" : : "r"(junk) : "xmm0");
    else __asm__ volatile("movups (%0), %%xmm0" : : "r"(junk) : "xmm0");
    __asm__ volatile("mov (%[junk]), %%rax\n xor %%ecx, %%ecx\n call *%[target]"
                     : : [junk] "b"(junk), [target] "r"(target), "D"(memory) : "rax", "rcx", "rdx", "xmm0", "xmm1", "memory", "cc");
}

int main(void) {
    long *junk = malloc(4 * sizeof *junk);
    int has_avx = __builtin_cpu_supports("avx") != 0;
    long (*const functions[])(void) = {whole, zeroed, loaded, copied, part, read_first, one_way_only, if_moved, high_half};
    __asm__ volatile("" : : "r"(junk) : "memory");
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < sizeof functions / sizeof *functions; i++) call(functions[i], junk, has_avx);
        if (has_avx) call(upper_half, junk, has_avx);
    }
    puts(has_avx ? "avx" : "sse");
    free(junk);
    return 0;
}
