// build: gcc -O1
/* Endless recursion: the handler on the alternate stack sees an address near the stack's limit; leaves by siglongjmp,
   three times; in a thread with its guard page too. */
// link: -pthread
#include "check.h"
#include <pthread.h>
#include <setjmp.h>
static _Thread_local sigjmp_buf back;
static _Thread_local long distance;
static _Thread_local char *top;
static void note(int n, siginfo_t *i, void *c) {
    (void)n, (void)c;
    distance = top - (char *)i->si_addr;
    siglongjmp(back, 1);
}
__attribute__((noinline, optimize("no-optimize-sibling-calls"))) static int recurse(volatile char *p) {
    volatile char room[2000];
    room[0] = *p;
    return recurse(room) + room[1];
}
static void *body(void *size) {
    static _Thread_local char stack[65536];
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    top = __builtin_frame_address(0);
    for (volatile int i = 0; i < 3; i++) {
        char c = 0;
        if (!sigsetjmp(back, 1))
            recurse(&c);
        long limit = (long)size;
        CHECK(distance > limit / 2 && distance < limit + limit / 8, "overflow near the limit of %ld KiB", limit / 1024);
    }
    return NULL;
}
int main(void) {
    handle(SIGSEGV, note, SA_ONSTACK);
    struct rlimit limit;
    getrlimit(RLIMIT_STACK, &limit);
    if (limit.rlim_cur != 8 << 20)
        skip("the stack limit is not 8 MiB");
    body((void *)(8l << 20));
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 20);
    pthread_t thread;
    pthread_create(&thread, &attributes, body, (void *)(1l << 20));
    pthread_join(thread, NULL);
    return finish();
}
