// build: gcc -O1
// core: yes
/* Conditions and flags: every jcc, setcc and cmov over all combinations of the six flags; pushf and popf with AC, ID, DF;
   loop, loope, loopne, jrcxz, jecxz; lahf and sahf; flags live across jumps, calls and returns. */
#include "check.h"
static uint64_t digest = 1469598103934665603ull;
static void mix(uint64_t v) { digest = (digest ^ v) * 1099511628211ull; }
#define CONDITIONS(X) X(o) X(no) X(b) X(ae) X(e) X(ne) X(be) X(a) X(s) X(ns) X(p) X(np) X(l) X(ge) X(le) X(g)
static int expected(int c, unsigned f) {
    int cf = f & 1, pf = f >> 2 & 1, zf = f >> 6 & 1, sf = f >> 7 & 1, of = f >> 11 & 1;
    const int base[] = {of, cf, zf, cf | zf, sf, pf, sf != of, zf | (sf != of)};
    return base[c / 2] ^ (c & 1);
}
int main(void) {
    int bad[3] = {0};
    for (unsigned set = 0; set < 64; set++) {
        uint64_t f = (set & 1) | (set >> 1 & 1) << 2 | (set >> 2 & 1) << 4 | (set >> 3 & 1) << 6 | (set >> 4 & 1) << 7 | (set >> 5 & 1) << 11 | 0x202;
        int c = 0;
#define ONE(cc)                                                                                                        \
    {                                                                                                                  \
        uint64_t jumped = 1, moved = 0, one = 1;                                                                       \
        unsigned char byte = 7;                                                                                        \
        __asm__ volatile("sub $128,%%rsp; push %[f]; popfq; j" #cc " 1f; lea 0,%[j]; 1: set" #cc " %[b]; cmov" #cc " %[o],%[m]; jmp 2f; 2: lea 128(%%rsp),%%rsp" \
                         : [j] "+r"(jumped), [b] "+q"(byte), [m] "+r"(moved) : [f] "r"(f), [o] "r"(one) : "cc", "memory"); \
        int want = expected(c++, (unsigned)f);                                                                         \
        bad[0] += jumped != (unsigned)want;                                                                            \
        bad[1] += byte != want;                                                                                        \
        bad[2] += moved != (unsigned)want;                                                                             \
    }
        CONDITIONS(ONE)
    }
    CHECK(!bad[0], "16 conditional jumps over 64 flag sets");
    CHECK(!bad[1], "setcc");
    CHECK(!bad[2], "cmovcc");
    uint64_t got;
    __asm__ volatile("sub $128,%%rsp; pushfq; pop %%rax; or $0x40000,%%rax; push %%rax; popfq; pushfq; pop %0; and $~0x40000,%%rax; push %%rax; popfq; add $128,%%rsp" : "=r"(got)::"rax", "cc", "memory");
    CHECK(got & 0x40000, "AC can be set");
    __asm__ volatile("sub $128,%%rsp; pushfq; pop %%rax; xor $0x200000,%%rax; push %%rax; popfq; pushfq; pop %0; xor %%rax,%0; add $128,%%rsp" : "=r"(got)::"rax", "cc", "memory");
    CHECK(!(got & 0x200000), "ID can be toggled");
    __asm__ volatile("sub $128,%%rsp; std; pushfq; pop %0; cld; pushfq; pop %%rax; add $128,%%rsp" : "=r"(got)::"rax", "cc", "memory");
    CHECK(got & 0x400, "DF in pushf");
    __asm__ volatile("sub $128,%%rsp; pushfq; pop %0; add $128,%%rsp" : "=r"(got)::"cc", "memory");
    CHECK((got & 0x3202) == 0x202, "IF set, IOPL zero, bit 1 set, TF clear");
    uint16_t narrow;
    __asm__ volatile("sub $128,%%rsp; stc; pushfw; popw %0; pushw $0x8d5; popfw; lahf; add $128,%%rsp" : "=r"(narrow)::"rax", "cc", "memory");
    CHECK((narrow & 0x201) == 0x201, "16-bit pushf");
    long rounds = 0, count = 10;
    __asm__ volatile("1: inc %0; loop 1b" : "+r"(rounds), "+c"(count)::"cc");
    CHECK(rounds == 10 && count == 0, "loop");
    rounds = 0, count = 10;
    __asm__ volatile("1: inc %0; cmp $4,%0; loopne 1b" : "+r"(rounds), "+c"(count)::"cc");
    CHECK(rounds == 4 && count == 6, "loopne");
    rounds = 0, count = 10;
    __asm__ volatile("1: inc %0; cmp %0,%0; loope 1b" : "+r"(rounds), "+c"(count)::"cc");
    CHECK(rounds == 10 && count == 0, "loope");
    count = 0x100000003;
    rounds = 0;
    __asm__ volatile("1: inc %0; addr32 loop 1b" : "+r"(rounds), "+c"(count)::"cc");
    CHECK(rounds == 3 && count == 0, "loop with a 32-bit counter");
    uint64_t taken = 0;
    count = 0x500000000;
    __asm__ volatile("jrcxz 1f; or $1,%0; 1: jecxz 2f; or $2,%0; 2: xor %%ecx,%%ecx; jrcxz 3f; or $4,%0; 3:" : "+r"(taken), "+c"(count)::"cc");
    CHECK_EQUAL(taken, 1, "jrcxz and jecxz");
    /* flags that live through a call, a return and an indirect jump */
    uint64_t kept = 0;
    __asm__ volatile("sub $128,%%rsp; stc; call 1f; jmp 2f; 1: lea 3f(%%rip),%%rax; jmp *%%rax; 3: ret; 2: adc $0,%0; add $128,%%rsp" : "+r"(kept)::"rax", "cc", "memory");
    CHECK_EQUAL(kept, 1, "carry through a call, an indirect jump and a return");
    for (unsigned i = 0; i < 256; i++)
        for (unsigned j = 0; j < 256; j += 7) {
            uint64_t a = i << 24 | j, f;
            uint8_t low = (uint8_t)i;
#define TRY(text)                                                                                                      \
    __asm__ volatile("sub $128,%%rsp; clc; " text "; pushfq; pop %1; add $128,%%rsp" : "+a"(a), "=&r"(f), "+q"(low) : "c"((uint8_t)j) : "cc", "memory"); \
    mix(a);                                                                                                            \
    mix(low);                                                                                                          \
    mix(f & 0x8c1);
            TRY("addb %%cl,%2") TRY("subb %%cl,%2") TRY("adcb %%cl,%2") TRY("sbbb %%cl,%2") TRY("cmpb %%cl,%2") TRY("testb %%cl,%2; sets %%al") TRY("negb %2") TRY("addl %%ecx,%%eax") TRY("imul $37,%%eax,%%eax; mov $1,%%ah; cmp %%ah,%%ah")
        }
    CHECK(digest != 0, "arithmetic flags digest %016llx", (unsigned long long)digest);
    return finish();
}
