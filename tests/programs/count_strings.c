/** @fileoverview Repeated string instructions of all kinds, calls through pointers and recursion. See freestanding.h. */
#include "freestanding.h"

static uint8_t from[4096], to[4096];

static void copy(void *target, const void *source, size_t count) {
    __asm__ volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(count) : : "memory");
}

static void fill(void *target, uint8_t value, size_t count) {
    __asm__ volatile("rep stosb" : "+D"(target), "+c"(count) : "a"(value) : "memory");
}

/** Bytes before the first zero. */
static size_t length(const void *text, size_t most) {
    size_t left = most;
    __asm__ volatile("repne scasb" : "+D"(text), "+c"(left) : "a"(0) : "memory", "cc");
    return most - left - 1;
}

static size_t equal_bytes(const void *a, const void *b, size_t count) {
    size_t left = count;
    __asm__ volatile("cmp %0, %0; repe cmpsb" : "+c"(left), "+S"(a), "+D"(b) : : "memory", "cc");
    return count - left;
}

static void nothing(size_t count) {
    copy(to, from, count & 0);
}

static void something(size_t count) {
    copy(to, from, count);
}

static unsigned fibonacci(unsigned n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

int run(void) {
    void (*const volatile calls[])(size_t) = {nothing, something};
    size_t sum = 0;
    for (size_t i = 0; i < 300; i++) {
        fill(from, (uint8_t)(i | 1), i);
        from[i] = 0;
        calls[i % 2](i + 1);
        sum += length(from, sizeof from) + equal_bytes(from, to, i);
    }
    return sum > 44850 && fibonacci(15) == 610 ? 0 : 1;
}
