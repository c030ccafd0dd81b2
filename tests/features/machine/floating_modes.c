// build: gcc -O1 -frounding-math -fno-tree-vectorize
// link: -lm
/* MXCSR and x87 modes: four rounding directions, flush to zero, denormals are zero, precision control, sticky flags; x87
   stack order, transcendental results, fnstenv, fnsave/frstor, fxsave, xsave/xrstor by hand with masks, mmx. */
#include "check.h"
#include <fenv.h>
#include <immintrin.h>
static volatile double third = 3, one = 1, tiny = 1e-310;
static volatile long double long_third = 3, long_one = 1;
static unsigned char area[8192] __attribute__((aligned(64))), second[8192] __attribute__((aligned(64)));
__attribute__((target("xsave"))) static void extended(void) {
    /* set xmm3 and st0, save all, destroy, restore */
    uint64_t got[2];
    long double st;
    __asm__ volatile("mov $0x1122334455667788,%%rax; movq %%rax,%%xmm3; fninit; fldpi; mov $7,%%eax; xor %%edx,%%edx; xsave (%2); pxor %%xmm3,%%xmm3; fstp %%st(0); fld1; mov $7,%%eax; xor %%edx,%%edx; xrstor (%2); movups %%xmm3,%0; fstpt %1"
                     : "=m"(got), "=m"(st) : "r"(area) : "rax", "rdx", "xmm3", "memory");
    CHECK(got[0] == 0x1122334455667788 && st > 3.14159L && st < 3.1416L, "xsave and xrstor");
    __asm__ volatile("mov $0x99,%%eax; movq %%rax,%%xmm3; fninit; fld1; mov $1,%%eax; xor %%edx,%%edx; xrstor (%2); movups %%xmm3,%0; fstpt %1" : "=m"(got), "=m"(st) : "r"(area) : "rax", "rdx", "xmm3", "memory");
    CHECK(got[0] == 0x99 && st > 3.14159L, "xrstor of x87 only leaves xmm3");
    memset(second, 0, sizeof second);
    __asm__ volatile("fninit; fldl2e; fxsave64 (%0); fninit; fxrstor64 (%0); fstpt (%1)" ::"r"(second), "r"(&st) : "memory");
    CHECK(st > 1.4426L && st < 1.4427L, "fxsave and fxrstor");
    CHECK(*(uint16_t *)second == 0x37f && *(uint32_t *)(second + 24) == 0x1f80, "fxsave control words");
}
int main(void) {
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (int i = 0; i < 4; i++) {
        fesetround(modes[i]);
        volatile double up = one / third, down = -one / third;
        volatile long double wide = long_one / long_third;
        volatile int rounded = (int)__builtin_lrint(2.5 + (i == 0)), negative = (int)__builtin_lrint(-2.5);
        fesetround(FE_TONEAREST);
        say("mode %d: %a %a %La %d %d", i, up, down, wide, rounded, negative);
    }
    unsigned mxcsr = _mm_getcsr();
    _mm_setcsr(mxcsr | 0x8000);
    volatile double flushed = 1e-300 * one * 1e-10;
    _mm_setcsr(mxcsr | 0x40);
    volatile double zero = tiny * 1e10;
    _mm_setcsr(mxcsr & ~0x3fu);
    CHECK(zero == 0, "denormals are zero");
    say("flushed %a", flushed);
    volatile double inexact = one / third;
    CHECK((_mm_getcsr() & 0x20) && inexact > 0, "sticky inexact");
    _mm_setcsr(0x1f80);
    for (unsigned control = 0x007f; control <= 0x037f; control += 0x100) {
        long double result;
        uint16_t word = (uint16_t)control, back;
        __asm__ volatile("fninit; fldcw %2; fld1; fldl %3; fdivrp; fstcw %1; fninit; fstpt %0" : "=m"(result), "=m"(back) : "m"(word), "m"(third));
        __asm__ volatile("fninit; fldcw %1; fldl %2; fld1; fdivp; fninit; fldcw %1; fldl %2; fld1; fdivp; fstpt %0; fninit" : "=m"(result) : "m"(word), "m"(third));
        say("precision %x: %La, control word %x", control, result, back);
    }
    double list[4] = {0};
    __asm__ volatile("fninit; fldpi; fsin; fstpl %0; fld1; fld1; fpatan; fstpl %1; fldln2; fldl %4; fyl2x; fstpl %2; fldpi; fldl2e; fxch; fsubp; fstpl %3" : "=m"(list[0]), "=m"(list[1]), "=m"(list[2]), "=m"(list[3]) : "m"(third));
    CHECK(list[1] > 0.7853981 && list[1] < 0.7853982, "atan");
    say("x87: %a %a %a %a", list[0], list[1], list[2], list[3]);
    uint16_t status, tag[14];
    __asm__ volatile("fninit; fld1; fldz; fcomp; fnstsw %0; fnstenv %1; fninit" : "=m"(status), "=m"(tag));
    CHECK((status & 0x4500) == 0x0100 && tag[4] == 0x3fff, "comparison, tags %x status %x", tag[4], status & 0x4700);
    int cmp = 0;
    __asm__ volatile("fninit; fld1; fldpi; fcomip %%st(1),%%st; seta %b0; fstp %%st(0)" : "+q"(cmp)::"cc");
    CHECK_EQUAL(cmp, 1, "fcomip");
    uint64_t mmx;
    __asm__ volatile("mov $0x0001000200030004,%%rax; movq %%rax,%%mm0; paddw %%mm0,%%mm0; pmullw %%mm0,%%mm0; movq %%mm0,%0; emms" : "=r"(mmx)::"rax", "mm0");
    CHECK(mmx == 0x0004001000240040, "mmx");
    if (__builtin_cpu_supports("avx"))
        extended();
    return finish();
}
