/**
 * @fileoverview Accesses of several kinds to one address that belongs to nobody, given as an argument; each faults, and the next one is
 * made.
 */
#include <immintrin.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static sigjmp_buf back;
static void leave(int number) { siglongjmp(back, number); }

__attribute__((noinline)) static void read_one(volatile char *at) { (void)*at; }                      /* line: read_one */
__attribute__((noinline)) static void write_eight(volatile long *at) { *at = 1; }                     /* line: write_eight */
__attribute__((noinline)) static void add_four(int *at) { __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST); } /* line: add_four */
__attribute__((noinline)) static void write_sixteen(void *at) {
    __asm__ volatile("movdqu %%xmm0, %0" : "=m"(*(char(*)[16])at)); /* line: write_sixteen */
}
__attribute__((noinline)) static void copy_there(void *at) {
    char from[40] = {0};
    const void *source = from;
    unsigned long left = sizeof from;
    __asm__ volatile("rep movsb" : "+D"(at), "+S"(source), "+c"(left) : : "memory"); /* line: copy_there */
}

#define TRY(call)                   \
    if (sigsetjmp(back, 1) == 0) {  \
        call;                       \
    }

int main(int count, char **words) {
    void *at = (void *)strtoull(words[count - 1], NULL, 0);
    signal(SIGSEGV, leave);
    TRY(read_one(at))
    TRY(write_eight(at))
    TRY(add_four(at))
    TRY(write_sixteen(at))
    TRY(copy_there(at))
    return 3;
}
