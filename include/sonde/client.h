/**
 * @file sonde/client.h
 * For programs that want to talk to the tool that they run under: client requests.
 *
 * A request is a short sequence of instructions that does nothing when the program runs by itself. It is Valgrind's
 * (valgrind.h: __SPECIAL_INSTRUCTION_PREAMBLE), so that programs with Valgrind's macros talk to Sonde's tools too; which
 * requests a tool answers is said on its manual page. Nothing needs to be linked.
 */
#ifndef SONDE_CLIENT_H
#define SONDE_CLIENT_H

#include <stdint.h>

/** The number of a request of the tool that is called by two letters, as Valgrind forms them. */
#define SN_REQUEST_NUMBER(first, second, number) \
    (((uint64_t)(first) & 0xff) << 24 | ((uint64_t)(second) & 0xff) << 16 | (uint64_t)(number))

/**
 * Make request `number` with five arguments; returns what the tool answers, or `otherwise` when there is no tool or it does
 * not know the request.
 */
static inline uint64_t sn_client_request(uint64_t otherwise, uint64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                                         uint64_t e) {
#if defined(__x86_64__)
    volatile uint64_t arguments[6] = {number, a, b, c, d, e};
    uint64_t result = otherwise;
    __asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\txchgq %%rbx, %%rbx"
                     : "+d"(result)
                     : "a"(&arguments[0])
                     : "cc", "memory");
    return result;
#else
    (void)number, (void)a, (void)b, (void)c, (void)d, (void)e;
    return otherwise;
#endif
}

#endif
