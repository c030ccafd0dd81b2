/**
 * @fileoverview Tiny code writers for the programs in this folder: `mov eax, imm; ret` and calls between functions.
 */
#ifndef FEATURES_EMIT_H
#define FEATURES_EMIT_H
#include "../check.h"
#include <fcntl.h>
#include <sys/mman.h>
typedef int (*function)(void);
/** Six bytes: return `value`. */
static inline void emit_return(unsigned char *at, int value) {
    at[0] = 0xb8;
    memcpy(at + 1, &value, 4);
    at[5] = 0xc3;
}
/** Only the immediate of what emit_return wrote. */
static inline void patch_return(unsigned char *at, int value) { memcpy(at + 1, &value, 4); }
/** Five bytes: call `to`. */
static inline void emit_call(unsigned char *at, const void *to) {
    int distance = (int)((const unsigned char *)to - (at + 5));
    at[0] = 0xe8;
    memcpy(at + 1, &distance, 4);
}
static inline unsigned char *pages(size_t size, int protection) {
    unsigned char *area = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED) {
        say("no memory");
        exit(2);
    }
    return area;
}
static inline int run(const void *code) { return ((function)(uintptr_t)code)(); }
enum { RW = PROT_READ | PROT_WRITE, RX = PROT_READ | PROT_EXEC, RWX = PROT_READ | PROT_WRITE | PROT_EXEC };
#endif
