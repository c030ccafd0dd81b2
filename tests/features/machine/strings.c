// build: gcc -O1
// core: yes
/* String instructions: rep with zero counts, forwards and backwards, all sizes, repe and repne with flags and remaining
   counts, 32-bit addresses, overlapping moves, lods and scas alone, xlat. */
#include "check.h"
static unsigned char from[256], to[256];
static uint64_t digest(const unsigned char *p, size_t n) {
    uint64_t h = 1469598103934665603ull;
    while (n--)
        h = (h ^ *p++) * 1099511628211ull;
    return h;
}
static void fresh(void) {
    for (int i = 0; i < 256; i++)
        from[i] = (unsigned char)(i * 7 + 1), to[i] = 0;
}
#define MOVE(name, text, s, d, n, ds, dd)                                                                              \
    {                                                                                                                  \
        fresh();                                                                                                       \
        unsigned char *si = (s), *di = (d);                                                                            \
        uint64_t cx = (n);                                                                                             \
        __asm__ volatile(text "; cld" : "+S"(si), "+D"(di), "+c"(cx)::"memory", "cc");                                 \
        CHECK(si - (s) == (ds) && di - (d) == (dd), "%s: ends %ld %ld, count %lld, %016llx %016llx", name, (long)(si - (s)), (long)(di - (d)), (long long)cx, (unsigned long long)digest(to, 256), (unsigned long long)digest(from, 256)); \
    }
int main(void) {
    MOVE("rep movsb 0", "rep movsb", from, to, 0, 0, 0)
    MOVE("rep movsb", "rep movsb", from, to, 100, 100, 100)
    MOVE("rep movsw", "rep movsw", from, to, 30, 60, 60)
    MOVE("rep movsl", "rep movsl", from, to, 30, 120, 120)
    MOVE("rep movsq", "rep movsq", from, to, 30, 240, 240)
    MOVE("movsb alone", "movsb", from, to, 5, 1, 1)
    MOVE("backwards", "std; rep movsb", from + 99, to + 99, 50, -50, -50)
    MOVE("backwards quad", "std; rep movsq", from + 100, to + 100, 5, -40, -40)
    MOVE("overlapping forwards", "rep movsb", from, from + 1, 50, 50, 50)
    MOVE("overlapping backwards", "std; rep movsb", from + 99, from + 100, 50, -50, -50)
    MOVE("rep stosb", "mov $0x5a,%%al; rep stosb", from, to, 33, 0, 33)
    MOVE("rep stosq", "mov $0x1122334455667788,%%rax; rep stosq", from, to, 9, 0, 72)
    MOVE("rep lodsw", "rep lodsw", from, to, 7, 14, 0)
    for (int length = 0; length < 40; length += 13)
        for (int at = 0; at < 40; at += 9) {
            fresh();
            memcpy(to, from, 256);
            to[at] ^= 1;
            unsigned char *si = from, *di = to;
            uint64_t cx = (unsigned)length;
            unsigned char equal = 9, below = 9;
            __asm__ volatile("xor %%eax,%%eax; repe cmpsb; sete %0; setb %1" : "=&q"(equal), "=&q"(below), "+S"(si), "+D"(di), "+c"(cx)::"rax", "memory", "cc");
            int stop = at < length ? at + 1 : length;
            CHECK(si - from == stop && cx == (unsigned)(length - stop) && equal == (at >= length), "repe cmpsb %d differing at %d: %d left, below %d", length, at, (int)cx, below);
        }
    fresh();
    unsigned char *di = from;
    uint64_t cx = 256;
    unsigned char equal;
    __asm__ volatile("repne scasb; sete %0" : "=q"(equal), "+D"(di), "+c"(cx) : "a"(from[77]) : "memory", "cc");
    CHECK(di - from == 78 && cx == 178 && equal, "repne scasb finds");
    uint64_t word = 0;
    di = from;
    cx = 20;
    __asm__ volatile("repne scasq; sete %0" : "=q"(equal), "+D"(di), "+c"(cx) : "a"(word) : "memory", "cc");
    CHECK(di - from == 160 && cx == 0 && !equal, "repne scasq does not find");
    uint64_t al = 200;
    __asm__ volatile("xlatb" : "+a"(al) : "b"(from));
    CHECK(al == from[200], "xlat");
    di = to;
    cx = 0x200000003;
    __asm__ volatile("cld; mov $7,%%al; rep stosb" : "+D"(di), "=c"(cx) : "c"(3) : "rax", "memory");
    CHECK(di - to == 3 && to[2] == 7 && cx == 0, "stosb");
    return finish();
}
