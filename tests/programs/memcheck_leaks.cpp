/**
 * @fileoverview Operators new and delete, and pointers into blocks that count as pointers to their starts: tests/test_memcheck.py.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

struct Counted {
    ~Counted() { std::puts(""); }
    int values[3];
};
struct First {
    virtual ~First() {}
    long a = 1;
};
struct Second {
    virtual ~Second() {}
    long b = 2;
};
struct Both : First, Second {
    long c = 3;
};

static Counted *volatile array;     /* points behind the number of elements */
static Second *volatile second;     /* points to the second base */
static std::uint64_t *volatile behind_length;
static char *volatile characters;   /* of an old std::string */
static char *volatile nowhere;      /* into a block, and nothing else */

template <typename T> static T *hide(T *pointer) {
    asm volatile("" : "+r"(pointer) : : "memory");
    return pointer;
}

static __attribute__((noinline)) void mismatched() {
    delete hide(new int[10]);                    /* line: array.delete */
    std::free(hide(new int));                    /* line: new.free */
    delete[] hide(static_cast<int *>(std::malloc(4))); /* line: malloc.delete */
    delete hide(new int(1));
    delete[] hide(new Both[1]);
    operator delete(hide(static_cast<char *>(operator new(100, std::align_val_t(64)))), std::align_val_t(64));
}

static __attribute__((noinline)) void keep() {
    array = new Counted[5];
    second = new Both;
    auto *words = static_cast<std::uint64_t *>(std::malloc(8 + 40));
    words[0] = 40;
    behind_length = words + 1;
    auto *text = static_cast<std::uint64_t *>(std::malloc(24 + 11));
    text[0] = 5, text[1] = 10, text[2] = 0;
    characters = reinterpret_cast<char *>(text + 3);
    nowhere = static_cast<char *>(std::malloc(70)) + 8;
}

static __attribute__((noinline)) void wipe() {
    volatile char below[4096];
    for (unsigned i = 0; i < sizeof below; i++) below[i] = 0;
}

int main() {
    try {
        hide(new char[hide(reinterpret_cast<char *>(UINT64_C(1) << 60)) - static_cast<char *>(nullptr)]);
    } catch (const std::bad_alloc &) {
        std::puts("caught");
    }
    mismatched();
    keep();
    wipe();
    return 0;
}
