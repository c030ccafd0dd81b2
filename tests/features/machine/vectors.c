// build: gcc -O2
/* Results of vector extensions against scalar code: AVX2, FMA, BMI, AES, SHA, GFNI, PCLMUL, AVX-512 (masks, gather, scatter,
   compress, VL forms, embedded rounding and broadcast); absent ones are left out, the same natively and under Sonde. */
#include "check.h"
#include <immintrin.h>
static uint64_t seed = 88172645463325252ull;
static uint64_t next(void) { return seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17; }
static uint64_t hash(const void *data, size_t size) {
    const unsigned char *p = data;
    uint64_t h = 1469598103934665603ull;
    while (size--)
        h = (h ^ *p++) * 1099511628211ull;
    return h;
}
__attribute__((target("avx2,fma"))) static void avx2(void) {
    int a[64], b[64], sum[64], gathered[8], bad = 0;
    for (int i = 0; i < 64; i++)
        a[i] = (int)next(), b[i] = (int)next();
    for (int i = 0; i < 64; i += 8)
        _mm256_storeu_si256((__m256i *)(sum + i), _mm256_add_epi32(_mm256_loadu_si256((__m256i *)(a + i)), _mm256_mullo_epi32(_mm256_loadu_si256((__m256i *)(b + i)), _mm256_set1_epi32(3))));
    for (int i = 0; i < 64; i++)
        bad += sum[i] != (int)((unsigned)a[i] + (unsigned)b[i] * 3);
    __m256i index = _mm256_setr_epi32(5, 60, 1, 33, 7, 7, 0, 63);
    _mm256_storeu_si256((__m256i *)gathered, _mm256_i32gather_epi32(a, index, 4));
    bad += gathered[0] != a[5] || gathered[3] != a[33] || gathered[7] != a[63];
    CHECK(!bad, "AVX2: add, multiply, gather");
    double out[4];
    _mm256_storeu_pd(out, _mm256_fmadd_pd(_mm256_set_pd(1e16, 3, 0.1, 7), _mm256_set_pd(1.0000000000000002, 5, 10, 9), _mm256_set_pd(-1e16, 1, -1, 2)));
    CHECK(out[0] == 65 && out[1] == __builtin_fma(0.1, 10, -1) && out[2] == 16 && out[3] == __builtin_fma(1e16, 1.0000000000000002, -1e16), "FMA: one rounding, %a %a", out[1], out[3]);
    _mm256_zeroupper();
}
__attribute__((target("bmi,bmi2,lzcnt,popcnt,adx"))) static void bits(void) {
    uint64_t results[12], x = next(), m = next();
    results[0] = _pdep_u64(x, m), results[1] = _pext_u64(x, m), results[2] = _bzhi_u64(x, 13), results[3] = _blsr_u64(x), results[4] = _andn_u64(x, m), results[5] = _tzcnt_u64(x | 1ull << 60), results[6] = _lzcnt_u64(x), results[7] = (uint64_t)_mm_popcnt_u64(x);
    unsigned long long high, wide;
    results[8] = _mulx_u64(x, m, &high);
    unsigned char carry = _addcarry_u64(1, x, m, &wide);
    results[9] = high, results[10] = wide, results[11] = carry;
    uint64_t back = _pdep_u64(_pext_u64(x, m), m);
    CHECK(back == (x & m) && results[4] == (~x & m) && results[10] == x + m + 1, "BMI: %016llx", (unsigned long long)hash(results, sizeof results));
}
__attribute__((target("aes,pclmul,sse4.1"))) static void aes(void) {
    __m128i s = _mm_set_epi64x((long long)next(), (long long)next()), k = _mm_set_epi64x(1, 2), e = _mm_aesenc_si128(s, k);
    /* aesdec of the inverse-mixed key undoes aesenc up to the key additions */
    __m128i back = _mm_aesdeclast_si128(_mm_aesimc_si128(_mm_xor_si128(e, k)), _mm_setzero_si128());
    CHECK(_mm_movemask_epi8(_mm_cmpeq_epi8(back, s)) == 0xffff, "AES: an encryption round undone");
    __m128i product = _mm_clmulepi64_si128(_mm_set_epi64x(0, 7), _mm_set_epi64x(0, 5), 0);
    CHECK(_mm_cvtsi128_si64(product) == 27, "PCLMUL: 7 x 5 without carries is 27");
}
__attribute__((target("sha,sse4.1"))) static void sha(void) {
    uint32_t out[4];
    __m128i a = _mm_setr_epi32(1, 2, 3, 4), b = _mm_setr_epi32(5, 6, 7, 8);
    _mm_storeu_si128((__m128i *)out, _mm_sha256rnds2_epu32(a, b, _mm_sha256msg2_epu32(_mm_sha256msg1_epu32(a, b), b)));
    /* sigma0 of message schedule computed by hand for one lane */
    uint32_t first[4];
    _mm_storeu_si128((__m128i *)first, _mm_sha256msg1_epu32(a, b));
    uint32_t w = 2, sigma = (w >> 7 | w << 25) ^ (w >> 18 | w << 14) ^ (w >> 3);
    CHECK(first[0] == 1 + sigma, "SHA: %016llx", (unsigned long long)hash(out, sizeof out));
}
__attribute__((target("gfni,sse4.1"))) static void gfni(void) {
    unsigned char out[16];
    _mm_storeu_si128((__m128i *)out, _mm_gf2p8mul_epi8(_mm_set1_epi8(0x53), _mm_set1_epi8((char)0xca)));
    CHECK(out[3] == 1, "GFNI: 53 x ca = 1 in the field of AES");
}
__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq"))) static void avx512(void) {
    int32_t a[16], b[16], out[16], bad = 0;
    static int32_t table[64];
    for (int i = 0; i < 16; i++)
        a[i] = (int)next(), b[i] = (int)next();
    for (int i = 0; i < 64; i++)
        table[i] = i * 1000;
    __m512i va = _mm512_loadu_si512(a), vb = _mm512_loadu_si512(b);
    __mmask16 mask = _mm512_cmplt_epi32_mask(va, vb);
    _mm512_storeu_si512(out, _mm512_mask_add_epi32(va, mask, va, vb));
    for (int i = 0; i < 16; i++)
        bad += out[i] != (a[i] < b[i] ? (int)((unsigned)a[i] + (unsigned)b[i]) : a[i]);
    CHECK(!bad, "AVX-512: masked add");
    __m512i index = _mm512_and_si512(va, _mm512_set1_epi32(63));
    _mm512_storeu_si512(out, _mm512_mask_i32gather_epi32(_mm512_set1_epi32(-1), mask, index, table, 4));
    for (int i = 0; i < 16; i++)
        bad += out[i] != (a[i] < b[i] ? (a[i] & 63) * 1000 : -1);
    CHECK(!bad, "masked gather");
    int32_t scattered[64] = {0};
    _mm512_i32scatter_epi32(scattered, _mm512_setr_epi32(0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45), va, 4);
    for (int i = 0; i < 16; i++)
        bad += scattered[i * 3] != a[i];
    CHECK(!bad, "scatter");
    int32_t packed[16] = {0};
    _mm512_mask_compressstoreu_epi32(packed, 0xa5a5, va);
    CHECK(packed[0] == a[0] && packed[1] == a[2] && packed[7] == a[15] && packed[8] == 0, "compress");
    double d[8];
    _mm512_storeu_pd(d, _mm512_div_round_pd(_mm512_set1_pd(1), _mm512_set1_pd(3), _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC));
    CHECK(d[0] == 0x1.5555555555556p-2, "embedded rounding: %a", d[0]);
    double one = 1.5, broad[8];
    __asm__ volatile("vpxorq %%zmm16,%%zmm16,%%zmm16; vaddpd (%1)%{1to8%},%%zmm16,%%zmm17; vmovupd %%zmm17,(%0)" ::"r"(broad), "r"(&one) : "xmm16", "xmm17", "memory");
    CHECK(broad[0] == 1.5 && broad[7] == 1.5, "embedded broadcast");
    uint64_t k = 0;
    __asm__ volatile("mov $0x123456789abcdef0,%%rax; kmovq %%rax,%%k1; kshiftrq $4,%%k1,%%k2; kxorq %%k1,%%k2,%%k3; kortestq %%k3,%%k3; kmovq %%k3,%0" : "=r"(k)::"rax", "k1", "k2", "k3", "cc");
    CHECK(k == (0x123456789abcdef0 ^ 0x0123456789abcdef), "mask registers");
    _mm256_storeu_si256((__m256i *)out, _mm256_mask_blend_epi32(0x5a, _mm256_set1_epi32(1), _mm256_set1_epi32(2)));
    CHECK(out[0] == 1 && out[1] == 2 && out[3] == 2 && out[6] == 2, "256-bit form");
    /* a masked load does not touch what is masked out, even beside an unmapped page */
    long masked;
    __asm__ volatile("mov $1,%%eax; kmovw %%eax,%%k1; lea -8(%1),%%rcx; vpxorq %%zmm5,%%zmm5,%%zmm5; vmovdqu64 (%%rcx),%%zmm5%{%%k1%}%{z%}; vmovq %%xmm5,%0" : "=r"(masked) : "r"((char *)table + 256) : "rax", "rcx", "xmm5", "k1");
    CHECK((int)(masked >> 32) == 63000, "masked load");
    _mm256_zeroupper();
}
int main(void) {
#define IF(name, function)                                                                                             \
    if (__builtin_cpu_supports(name))                                                                                  \
        function();                                                                                                    \
    else                                                                                                               \
        say("without " name);
    if (__builtin_cpu_supports("fma"))
        IF("avx2", avx2)
    IF("bmi2", bits)
    IF("aes", aes)
    unsigned eax = 7, ebx, ecx = 0, edx;
    __asm__("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
    if (ebx >> 29 & 1)
        sha();
    IF("gfni", gfni)
    if (__builtin_cpu_supports("avx512bw"))
        IF("avx512vl", avx512)
    return finish();
}
