/**
 * @fileoverview Every form of C++'s operators new and delete, as heap_calls.c has C's functions; and, without an argument, what
 * exceptions leave.
 */
#include <cstdio>
#include <cstdlib>
#include <malloc.h>
#include <new>

#define APART __attribute__((noinline, noipa))

static char lines[1 << 16];
static size_t used;

static void line(char kind, size_t requested, const void *block, const char *step) {
    used += (size_t)sprintf(lines + used, "%c %zu %zu %s\n", kind, requested, malloc_usable_size(const_cast<void *>(block)), step);
}

static void *made(size_t requested, void *block, const char *step) {
    line('A', requested, block, step);
    return block;
}

static std::align_val_t wide{256};

APART void step_plain() {
    void *block = made(40, operator new(40), __func__);
    line('F', 40, block, __func__);
    operator delete(block);
    block = made(41, operator new(41, std::nothrow), __func__);
    line('F', 41, block, __func__);
    operator delete(block, std::nothrow);
    block = made(42, operator new(42), __func__);
    line('F', 42, block, __func__);
    operator delete(block, size_t(42));
}

APART void step_array() {
    void *block = made(50, operator new[](50), __func__);
    line('F', 50, block, __func__);
    operator delete[](block);
    block = made(51, operator new[](51, std::nothrow), __func__);
    line('F', 51, block, __func__);
    operator delete[](block, std::nothrow);
    block = made(52, operator new[](52), __func__);
    line('F', 52, block, __func__);
    operator delete[](block, size_t(52));
}

APART void step_aligned() {
    void *block = made(600, operator new(600, wide), __func__);
    line('F', 600, block, __func__);
    operator delete(block, wide);
    block = made(601, operator new(601, wide, std::nothrow), __func__);
    line('F', 601, block, __func__);
    operator delete(block, wide, std::nothrow);
    block = made(602, operator new(602, wide), __func__);
    line('F', 602, block, __func__);
    operator delete(block, size_t(602), wide);
    block = made(700, operator new[](700, wide), __func__);
    line('F', 700, block, __func__);
    operator delete[](block, wide);
    block = made(701, operator new[](701, wide, std::nothrow), __func__);
    line('F', 701, block, __func__);
    operator delete[](block, wide, std::nothrow);
    block = made(702, operator new[](702, wide), __func__);
    line('F', 702, block, __func__);
    operator delete[](block, size_t(702), wide);
}

/** The calls that are left have ended: what comes afterwards is not taken for a part of them. */
APART void throws() {
    volatile size_t huge = size_t(1) << 60;
    for (int i = 0; i < 3; i++) {
        try {
            operator delete(operator new(huge));
        } catch (const std::bad_alloc &) {
        }
    }
}

APART void step_after() {
    void *block = made(90, std::malloc(90), __func__);
    line('F', 90, block, __func__);
    std::free(block);
}

/** The exception itself is a block, though operator new makes it. */
APART void step_exception() {
    volatile size_t huge = size_t(1) << 60;
    void *block = nullptr;
    try {
        block = operator new(huge);
    } catch (const std::bad_alloc &thrown) {
        /* __cxa_allocate_exception puts the object behind a header, at the end of the block (Itanium C++ ABI, 2.2). */
        size_t header = 128, size = header + sizeof thrown;
        used += (size_t)sprintf(lines + used, "A %zu %zu %s\nF %zu %zu %s\n", size, (size + 8 + 15) / 16 * 16 - 8, __func__, size,
                                (size + 8 + 15) / 16 * 16 - 8, __func__);
    }
    operator delete(block);
}

int main(int count, char **) {
    step_plain();
    step_array();
    step_aligned();
    if (count == 1) { /* mimalloc ends programs that ask for too much */
        throws();
        step_after();
        step_exception();
    }
    fwrite(lines, 1, used, stdout);
    return 0;
}
