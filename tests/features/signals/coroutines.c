// heavy: yes
// build: gcc -O1
// variants: dynamic, static
/* getcontext, makecontext and swapcontext between three stacks, 30000 switches; a signal handler on a coroutine's stack;
   setjmp and longjmp between frames, sigsetjmp saving the mask. */
#include "check.h"
#include <setjmp.h>
#include <ucontext.h>
static ucontext_t main_context, contexts[2];
static char stacks[2][65536];
static long sum;
static int handled_inside;
static void note(int n, siginfo_t *i, void *c) {
    (void)n, (void)i, (void)c;
    char *here = __builtin_frame_address(0);
    handled_inside += here > stacks[0] && here < stacks[2];
}
static void body(int which, int rounds) {
    for (int i = 0; i < rounds; i++) {
        sum = sum * 3 + which + i;
        if (i % 1000 == 0)
            raise(SIGUSR1);
        swapcontext(&contexts[which], which ? &main_context : &contexts[1]);
    }
}
static jmp_buf plain;
__attribute__((noinline)) static void deep(int n) {
    volatile char room[100];
    room[0] = (char)n;
    if (n == 0)
        longjmp(plain, 7);
    deep(n - 1);
    room[1] = 0;
}
int main(void) {
    handle(SIGUSR1, note, 0);
    for (int i = 0; i < 2; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = stacks[i];
        contexts[i].uc_stack.ss_size = sizeof stacks[i];
        contexts[i].uc_link = &main_context;
        makecontext(&contexts[i], (void (*)(void))body, 2, i, 10000);
    }
    long wanted = 0;
    for (int i = 0; i < 10000; i++)
        wanted = (wanted * 3 + i) * 3 + 1 + i;
    for (int i = 0; i < 10000; i++)
        swapcontext(&main_context, &contexts[0]);
    CHECK(sum == wanted, "30000 switches: %lx", sum);
    CHECK_EQUAL(handled_inside, 20, "handlers on a coroutine's stack");
    volatile int returned = 0, rounds = 0;
    for (int i = 0; i < 1000; i++)
        if (setjmp(plain) == 0)
            deep(i % 200);
        else
            returned++, rounds = i;
    CHECK(returned == 1000 && rounds == 999, "1000 longjmps");
    sigset_t set;
    sigjmp_buf saving;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    if (sigsetjmp(saving, 1) == 0) {
        sigprocmask(SIG_BLOCK, &set, NULL);
        siglongjmp(saving, 1);
    }
    sigprocmask(SIG_BLOCK, NULL, &set);
    CHECK(!sigismember(&set, SIGUSR2), "siglongjmp restores the mask");
    return finish();
}
