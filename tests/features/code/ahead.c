// build: gcc -O1
// core: yes
/* Self-modifying code in the strict sense: an instruction writes the one just behind it, in the same basic block; a loop
   patches its own immediate and its own branch; a function overwrites its own start while it runs. */
#include "emit.h"
int main(void) {
    unsigned char *area = pages(4096, RWX);
    int bad = 0;
    /* movb $imm, target+1(%rip) ; target: mov $0, %eax ; ret */
    for (int i = 0; i < 3000; i++) {
        static const unsigned char code[] = {0xc6, 0x05, 1, 0, 0, 0, 0, 0xb8, 0, 0, 0, 0, 0xc3};
        memcpy(area, code, sizeof code);
        area[6] = (unsigned char)i;
        bad += run(area) != (unsigned char)i;
    }
    CHECK(!bad, "the next instruction patched in the same block");
    /* xor eax,eax; mov ecx,100; L: add eax,0; incb imm(%rip); dec ecx; jnz L; ret */
    static const unsigned char loop[] = {0x31, 0xc0, 0xb9, 100, 0, 0, 0, 0x83, 0xc0, 0, 0xfe, 0x05, 0xf9, 0xff, 0xff, 0xff, 0xff, 0xc9, 0x75, 0xf3, 0xc3};
    memcpy(area, loop, sizeof loop);
    CHECK_EQUAL(run(area), 4950, "a loop that increments its own immediate");
    /* the same in a static program section made writable */
    extern unsigned char patched[], patched_end[];
    uintptr_t page = (uintptr_t)patched & ~4095ul;
    CHECK(mprotect((void *)page, 8192, RWX) == 0, "own text made writable");
    for (int i = 0; i < 200; i++) {
        int result;
        __asm__ volatile("movl %1, patched+1(%%rip); patched: mov $0x11223344,%%eax; patched_end: mov %%eax,%0" : "=m"(result) : "r"(i * 12345) : "eax", "memory");
        bad += result != i * 12345;
    }
    CHECK(!bad && patched_end - patched == 5, "own text patched just ahead");
    mprotect((void *)page, 8192, RX);
    /* a function that replaces its own first bytes by `mov eax, 2; ret` while it runs, and goes on to return 1 */
    static const unsigned char own[] = {0x48, 0x8d, 0x05, 0xf9, 0xff, 0xff, 0xff,             /* lea rax,[start] */
                                        0xc7, 0x00, 0xb8, 2, 0, 0,                            /* mov dword [rax], b8 02 00 00 */
                                        0x66, 0xc7, 0x40, 4, 0, 0xc3,                         /* mov word [rax+4], 00 c3 */
                                        0xb8, 1, 0, 0, 0, 0xc3};
    for (int i = 0; i < 300; i++) {
        memcpy(area + 128, own, sizeof own);
        bad += run(area + 128) != 1;
        bad += run(area + 128) != 2;
        bad += run(area + 128) != 2;
    }
    CHECK(!bad, "a function that rewrote itself");
    return finish();
}
