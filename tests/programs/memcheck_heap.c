/**
 * @fileoverview Wrong uses of the heap, one a mode: what memcheck's tests expect is beside them in tests/test_memcheck.py, by the
 * numbers of the lines marked so. `thread MODE` does it in a second thread.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <valgrind/memcheck.h>

#include "memcheck_modes.h"

#define APART __attribute__((noinline, noclone))
typedef struct node {
    struct node *next;
    char rest[40];
} node;

static void *volatile kept; /* reachable */
static void *volatile hidden;
static char *volatile inside;

static void *volatile *opaque(void) { /* the compiler must not know that it is freed memory */
    static void *volatile place;
    __asm__ volatile("" ::: "memory");
    return &place;
}

static APART void twice(void) {
    *opaque() = malloc(40); /* line: twice.malloc */
    free(*opaque());        /* line: twice.first */
    free(*opaque());        /* line: twice.second */
}

static APART void middle(void) {
    *opaque() = malloc(10);             /* line: middle.malloc */
    free((char *)*opaque() + 1);        /* line: middle.free */
    free(*opaque());
}

static APART void no_block(void) {
    static char text[16];
    *opaque() = text + 4;
    free(*opaque());                    /* line: no_block.free */
}

static APART void again(void) {
    *opaque() = calloc(5, 8);           /* line: again.calloc */
    free(*opaque());                    /* line: again.free */
    kept = realloc(*opaque(), 100);     /* line: again.realloc */
    printf("%d\n", kept == NULL);
}

static APART void sizes(void) {
    volatile size_t huge = (size_t)-1;
    errno = 0;
    kept = malloc(huge);                /* line: sizes.malloc */
    int first = errno;
    errno = 0;
    kept = calloc(huge, 2);             /* line: sizes.calloc */
    printf("%d %d %d\n", kept == NULL, first == ENOMEM, errno == ENOMEM);
}

static APART void lose(void) {
    node *first = malloc(sizeof *first); /* line: leaks.first */
    hidden = first;
    first->next = malloc(33);            /* line: leaks.second */
    hidden = NULL;
}

static APART void leaks(void) {
    kept = malloc(100);                  /* line: leaks.kept */
    inside = (char *)malloc(200) + 7;    /* line: leaks.inside */
    for (volatile int i = 0; i < 2; i++) lose();
}

static APART void wipe(void) { /* what functions left in registers and below the stack pointer */
    volatile char below[4096];
    memset((char *)below, 0, sizeof below);
}

/** What must be silent, and right. */
static APART void sound(void) {
    char *text = malloc(10);
    unsigned wrong = 0;
    wrong += malloc_usable_size(text) != 10;
    strcpy(text, "123456789");
    text = realloc(text, 100000);
    wrong += strcmp(text, "123456789") != 0;
    text = realloc(text, 5);
    wrong += memcmp(text, "12345", 5) != 0;
    wrong += realloc(text, 0) != NULL;
    free(NULL);
    void *empty = malloc(0), *other = malloc(0);
    wrong += empty == other || !empty;
    free(empty);
    free(other);
    for (size_t alignment = 16; alignment <= 65536; alignment *= 2) {
        void *block = memalign(alignment, 100), *second = NULL;
        wrong += (uintptr_t)block % alignment != 0;
        wrong += posix_memalign(&second, alignment, 200000) != 0 || (uintptr_t)second % alignment != 0;
        free(block);
        free(second);
    }
    void *second = &second;
    wrong += posix_memalign(&second, 3, 10) != EINVAL;
    wrong += (uintptr_t)(kept = valloc(1)) % 4096 != 0;
    free(kept);
    for (unsigned size = 0; size < 3000; size++) {
        unsigned char *zeros = calloc(1, size);
        for (unsigned i = 0; i < size; i++) wrong += zeros[i] != 0;
        memset(zeros, 0xff, size);
        free(zeros);
    }
    wrong += reallocarray(NULL, SIZE_MAX / 2, 3) != NULL || errno != ENOMEM;
    kept = NULL;
    printf("wrong %u\n", wrong);
}

static void *work(void *seed) {
    unsigned state = (unsigned)(uintptr_t)seed, wrong = 0;
    unsigned char *blocks[64] = {0};
    for (unsigned i = 0; i < 30000; i++) {
        state = state * 1664525 + 1013904223;
        unsigned slot = state >> 26, size = (state >> 8) % 700;
        if (blocks[slot]) wrong += blocks[slot][0] != slot;
        free(blocks[slot]);
        blocks[slot] = malloc(size + 1);
        blocks[slot][0] = (unsigned char)slot;
    }
    for (unsigned i = 0; i < 64; i++) free(blocks[i]);
    return (void *)(uintptr_t)wrong;
}

static APART void threads(void) {
    pthread_t made[4];
    uintptr_t wrong = 0;
    for (uintptr_t i = 0; i < 4; i++) pthread_create(&made[i], NULL, work, (void *)(i + 1));
    for (unsigned i = 0; i < 4; i++) {
        void *result;
        pthread_join(made[i], &result);
        wrong += (uintptr_t)result;
    }
    printf("wrong %lu\n", (unsigned long)wrong);
}

static APART void forks(void) {
    *opaque() = malloc(10);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        twice();
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    free(*opaque());
    printf("child %d\n", WEXITSTATUS(status));
}

static APART void counted(void) { /* the program asks itself */
    unsigned long lost = 0, dubious = 0, reachable = 0, suppressed = 0;
    leaks();
    wipe();
    VALGRIND_DO_QUICK_LEAK_CHECK;
    VALGRIND_COUNT_LEAKS(lost, dubious, reachable, suppressed);
    printf("%lu %lu %lu\n", lost, dubious, suppressed);
    twice();
    printf("errors %u\n", (unsigned)VALGRIND_COUNT_ERRORS);
}

static APART void pools(void) {
    static char memory[4096];
    VALGRIND_CREATE_MEMPOOL(memory, 8, 0);
    VALGRIND_MEMPOOL_ALLOC(memory, memory + 64, 100);  /* line: pools.alloc */
    VALGRIND_MEMPOOL_ALLOC(memory, memory + 256, 200); /* line: pools.second */
    VALGRIND_MEMPOOL_FREE(memory, memory + 64);
    VALGRIND_MEMPOOL_FREE(memory, memory + 64);        /* line: pools.twice */
    VALGRIND_MEMPOOL_FREE(memory + 8, memory + 64);    /* line: pools.unknown */
    printf("%d\n", (int)VALGRIND_MEMPOOL_EXISTS(memory));
    VALGRIND_DESTROY_MEMPOOL(memory);
    VALGRIND_MALLOCLIKE_BLOCK(memory + 1024, 50, 0, 0);
    VALGRIND_FREELIKE_BLOCK(memory + 1024, 0);
    VALGRIND_FREELIKE_BLOCK(memory + 1024, 0);         /* line: pools.freelike */
}

static const mode modes[] = {
    {"twice", twice}, {"middle", middle}, {"no_block", no_block}, {"again", again}, {"sizes", sizes},
    {"leaks", leaks}, {"sound", sound}, {"threads", threads}, {"forks", forks}, {"counted", counted},
    {"pools", pools}, {0}};

int main(int count, char **words) {
    RUN_MODES(modes, count, words)
    wipe();
    return 3;
}
