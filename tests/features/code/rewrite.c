// build: gcc -O1
/* Code rewritten in place: RW/RX toggled by mprotect, an RWX page written just before it runs, by itself, by other sizes
   of stores, rep movsb, and vector stores; one byte of an immediate; an opcode. 5000 generations each. */
#include "emit.h"
#include <emmintrin.h>
int main(void) {
    unsigned char *area = pages(8192, RW);
    int bad = 0;
    for (int i = 0; i < 5000; i++) {
        mprotect(area, 4096, RW);
        emit_return(area + i % 7, i);
        mprotect(area, 4096, RX);
        bad += run(area + i % 7) != i;
        bad += run(area + i % 7) != i;
    }
    CHECK(!bad, "mprotect RW, write, mprotect RX, run");
    area = pages(8192, RWX);
    for (int i = 0; i < 5000; i++) {
        emit_return(area, i);
        bad += run(area) != i;
    }
    CHECK(!bad, "RWX written just before it runs");
    for (int i = 0; i < 5000; i++) {
        patch_return(area, ~i);
        bad += run(area) != ~i;
    }
    CHECK(!bad, "the immediate patched");
    unsigned char source[16] = {0};
    for (int i = 0; i < 3000; i++) {
        emit_return(source, i * 7);
        void *d = area + 64, *s = source;
        long n = 6;
        switch (i % 4) {
        case 0: __asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n)::"memory"); break;
        case 1: _mm_storeu_si128((__m128i *)(area + 64), _mm_loadu_si128((__m128i *)source)); break;
        case 2: memcpy(area + 64, source, 6); break;
        case 3: for (int k = 5; k >= 0; k--) ((volatile unsigned char *)area)[64 + k] = source[k]; break;
        }
        bad += run(area + 64) != i * 7;
    }
    CHECK(!bad, "written by rep movsb, a vector store, bytes backwards");
    /* functions side by side on one page: writing one leaves the others right */
    for (int k = 0; k < 500; k++)
        emit_return(area + k * 8, k);
    for (int round = 0; round < 20; round++) {
        for (int k = 0; k < 500; k++)
            bad += run(area + k * 8) != k + (k % 20 < round ? 1000 : 0);
        for (int k = round; k < 500; k += 20)
            patch_return(area + k * 8, k + 1000);
    }
    CHECK(!bad, "500 functions on a page, some rewritten");
    /* a function across two pages, the second page's part rewritten */
    for (int i = 0; i < 1000; i++) {
        emit_return(area + 4096 - 3, i << 16 | i);
        bad += run(area + 4096 - 3) != (i << 16 | i);
        area[4096 - 3 + 4] = (unsigned char)~i;
        bad += run(area + 4096 - 3) != (int)(((i << 16 | i) & 0xffffff) | (unsigned)(unsigned char)~i << 24);
    }
    CHECK(!bad, "code across a page border");
    return finish();
}
