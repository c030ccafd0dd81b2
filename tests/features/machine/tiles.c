// build: gcc -O1 -mamx-tile -mamx-int8
/* AMX: permission by arch_prctl, a tile product against scalar code, the tiles survive a system call and a handler. */
#include "check.h"
#include <cpuid.h>
#include <immintrin.h>
static void note(int n, siginfo_t *i, void *c) { (void)n, (void)i, (void)c; }
int main(void) {
    unsigned a, b, c, d;
    __cpuid_count(7, 0, a, b, c, d);
    if (!(d >> 24 & 1) || !(d >> 25 & 1))
        skip("no AMX");
    unsigned long bits = 0;
    if (syscall(SYS_arch_prctl, 0x1023 /* ARCH_REQ_XCOMP_PERM */, 18))
        skip("the kernel gives no permission");
    CHECK(syscall(SYS_arch_prctl, 0x1022 /* ARCH_GET_XCOMP_PERM */, &bits) == 0 && (bits >> 18 & 1), "permission granted");
    struct { uint8_t palette, row, reserved[14]; uint16_t columns[16]; uint8_t rows[16]; } config __attribute__((aligned(64))) = {.palette = 1};
    for (int t = 0; t < 3; t++)
        config.columns[t] = 64, config.rows[t] = 16;
    static int8_t left[16][64] __attribute__((aligned(64))), right[16][64] __attribute__((aligned(64)));
    static int32_t result[16][16] __attribute__((aligned(64)));
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 64; j++)
            left[i][j] = (int8_t)(i * 3 + j), right[i][j] = (int8_t)(j * 5 - i);
    handle(SIGUSR1, note, 0);
    _tile_loadconfig(&config);
    _tile_zero(0);
    _tile_loadd(1, left, 64);
    _tile_loadd(2, right, 64);
    syscall(SYS_getppid);
    raise(SIGUSR1);
    _tile_dpbssd(0, 1, 2);
    _tile_stored(0, result, 64);
    _tile_release();
    int bad = 0;
    for (int m = 0; m < 16; m++)
        for (int n = 0; n < 16; n++) {
            int sum = 0;
            for (int k = 0; k < 64; k++)
                sum += left[m][k] * right[k / 4][n * 4 + k % 4];
            bad += sum != result[m][n];
        }
    CHECK(!bad, "16 x 64 x 16 product of bytes");
    return finish();
}
