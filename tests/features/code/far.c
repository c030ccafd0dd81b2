// build: gcc -O1
/* Code in far mappings: more than 4 GB away from everything, near the top of the address space, in the low 2 GB
   (MAP_32BIT), calling back and forth with absolute addresses; 1 GB of reserved code space of which little is used. */
#include "emit.h"
static int calls;
static int callback(int x) { calls++; return x + 1; }
/* sub rsp,8; mov edi,imm; mov rax,callback; call rax; add rsp,8; ret */
static void emit_callback(unsigned char *at, int value) {
    static const unsigned char head[] = {0x48, 0x83, 0xec, 8, 0xbf}, tail[] = {0xff, 0xd0, 0x48, 0x83, 0xc4, 8, 0xc3};
    uint64_t target = (uintptr_t)callback;
    memcpy(at, head, 5);
    memcpy(at + 5, &value, 4);
    at[9] = 0x48, at[10] = 0xb8;
    memcpy(at + 11, &target, 8);
    memcpy(at + 19, tail, sizeof tail);
}
static void use(unsigned char *at, const char *name) {
    if (at == MAP_FAILED) {
        CHECK(0, "%s: no mapping", name);
        return;
    }
    int bad = 0;
    calls = 0;
    emit_return(at + 100, 9);
    emit_call(at + 200, at + 100);
    at[205] = 0xc3;
    /* rip-relative load of a word at at+300, and a far jmp through memory to at+100 */
    memcpy(at + 250, "\x8b\x05\x2c\0\0\0\xc3", 7);
    int word = 1234;
    memcpy(at + 300, &word, 4);
    memcpy(at + 320, "\xff\x25\0\0\0\0", 6);
    uint64_t target = (uintptr_t)at + 100;
    memcpy(at + 326, &target, 8);
    for (int i = 0; i < 2000; i++) {
        emit_callback(at, i);
        bad += run(at) != i + 1;
    }
    CHECK(!bad && calls == 2000, "%s: calls into the program", name);
    for (int i = 0; i < 2000; i++)
        bad += run(at + 200) != 9 || run(at + 250) != 1234 || run(at + 320) != 9;
    CHECK(!bad, "%s: calls, rip-relative loads and jumps of its own", name);
    mprotect(at, 4096, RX);
    for (int i = 0; i < 1000; i++)
        bad += run(at) != 2000;
    CHECK(!bad, "%s: read-only", name);
}
int main(void) {
    use(pages(4096, RWX), "anywhere");
    use(mmap((void *)0x200000000000, 4096, RWX, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), "hint at 32 TiB");
    use(mmap(NULL, 4096, RWX, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0), "low 2 GB");
    unsigned char *reserve = mmap(NULL, 1ul << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserve == MAP_FAILED || mprotect(reserve + (700 << 20), 4096, RWX))
        CHECK(0, "reserving 1 GB");
    use(reserve + (700 << 20), "inside 1 GB");
    unsigned char *large = mmap(NULL, 6ul << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (large == MAP_FAILED || mprotect(large + (5ul << 30), 4096, RWX))
        CHECK(0, "reserving 6 GB");
    use(large + (5ul << 30), "inside 6 GB");
    /* code that was data first, in a large data mapping, then executable */
    unsigned char *late = pages(64 << 20, RW);
    mprotect(late + (32 << 20), 4096, RWX);
    use(late + (32 << 20), "made executable later");
    return finish();
}
