// build: gcc -O1
/* A handler that overwrites all vector registers (AVX-512, mask registers, x87) does not disturb the interrupted code. */
#include "check.h"
#include <cpuid.h>
__attribute__((target("avx512f,avx512bw"))) static void dirty(int n, siginfo_t *i, void *c) {
    (void)n, (void)i, (void)c;
    __asm__ volatile("vpternlogd $255,%%zmm0,%%zmm0,%%zmm0; vmovdqa64 %%zmm0,%%zmm1; vmovdqa64 %%zmm0,%%zmm9; vmovdqa64 %%zmm0,%%zmm16; vmovdqa64 %%zmm0,%%zmm31;"
                     "kxnorq %%k1,%%k1,%%k1; kmovq %%k1,%%k7; fninit; fld1; fld1; fld1" ::: "xmm0", "xmm1", "xmm9", "xmm16", "xmm31", "k1", "k7");
}
__attribute__((target("avx512f,avx512bw"))) static int run(void) {
    handle(SIGUSR1, dirty, 0);
    static uint64_t in[8 * 5] __attribute__((aligned(64))), out[8 * 5] __attribute__((aligned(64)));
    for (int i = 0; i < 40; i++)
        in[i] = 0x0101010101010101ull * (unsigned)(i + 1);
    int good = 1;
    for (int round = 0; round < 50; round++) {
        uint64_t k1, k7;
        long double x87 = 0;
        long number = SYS_tgkill;
        __asm__ volatile("vmovdqa64 (%[in]),%%zmm0; vmovdqa64 64(%[in]),%%zmm1; vmovdqa64 128(%[in]),%%zmm9; vmovdqa64 192(%[in]),%%zmm16; vmovdqa64 256(%[in]),%%zmm31;"
                         "kmovq (%[in]),%%k1; kmovq 8(%[in]),%%k7; fldpi; syscall; fstpt %[x87];"
                         "vmovdqa64 %%zmm0,(%[out]); vmovdqa64 %%zmm1,64(%[out]); vmovdqa64 %%zmm9,128(%[out]); vmovdqa64 %%zmm16,192(%[out]); vmovdqa64 %%zmm31,256(%[out]); kmovq %%k1,%[k1]; kmovq %%k7,%[k7]; vzeroupper"
                         : "+a"(number), [k1] "=&r"(k1), [k7] "=&r"(k7), [x87] "=m"(x87)
                         : [in] "r"(in), [out] "r"(out), "D"(getpid()), "S"(gettid()), "d"(SIGUSR1)
                         : "rcx", "r11", "memory", "xmm0", "xmm1", "xmm9", "xmm16", "xmm31", "k1", "k7");
        good &= !memcmp(in, out, sizeof in) && k1 == in[0] && k7 == in[1] && x87 > 3.14159265L && x87 < 3.14159266L;
    }
    CHECK(good, "zmm0, 1, 9, 16, 31, k1, k7 and st0 after 50 handlers");
    return finish();
}
int main(void) {
    if (!__builtin_cpu_supports("avx512bw"))
        skip("no AVX-512");
    return run();
}
