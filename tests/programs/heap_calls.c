/**
 * @fileoverview Every allocating function of C, in a function of its own, for tests/test_heap_service.py.
 *
 * It prints what a heap profiler is to say: `A requested usable step` and `F requested usable step`, where `usable` is what the
 * allocator itself tells.
 */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone, noipa))

/** Lines are collected, since printing may allocate. */
static char lines[1 << 16];
static size_t used;

/** The allocator is not the C library's, and may leave pvalloc to that. */
static int is_foreign;

static void line(char kind, size_t requested, const void *block, const char *step) {
    used += (size_t)sprintf(lines + used, "%c %zu %zu %s\n", kind, requested, malloc_usable_size((void *)block), step);
}

static void *made(size_t requested, void *block, const char *step) {
    if (!block) abort();
    line('A', requested, block, step);
    return block;
}

#define MADE(requested, call) made(requested, call, __func__)
#define GONE(requested, block) line('F', requested, block, __func__)

APART static void step_free(size_t requested, void *block) {
    GONE(requested, block);
    free(block);
}

APART static void step_malloc(void) {
    static const size_t sizes[] = {0, 1, 24, 25, 100, 400, 4096, 100000, 300000, 5000000};
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) step_free(sizes[i], MADE(sizes[i], malloc(sizes[i])));
}

/** Of a size that was seen first as that of a block that had shrunk in place. */
APART static void step_malloc_after(void) { step_free(450, MADE(450, malloc(450))); }

APART static void step_calloc(void) { step_free(7 * 33, MADE(7 * 33, calloc(7, 33))); }

APART static void step_realloc(void) {
    char *block = MADE(10, realloc(NULL, 10));
    static const size_t sizes[] = {20, 500, 450, 400, 200000, 1000000, 30};
    size_t before = 10;
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        GONE(before, block);
        block = MADE(sizes[i], realloc(block, sizes[i]));
        before = sizes[i];
    }
    errno = 0;
    void *volatile huge = realloc(block, (size_t)1 << 62); /* fails: the block stays */
    if (huge || errno != ENOMEM) abort();
    GONE(before, block);
    block = realloc(block, 0); /* which frees, or makes a block of no bytes */
    if (block) step_free(0, MADE(0, block));
}

APART static void step_reallocarray(void) {
    void *block = MADE(600, reallocarray(NULL, 20, 30));
    GONE(600, block);
    step_free(1200, MADE(1200, reallocarray(block, 40, 30)));
}

APART static void step_aligned(void) {
    void *block;
    step_free(100, MADE(100, memalign(64, 100)));
    step_free(4096, MADE(4096, aligned_alloc(1024, 4096)));
    if (posix_memalign(&block, 4096, 333)) abort();
    step_free(333, MADE(333, block));
    step_free(50, MADE(50, valloc(50)));
    if (!is_foreign) step_free((size_t)getpagesize(), MADE((size_t)getpagesize(), pvalloc(50)));
    volatile size_t odd = 3;
    void *untouched = lines;
    if (posix_memalign(&untouched, odd, 333) != EINVAL || untouched != lines) abort();
}

APART static void step_strings(void) {
    char *text = MADE(6, strdup("hello"));
    step_free(6, text);
}

APART static void step_failing(void) {
    void *volatile huge = malloc((size_t)1 << 62);
    void *volatile many = calloc((size_t)1 << 33, (size_t)1 << 33);
    if (huge || many) abort();
    free(NULL);
}

APART static void step_leaked(void) {
    *(void *volatile *)lines = MADE(77, malloc(77));
}

int main(int count, char **arguments) {
    is_foreign = count > 1 && !strcmp(arguments[1], "foreign");
    used = sizeof(void *);
    step_malloc();
    step_calloc();
    step_realloc();
    step_malloc_after();
    step_reallocarray();
    step_aligned();
    step_strings();
    step_failing();
    step_leaked();
    fwrite(lines + sizeof(void *), 1, used - sizeof(void *), stdout);
    return 0;
}
