/**
 * @fileoverview System calls without libc: no errno, no thread-local storage, no cancellation point.
 *
 * Engine code runs on threads that libc does not know, and makes mappings on behalf of the client; both need calls that
 * touch nothing but the kernel. Used by every layer; owns nothing.
 */
#ifndef SONDE_BASE_X86_64_RAW_SYSCALL_H
#define SONDE_BASE_X86_64_RAW_SYSCALL_H

#include <stdbool.h>

/** The call proper; use sn_syscall. */
static inline long sn_syscall6(long number, long a, long b, long c, long d, long e, long f) {
    long result;
    register long fourth __asm__("r10") = d;
    register long fifth __asm__("r8") = e;
    register long sixth __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    return result;
}

#define SN_SYSCALL_7(n, a, b, c, d, e, f, ...) \
    sn_syscall6((long)(n), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/** sn_syscall(number, up to six arguments): the kernel's result, -errno on failure. */
#define sn_syscall(...) SN_SYSCALL_7(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

/** Whether a result of sn_syscall is an error. */
static inline bool sn_syscall_failed(long result) {
    return (unsigned long)result >= (unsigned long)-4095L;
}

#endif
