/**
 * @file sonde/client.h
 * For programs that want to talk to the tool that they run under: client requests.
 *
 * A request is a short sequence of instructions that does nothing when the program runs by itself. It is Valgrind's
 * (valgrind.h: __SPECIAL_INSTRUCTION_PREAMBLE), so that programs with Valgrind's macros talk to Sonde's tools too; which
 * requests a tool answers is said on its manual page. Nothing needs to be linked.
 *
 * The sequence is, on x86-64,
 *
 *     rolq $3, %rdi;  rolq $13, %rdi;  rolq $61, %rdi;  rolq $51, %rdi;  xchgq %rbx, %rbx
 *
 * with %rax pointing to six 64-bit words, the request's number and five arguments, and %rdx holding the answer that is
 * wanted when nobody gives one; the answer is in %rdx afterwards, all other registers are as before.
 */
#ifndef SONDE_CLIENT_H
#define SONDE_CLIENT_H

#include <stdint.h>

/** The number of a request of the tool that is called by two letters, as Valgrind forms them. */
#define SN_REQUEST_NUMBER(first, second, number) \
    (((uint64_t)(first) & 0xff) << 24 | ((uint64_t)(second) & 0xff) << 16 | (uint64_t)(number))

/** What Sonde itself answers, under every tool: numbers of valgrind.h (Vg_ClientRequest), whose macros are named behind them. */
enum {
    SN_REQUEST_RUNNING = 0x1001,       /**< 1, or 0 with --running-on-valgrind=no: RUNNING_ON_VALGRIND */
    SN_REQUEST_DISCARD_CODE = 0x1002,  /**< (address, size): VALGRIND_DISCARD_TRANSLATIONS */
    SN_REQUEST_CALL_0 = 0x1101,        /**< (function): what function(thread) returns: VALGRIND_NON_SIMD_CALL0 */
    SN_REQUEST_CALL_1 = 0x1102,        /**< (function, a): of function(thread, a) */
    SN_REQUEST_CALL_2 = 0x1103,
    SN_REQUEST_CALL_3 = 0x1104,
    SN_REQUEST_COUNT_ERRORS = 0x1201,  /**< how many the tool has found: VALGRIND_COUNT_ERRORS */
    SN_REQUEST_COMMAND = 0x1202,       /**< (text): a word of `sonde control`: 0 if there is one: VALGRIND_MONITOR_COMMAND */
    SN_REQUEST_CHANGE_OPTION = 0x1203, /**< (text): refused with a message: VALGRIND_CLO_CHANGE */
    SN_REQUEST_PRINT_BY_VALUE = 0x1401, SN_REQUEST_PRINT_BACKTRACE_BY_VALUE = 0x1402, /**< older forms of the next two */
    SN_REQUEST_PRINT = 0x1403,         /**< (format, va_list *): characters printed to Sonde's log: VALGRIND_PRINTF */
    SN_REQUEST_PRINT_BACKTRACE = 0x1404,
};

/** Blocks and pools of allocators of the program's own, for tools that follow the heap: valgrind.h, VALGRIND_MALLOCLIKE_BLOCK and
    the like; pools are Memcheck's manual 4.8. */
enum {
    SN_REQUEST_MALLOCLIKE_BLOCK = 0x1301, /**< (address, size, red zone, zeroed) */
    SN_REQUEST_FREELIKE_BLOCK,            /**< (address, red zone) */
    SN_REQUEST_CREATE_MEMPOOL,            /**< (pool, red zone, zeroed, flags) */
    SN_REQUEST_DESTROY_MEMPOOL,           /**< (pool) */
    SN_REQUEST_MEMPOOL_ALLOC,             /**< (pool, address, size) */
    SN_REQUEST_MEMPOOL_FREE,              /**< (pool, address) */
    SN_REQUEST_MEMPOOL_TRIM,              /**< (pool, address, size): what lies outside of this is no more */
    SN_REQUEST_MOVE_MEMPOOL,              /**< (pool, other name) */
    SN_REQUEST_MEMPOOL_CHANGE,            /**< (pool, address, new address, new size) */
    SN_REQUEST_MEMPOOL_EXISTS,            /**< (pool) */
    SN_REQUEST_RESIZEINPLACE_BLOCK,       /**< (address, old size, new size, red zone) */
};

