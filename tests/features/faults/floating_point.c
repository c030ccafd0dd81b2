// build: gcc -O1 -frounding-math
// link: -lm
/* SIGFPE: integer division, and unmasked SSE and x87 exceptions with their si_code; repaired by the handler or left. */
#include "check.h"
#include <fenv.h>
#include <setjmp.h>
static sigjmp_buf back;
static volatile int code;
static int in_place;
static unsigned status;
static void note(int n, siginfo_t *i, void *c) {
    (void)n;
    ucontext_t *user = c;
    code = i->si_code;
    in_place = (char *)i->si_addr == (char *)user->uc_mcontext.gregs[REG_RIP];
    status = user->uc_mcontext.fpregs->mxcsr & 0x3f;
    siglongjmp(back, 1);
}
static volatile double zero, one = 1, large = 1e300, tiny = 1e-300;
static volatile long double long_one = 1;
static volatile int integer_zero;
static void division(void) { one = one / zero; }
static void invalid(void) { one = zero / zero; }
static void over(void) { one = large * large; }
static void under(void) { one = tiny * tiny; }
static void inexact(void) { one = 1.0 / 3.0 * large; }
static void x87(void) { long_one = long_one / (long double)zero; __asm__ volatile("fwait"); }
static void integer(void) { integer_zero = 100 / integer_zero; }
int main(void) {
    handle(SIGFPE, note, 0);
    static const struct { const char *name; void (*body)(void); int enable, code; } cases[] = {
        {"divide by zero", division, FE_DIVBYZERO, FPE_FLTDIV}, {"invalid", invalid, FE_INVALID, FPE_FLTINV},
        {"overflow", over, FE_OVERFLOW, FPE_FLTOVF}, {"underflow", under, FE_UNDERFLOW, FPE_FLTUND},
        {"x87 divide by zero", x87, FE_DIVBYZERO, FPE_FLTDIV}, {"integer", integer, 0, FPE_INTDIV}};
    for (volatile unsigned k = 0; k < sizeof cases / sizeof *cases; k++)
        for (volatile int repeat = 0; repeat < 20; repeat++) {
            code = 0;
            one = 1;
            integer_zero = 0;
            if (sigsetjmp(back, 1) == 0) {
                feclearexcept(FE_ALL_EXCEPT);
                feenableexcept(cases[k].enable);
                cases[k].body();
            }
            fesetenv(FE_DFL_ENV);
            if (repeat == 19)
                CHECK(code == cases[k].code && in_place, "%s: code %d, address is the instruction's, status %x", cases[k].name, code, status);
        }
    one = 1;
    feclearexcept(FE_ALL_EXCEPT);
    inexact();
    CHECK(fetestexcept(FE_INEXACT), "masked exceptions set their flag only");
    return finish();
}
