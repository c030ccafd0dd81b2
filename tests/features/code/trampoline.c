// build: gcc -O1 -z execstack -Wno-trampolines
/* Trampolines on the stack (nested functions whose address is taken, executable stack), at the same address with other
   content in each frame; code in a local array; deep recursion with a trampoline in each frame; qsort with one. */
#include "emit.h"
static long call(long (*f)(long), long x) { return f(x); }
__attribute__((noinline)) static long with(long k) {
    long nested(long x) { return x * k + 1; }
    return call(nested, 10);
}
__attribute__((noinline)) static long recursive(long depth, long (*outer)(long)) {
    long nested(long x) { return x + depth + (outer ? outer(x) : 0); }
    return depth == 0 ? (outer ? outer(1) : 0) : recursive(depth - 1, nested);
}
int main(void) {
    int bad = 0;
    for (long k = 0; k < 10000; k++)
        bad += with(k) != 10 * k + 1;
    CHECK(!bad, "10000 trampolines at one place");
    CHECK_EQUAL(recursive(100, NULL), 5150, "100 trampolines deep");
    long calls = 0;
    int compare(const void *a, const void *b) { calls++; return *(const int *)a - *(const int *)b; }
    int list[500];
    for (int i = 0; i < 500; i++)
        list[i] = (i * 7919) % 500;
    qsort(list, 500, sizeof *list, compare);
    for (int i = 0; i < 500; i++)
        bad += list[i] != i;
    CHECK(!bad && calls > 500, "qsort with a nested function");
    for (int i = 0; i < 2000; i++) {
        unsigned char local[16];
        emit_return(local, i);
        __asm__ volatile("" ::: "memory");
        bad += run(local) != i;
    }
    CHECK(!bad, "code in a local array");
    return finish();
}