/** The call-graph profiler's requests, for tools that profile: callgrind.h (Vg_CallgrindClientRequest), CALLGRIND_... */
enum {
    SN_REQUEST_DUMP_STATS = 0x43540000, /**< CALLGRIND_DUMP_STATS */
    SN_REQUEST_ZERO_STATS,
    SN_REQUEST_TOGGLE_COLLECT,
    SN_REQUEST_DUMP_STATS_AT,           /**< (text): CALLGRIND_DUMP_STATS_AT */
    SN_REQUEST_START_INSTRUMENTATION,
    SN_REQUEST_STOP_INSTRUMENTATION,
};

/** Requests of the tool heap (docs/heap.md). */
enum {
    SN_REQUEST_HEAP_REPORT = SN_REQUEST_NUMBER('S', 'H', 0), /**< (address): the program's accounting covers this block */
    SN_REQUEST_HEAP_REPORT_ON_ALLOCATION,                    /**< (address): the same, since it was allocated */
    SN_REQUEST_HEAP_CLEAR_REPORTS,                           /**< forget reports, but for those on allocation */
};

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

/** Whether the program runs under Sonde (or Valgrind), and is to know it. */
static inline int sn_client_is_watched(void) { return (int)sn_client_request(0, SN_REQUEST_RUNNING, 0, 0, 0, 0, 0); }

/** Code at [start, start + size) has changed. (Sonde notices by itself; for programs that run under others too.) */
static inline void sn_client_discard_code(const void *start, uint64_t size) {
    sn_client_request(0, SN_REQUEST_DISCARD_CODE, (uint64_t)(uintptr_t)start, size, 0, 0, 0);
}

/** Print to Sonde's log, each line behind the process number; returns how many characters. Nowhere when it runs by itself. */
static inline int __attribute__((format(printf, 1, 2))) sn_client_print(const char *format, ...) {
    __builtin_va_list list;
    __builtin_va_start(list, format);
    int printed = (int)sn_client_request(0, SN_REQUEST_PRINT, (uint64_t)(uintptr_t)format, (uint64_t)(uintptr_t)&list, 0, 0, 0);
    __builtin_va_end(list);
    return printed;
}

/** A word of `sonde control`: "dump", "zero", "on", "off", "status". 0 if there is such a word, or Sonde is not there. */
static inline int sn_client_control(const char *word) {
    return (int)sn_client_request(0, SN_REQUEST_COMMAND, (uint64_t)(uintptr_t)word, 0, 0, 0, 0);
}

/** Say that the program's own accounting covers the block at `address`; sonde heap --mode=dark-matter tells of the others. */
static inline void sn_client_heap_report(const void *address) {
    sn_client_request(0, SN_REQUEST_HEAP_REPORT, (uint64_t)(uintptr_t)address, 0, 0, 0, 0);
}
/** The same right after its allocation, for good. */
static inline void sn_client_heap_report_on_allocation(const void *address) {
    sn_client_request(0, SN_REQUEST_HEAP_REPORT_ON_ALLOCATION, (uint64_t)(uintptr_t)address, 0, 0, 0, 0);
}
/** Accounting begins anew. */
static inline void sn_client_heap_clear_reports(void) { sn_client_request(0, SN_REQUEST_HEAP_CLEAR_REPORTS, 0, 0, 0, 0, 0); }

/** What a profiler is asked for: SN_REQUEST_DUMP_STATS and the ones behind it. */
static inline void sn_client_profile(uint64_t request) { sn_client_request(0, request, 0, 0, 0, 0, 0); }

#endif
