/**
 * @fileoverview Blocks that are read and written in known ways, for tests/test_heap_accesses.py.
 *
 * Built without libraries' functions where a number counts: what is read and written is what stands here.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone, noipa))

APART static void *untouched(void) { return malloc(100); }
APART static void *written(void) { return malloc(200); }
APART static void *used(void) { return malloc(400); }
APART static void *cleared(void) { return calloc(10, 50); }
APART static void *grown(void *block) { return realloc(block, 5000); }
APART static void *for_kernel(void) { return malloc(64); }
APART static void *strings(void) { return malloc(4096); }
APART static void *alive(void) { return malloc(32); }
APART static void *shared(void) { return malloc(80); }

static volatile long *words;

static void *add(void *block) {
    volatile long *mine = block;
    for (int i = 0; i < 1000; i++) mine[3] = i;
    return NULL;
}

int main(void) {
    for (int i = 0; i < 3; i++) free(untouched());
    for (int i = 0; i < 2; i++) {
        volatile char *bytes = written();
        bytes[0] = bytes[199] = 1;
        free((void *)bytes);
    }
    words = used();
    for (int i = 0; i < 50; i++) words[i] = i; /* 400 written */
    for (int i = 0; i < 10; i++) (void)words[7]; /* 80 read */
    words[1] += 5; /* 8 and 8 */
    /* The allocator copies, which is not the program's use. */
    words = grown((void *)words);
    words[0] = 1; /* 8 written */
    free((void *)words);
    words = cleared();
    (void)words[0]; /* 8 read */
    free((void *)words);
    int ends[2];
    volatile char *buffer = for_kernel();
    if (pipe(ends) || write(ends[1], "0123456789", 10) != 10 || read(ends[0], (void *)buffer, 64) != 10) return 1; /* 10 written */
    if (write(ends[1], (void *)buffer, 6) != 6) return 1; /* 6 read */
    free((void *)buffer);
    char *text = strings();
    unsigned long count = 1000;
    char *to = text;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(7) : "memory"); /* 1000 written */
    free(text);
    words = alive();
    words[0] = words[1] = 3; /* 16 written */
    void *block = shared();
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, add, block)) return 1;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    free(block); /* 16000 written */
    return 0;
}
