/**
 * @fileoverview One line of a trace as Valgrind's Lackey prints it with --trace-mem=yes.
 *
 * For the tool's own text and for `sonde report`. Written by hand: a trace has as many lines as a program has accesses.
 */
#ifndef SONDE_TOOLS_MEMTRACE_LINES_H
#define SONDE_TOOLS_MEMTRACE_LINES_H

#include <stdint.h>

enum { MEMTRACE_LONGEST_LINE = 64 };

static inline char *memtrace_put_digits(char *to, uint64_t number, unsigned base, unsigned least) {
    char digits[24];
    unsigned count = 0;
    for (; number || count < least; number /= base)
        digits[count++] = "0123456789abcdef"[number % base];
    while (count)
        *to++ = digits[--count];
    return to;
}

/** `kind` is MEMTRACE_FETCH, _LOAD, _STORE or _MODIFY. Returns the end of the line; no zero byte is put behind it. */
static inline char *memtrace_put_line(char *to, unsigned kind, uint64_t address, uint64_t size) {
    static const char letters[4][3] = {{'I', ' ', ' '}, {' ', 'L', ' '}, {' ', 'S', ' '}, {' ', 'M', ' '}};
    for (unsigned i = 0; i < 3; i++)
        *to++ = letters[kind & 3][i];
    to = memtrace_put_digits(to, address, 16, 8);
    *to++ = ',';
    to = memtrace_put_digits(to, size, 10, 1);
    *to++ = '\n';
    return to;
}

/** What precedes the lines of a thread when those before were another's: no line that Lackey's readers look at. */
static inline char *memtrace_put_thread_line(char *to, uint32_t thread) {
    *to++ = '=';
    *to++ = '=';
    to = memtrace_put_digits(to, thread, 10, 1);
    *to++ = '=';
    *to++ = '=';
    *to++ = '\n';
    return to;
}

#endif
