// build: gcc -O1
/* An asynchronous signal reaches a loop without memory access, call or exit (jmp to itself, and two blocks) soon. */
#include "check.h"
#include <setjmp.h>
#include <sys/time.h>
static sigjmp_buf back;
static void leave(int n, siginfo_t *i, void *c) { (void)n, (void)i, (void)c; siglongjmp(back, 1); }
static void skip_loop(int n, siginfo_t *i, void *c) {
    (void)n, (void)i;
    ucontext_t *user = c;
    extern char loop_start[], loop_end[], loop_out[];
    char *at = (char *)user->uc_mcontext.gregs[REG_RIP];
    if (at >= loop_start && at < loop_end)
        user->uc_mcontext.gregs[REG_RIP] = (long)loop_out;
}
int main(void) {
    for (int kind = 0; kind < 4; kind++) {
        for (int round = 0; round < 30; round++) {
            handle(SIGALRM, kind == 3 ? skip_loop : leave, 0);
            double begin = seconds();
            if (sigsetjmp(back, 1) == 0) {
                setitimer(ITIMER_REAL, &(struct itimerval){{0, 3000}, {0, 3000}}, NULL);
                if (kind == 0)
                    __asm__ volatile("1: jmp 1b");
                else if (kind == 1)
                    __asm__ volatile("1: test %%eax,%%eax; js 2f; jns 1b; 2: jmp 1b" ::: "cc");
                else if (kind == 2)
                    __asm__ volatile("lea 1f(%%rip),%%rax; 1: jmp *%%rax" ::: "rax");
                else
                    __asm__ volatile("loop_start: inc %%rax; jnz loop_start; jmp loop_start; loop_end: nop; loop_out: nop" ::: "rax", "cc");
            }
            setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
            if (seconds() - begin > 2)
                CHECK(0, "kind %d: left within two seconds", kind);
        }
        CHECK(1, "left 30 times, kind %d", kind);
    }
    return finish();
}
