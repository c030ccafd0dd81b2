/**
 * @fileoverview A program's beginning and end without a C library, so that what it executes is decided by it alone.
 *
 * Included by the count_*.c programs, which define `int run(void)`. Its result is the exit status.
 */
#ifndef SONDE_TESTS_PROGRAMS_FREESTANDING_H
#define SONDE_TESTS_PROGRAMS_FREESTANDING_H

#include <stddef.h>
#include <stdint.h>

int run(void);

static inline long system_call(long number, long first, long second, long third) {
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(first), "S"(second), "d"(third)
                     : "rcx", "r11", "memory");
    return result;
}

__attribute__((noreturn, used)) static void run_and_exit(void) {
    system_call(231, run(), 0, 0);
    __builtin_unreachable();
}

__asm__(".globl _start\n_start:\n\txor %ebp, %ebp\n\tand $-16, %rsp\n\tcall run_and_exit\n\tud2\n");

#endif
