/**
 * @fileoverview Accesses to memory that must not be accessed, one a mode: tests/test_memcheck_access.py says what is expected of the
 * lines marked so. `thread MODE` does it in a second thread.
 */
#include <emmintrin.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <valgrind/memcheck.h>

#include "memcheck_modes.h"

#define APART __attribute__((noinline, noclone))

/** The compiler must neither know what is allocated nor leave accesses out. */
static void *hide(void *pointer) {
    __asm__ volatile("" : "+r"(pointer) : : "memory");
    return pointer;
}
static size_t hide_size(size_t size) {
    __asm__ volatile("" : "+r"(size));
    return size;
}

static volatile long sink;
static volatile void *kept;

static APART void heap_sizes(void) {
    char *block = hide(malloc(40));              /* line: sizes.malloc */
    sink = *(volatile char *)(block + 40);       /* line: sizes.read1 */
    sink = *(volatile short *)(block + 39);      /* line: sizes.read2 */
    sink = *(volatile int *)(block + 44);        /* line: sizes.read4 */
    sink = *(volatile long *)(block + 36);       /* line: sizes.read8 */
    *(volatile char *)(block - 1) = 1;           /* line: sizes.write1 */
    *(volatile long *)(block + 40) = 1;          /* line: sizes.write8 */
    _mm_storeu_si128((__m128i *)(block + 30), _mm_set1_epi8(1)); /* line: sizes.write16 */
    free(block);
}

static APART void freed(void) {
    int *block = hide(malloc(100));              /* line: freed.malloc */
    free(block);                                 /* line: freed.free */
    sink = *(volatile int *)(block + 3);         /* line: freed.read */
    *(volatile int *)(block + 24) = 1;           /* line: freed.write */
}

static APART void strings(void) {
    char *eight = hide(malloc(8)), *twenty = hide(malloc(20)); /* line: strings.malloc */
    memset(twenty, 'x', 19);
    twenty[19] = 0;
    memset(eight, 'y', 8);
    strcpy(hide(eight), hide(twenty));           /* line: strings.strcpy */
    memcpy(hide(eight), hide(twenty), hide_size(12)); /* line: strings.memcpy */
    memset(hide(eight), 'y', hide_size(9));      /* line: strings.memset */
    sink = (long)strlen(hide(eight));            /* line: strings.strlen */
    sink = memcmp(hide(eight), hide("yyyyyyyyyy"), hide_size(10)); /* line: strings.memcmp */
    sink = strcmp(hide(eight), hide("yyyyyyyyyy")); /* line: strings.strcmp */
    sink = (long)strchr(hide(eight), 'z');       /* line: strings.strchr */
    free(eight);
    free(twenty);
    sink = (long)strlen(hide(twenty));           /* line: strings.freed */
}

static APART void overlaps(void) {
    char text[64] = "some text of some length";
    strcpy(hide(text + 4), hide(text));          /* line: overlaps.strcpy */
    strncpy(hide(text + 4), hide(text), hide_size(10)); /* line: overlaps.strncpy */
    memmove(hide(text + 4), hide(text), hide_size(10));
    sink = text[5];
}

static APART char *address_of_local(void) {
    char local[600];
    memset(local, 1, sizeof local);
    return hide(local);
}

static APART void below_stack(void) {
    char *gone = address_of_local();
    sink = *(volatile char *)hide(gone + 100);   /* line: stack.read */
}

static APART void repeated(void) {
    char *block = hide(malloc(16));              /* line: repeated.malloc */
    void *to = block;
    size_t count = 20;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(7) : "memory"); /* line: repeated.stos */
    free(block);
}

static APART void flood(void) {
    volatile char *block = hide(malloc(8));
    for (unsigned i = 0; i < 5000; i++) sink = block[8 + i % 8]; /* line: flood.read */
    free((void *)block);
}

static void *flood_too(void *unused) {
    flood();
    return unused;
}

static APART void floods(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, flood_too, NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}

static sigjmp_buf back;
static void handler(int number) {
    (void)number;
    siglongjmp(back, 1);
}

