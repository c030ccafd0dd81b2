// heavy: yes
// build: gcc -O1 -pthread
/* Recursion a million frames deep on a large stack, twice, and a longjmp from the bottom to the top. */
#include "check.h"
#include <pthread.h>
#include <setjmp.h>
static jmp_buf top;
__attribute__((noinline)) static long recurse(long n, int jump) {
    if (n == 0) {
        if (jump)
            longjmp(top, 3);
        return 0;
    }
    long below = recurse(n - 1, jump);
    __asm__ volatile("" : "+r"(below));
    return below + 1;
}
static void *body(void *data) {
    CHECK_EQUAL(recurse(1000000, 0), 1000000, "a million frames");
    CHECK_EQUAL(recurse(1000000, 0), 1000000, "again");
    int result = setjmp(top);
    if (result == 0)
        recurse(1000000, 1);
    CHECK_EQUAL(result, 3, "longjmp over a million frames");
    CHECK_EQUAL(recurse(1000, 0), 1000, "and going on");
    return data;
}
int main(void) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 20);
    pthread_t thread;
    if (pthread_create(&thread, &attributes, body, NULL))
        return 2;
    pthread_join(thread, NULL);
    return finish();
}
