// heavy: yes
// runs: 1=0 100=0
// build: gcc -O2 -mavx2 -mfma -fno-tree-vectorize
/* Real, virtual and profiling interval timers at 1 kHz into loops of integers, x87, SSE/AVX and without calls or memory;
   the handlers dirty registers; every result must be exact, and ticks must arrive during each loop. The argument divides the
   rounds of each loop: short ones are for tools that make programs slow. */
#include "check.h"
#include <immintrin.h>
#include <sys/time.h>
static volatile sig_atomic_t ticks;
static void tick(int n, siginfo_t *i, void *c) {
    (void)n, (void)i, (void)c;
    ticks++;
    __m256d dirty = _mm256_set1_pd((double)ticks);
    __asm__ volatile("vmovapd %0,%%ymm0; vmovapd %0,%%ymm7; vmovapd %0,%%ymm15; fninit; fldpi; fstp %%st(0); std; cld" ::"x"(dirty) : "xmm0", "xmm7", "xmm15");
}
__attribute__((noinline)) static uint64_t integer_loop(uint64_t rounds) {
    uint64_t x = 88172645463325252ull, sum = 0;
    __asm__ volatile("1: mov %[x],%%rax; shl $13,%%rax; xor %%rax,%[x]; mov %[x],%%rax; shr $7,%%rax; xor %%rax,%[x];"
                     "mov %[x],%%rax; shl $17,%%rax; xor %%rax,%[x]; add %[x],%[sum]; adc $0,%[sum]; dec %[n]; jnz 1b"
                     : [x] "+r"(x), [sum] "+r"(sum), [n] "+r"(rounds)::"rax", "cc");
    return sum;
}
__attribute__((noinline)) static uint64_t flags_loop(uint64_t rounds) {
    /* a rotation of 65 bits: carry is live across the loop's back edge, and a lost one changes the result */
    uint64_t a = 0x123456789, b = 1;
    __asm__ volatile("stc; 1: rcl $1,%[a]; lea (%[b],%[a]),%[b]; lea -1(%[n]),%[n]; jrcxz 2f; jmp 1b; 2: setc %%al; movzbl %%al,%%eax; add %%rax,%[b]"
                     : [a] "+r"(a), [b] "+r"(b), [n] "+c"(rounds)::"rax", "cc");
    return a * 31 ^ b;
}
__attribute__((noinline)) static double vector_loop(long rounds) {
    __m256d x = _mm256_set_pd(1, 2, 3, 4), k = _mm256_set1_pd(0.999999), add = _mm256_set1_pd(1e-3);
    for (long i = 0; i < rounds; i++)
        x = _mm256_fmadd_pd(x, k, add);
    double out[4];
    _mm256_storeu_pd(out, x);
    return out[0] + out[1] * 3 + out[2] * 5 + out[3] * 7;
}
__attribute__((noinline)) static long double x87_loop(long rounds) {
    long double x = 1;
    for (long i = 1; i <= rounds; i++)
        x = x * 1.0000001L + 1.0L / (long double)i;
    return x;
}
__attribute__((noinline)) static uint64_t string_loop(long rounds) {
    static unsigned char from[65536], to[65536];
    uint64_t sum = 0;
    for (long i = 0; i < rounds; i++) {
        memset(from, (int)i, sizeof from);
        void *d = to, *s = from;
        size_t n = sizeof from;
        __asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n)::"memory");
        sum += to[0] + to[65535] + (n == 0);
    }
    return sum;
}
static int divisor;
static uint64_t run(int which) {
    union { double d; uint64_t u; } bits;
    switch (which) {
    case 0: return integer_loop(30000000 / divisor);
    case 1: return flags_loop(30000000 / divisor);
    case 2: bits.d = vector_loop(15000000 / divisor); return bits.u;
    case 3: bits.d = (double)x87_loop(4000000 / divisor); return bits.u;
    default: return string_loop(3000 / divisor);
    }
}
int main(int count, char **arguments) {
    divisor = count > 1 ? atoi(arguments[1]) : 1;
    static const struct { int which, signal; const char *name; } timers[] = {
        {ITIMER_REAL, SIGALRM, "real"}, {ITIMER_VIRTUAL, SIGVTALRM, "virtual"}, {ITIMER_PROF, SIGPROF, "profiling"}};
    static const char *const loops[] = {"integer", "flags", "vector", "x87", "string"};
    uint64_t wanted[5];
    for (int i = 0; i < 5; i++)
        wanted[i] = run(i);
    for (unsigned t = 0; t < 3; t++) {
        handle(timers[t].signal, tick, SA_RESTART);
        for (int i = 0; i < 5; i++) {
            ticks = 0;
            setitimer(timers[t].which, &(struct itimerval){{0, 1000}, {0, 1000}}, NULL);
            double begin = seconds();
            uint64_t got;
            do
                got = run(i);
            while (got == wanted[i] && ticks < 3 && seconds() - begin < 10);
            setitimer(timers[t].which, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
            CHECK(got == wanted[i] && ticks >= 3, "%s timer in the %s loop: %llx", timers[t].name, loops[i], (unsigned long long)got);
        }
    }
    return finish();
}