static APART void handled(void) { /* each access ends by a signal that the program takes */
    static volatile int faults;
    signal(SIGSEGV, handler);
    for (volatile int i = 0; i < 20; i++) {
        if (sigsetjmp(back, 1)) faults++;
        else *(volatile int *)hide((void *)(8 * (uintptr_t)i)) = 1; /* line: handled.write */
    }
    signal(SIGSEGV, SIG_DFL);
    printf("%d\n", faults);
}

static APART void pages(void) {
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page[0] = page[8191] = 1;
    mprotect(page + 4096, 4096, PROT_READ);
    sink = page[8191];
    munmap(page, 8192);
}

static APART void system_calls(void) {
    char *block = hide(malloc(16));              /* line: calls.malloc */
    memset(block, 'x', 16);
    int ends[2];
    sink = pipe(ends);                           /* line: calls.pipe */
    sink = write(ends[1], block, 20);            /* line: calls.write */
    sink = read(ends[0], block + 10, 10);        /* line: calls.read */
    sink = write(ends[1], block, 16);
    free(block);
}

static APART void wild(void) {
    sink = *(volatile int *)hide((void *)16);    /* line: wild.read */
}

static APART void requests(void) {
    static char area[64];
    VALGRIND_MAKE_MEM_NOACCESS(area + 16, 16);
    sink = area[15];
    sink = *(volatile char *)(area + 16);        /* line: requests.read */
    sink = VALGRIND_CHECK_MEM_IS_ADDRESSABLE(area, 64) != 0; /* line: requests.check */
    VALGRIND_MAKE_MEM_UNDEFINED(area + 16, 16);
    area[16] = 1;
    sink = VALGRIND_CHECK_MEM_IS_ADDRESSABLE(area, 64) != 0;
    printf("%ld\n", sink);
}

typedef struct packed {
    unsigned first : 3, second : 11;
    char third;
    uint64_t fourth;
} __attribute__((packed)) packed;

/** What must be silent: ends of blocks read by vectors and words, bit fields, large frames, strings at block ends. */
static APART void sound(void) {
    unsigned wrong = 0;
    for (size_t size = 1; size < 200; size++) {
        char *text = hide(malloc(size)), *other = hide(malloc(size + 3));
        memset(text, 'a', size - 1);
        text[size - 1] = 0;
        wrong += strlen(hide(text)) != size - 1;
        strcpy(hide(other), hide(text));
        wrong += strcmp(hide(other), hide(text)) != 0;
        wrong += memcmp(hide(other), hide(text), size) != 0;
        wrong += memchr(hide(text), 'b', size) != NULL;
        wrong += strchr(hide(text), 'b') != NULL;
        wrong += strrchr(hide(text), 'b') != NULL;
        wrong += strncmp(hide(text), hide(other), size + 50) != 0;
        wrong += strnlen(hide(text), 1000) != size - 1;
        char *copied = strdup(hide(text));
        wrong += strcasecmp(copied, text) != 0;
        wrong += strstr(hide(text), "zz") != NULL;
        free(copied);
        memmove(other + 1, other, size);
        free(text);
        free(other);
    }
    packed *small = hide(malloc(sizeof *small));
    small->first = 5;
    small->second = 1000;
    small->fourth = 1;
    wrong += small->first != 5 || small->second != 1000;
    free(small);
    volatile char large[100000];
    for (size_t i = 0; i < sizeof large; i += 100) large[i] = 1;
    float *values = hide(aligned_alloc(32, 96));
    for (int i = 0; i < 24; i++) values[i] = (float)i;
    float sum = 0;
    for (int i = 0; i < 23; i++) sum += values[i];
    wrong += sum != 253;
    free(values);
    char line[64];
    snprintf(line, sizeof line, "%s %d %f", "text", 12, 1.5);
    wrong += strtol("123", NULL, 10) != 123;
    printf("wrong %u\n", wrong);
}

static const mode modes[] = {
    {"heap_sizes", heap_sizes}, {"freed", freed}, {"strings", strings}, {"overlaps", overlaps},
    {"below_stack", below_stack}, {"repeated", repeated}, {"flood", flood}, {"pages", pages},
    {"requests", requests}, {"system_calls", system_calls}, {"wild", wild}, {"floods", floods},
    {"handled", handled}, {"sound", sound}, {0}};

int main(int count, char **words) {
    RUN_MODES(modes, count, words)
    return 3;
}
