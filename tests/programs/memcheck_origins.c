/**
 * @fileoverview Undefined values that come from different places, on different ways, to where they are used: for --track-origins=yes.
 * And the requests of memcheck.h that look at values: "requests" prints what they answer.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <valgrind/memcheck.h>

#include "hidden.h"

static APART void heap(void) {
    int *block = hide(malloc(40));              /* line: heap.made */
    SEE(block[3] == 7);                         /* line: heap.used */
    int *copy = hide(calloc(1, 40));
    memcpy(copy, block + 2, 20);
    SEE((unsigned)copy[3] * 5 > 7);             /* line: heap.copied */
    double *numbers = hide(malloc(64));         /* line: heap.numbers */
    SEE(numbers[0] * 2 + numbers[1] > 1.0);     /* line: heap.number */
    char *grown = hide(malloc(8));
    memset(grown, 1, 8);
    grown = hide(realloc(grown, 800));          /* line: heap.grown */
    SEE(grown[7] == 3);
    SEE(grown[100] == 3);                       /* line: heap.tail */
    static volatile uint64_t table[8];
    sum += table[copy[4] & 7];                  /* line: heap.index */
}

static APART void fill(volatile char *array, int count) {
    for (int i = 0; i < count; i++) array[i] = 1;
}

static APART void frame(int count) {            /* line: frame.begins */
    char array[400];
    fill(hide(array), count);
    SEE(((volatile char *)array)[100] == 2);    /* line: frame.used */
}

static APART void system_call(void) {
    char *block = hide(malloc(80));             /* line: call.made */
    int descriptor = open("/dev/null", O_WRONLY);
    block[0] = 1;
    if (write(descriptor, block, 10) != 10) abort(); /* line: call.used */
}

static APART void said(void) {
    static int cells[4];
    VALGRIND_MAKE_MEM_UNDEFINED(cells, sizeof cells); /* line: said.made */
    SEE(((volatile int *)cells)[2] == 5);       /* line: said.used */
    sum += VALGRIND_CHECK_MEM_IS_DEFINED(cells + 1, 4) != 0; /* line: said.checked */
}

/** What a register holds goes through a handler's frame, and by repeated moves. */
static void handler(int number) { sum += (uint64_t)number; }

static APART void far(void) {
    uint64_t *block = hide(malloc(160)), *other = hide(calloc(20, 8)); /* line: far.made */
    uint64_t first = block[1];
    signal(SIGUSR1, handler);
    __asm__ volatile("mov %1, %%r12; syscall; mov %%r12, %0" : "=r"(first) : "r"(first), "a"(39) : "r12", "rcx", "r11", "memory");
    raise(SIGUSR1);
    SEE(first == 9);                            /* line: far.register */
    void *to = other, *from = block;
    uint64_t count = 160;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
    SEE(other[10] == 9);                        /* line: far.moved */
}

static void errors(void) {
    heap();
    frame(20);
    system_call();
    said();
    far();
}

static void *thread(void *argument) {
    errors();
    return argument;
}

/* ------------------------------------------------------------------------------------------------------ requests */

static APART void requests(void) {
    static unsigned char area[64], bits[16], given[16];
    VALGRIND_MAKE_MEM_UNDEFINED(area + 4, 4);
    area[5] |= 0x0f;
    area[5] &= 0x3f;
    unsigned got = VALGRIND_GET_VBITS(area, bits, 16);
    printf("get %u:", got);
    for (int i = 0; i < 16; i++) printf(" %02x", bits[i]);
    memset(given, 0, sizeof given);
    given[9] = 0x81;
    printf("\nset %u\n", (unsigned)VALGRIND_SET_VBITS(area, given, 16));
    SEE(((volatile unsigned char *)area)[5] == 1);
    SEE((((volatile unsigned char *)area)[9] & 0x7e) == 1);
    SEE((((volatile unsigned char *)area)[9] & 0x80) == 0);          /* line: requests.set */
    int checked = (int)(VALGRIND_CHECK_MEM_IS_DEFINED(area, 64) - (uintptr_t)area); /* line: requests.defined */
    printf("defined up to %d\n", checked);
    VALGRIND_MAKE_MEM_NOACCESS(area + 8, 8);
    VALGRIND_MAKE_MEM_UNDEFINED(area + 20, 4);
    checked = (int)(VALGRIND_CHECK_MEM_IS_DEFINED(area, 64) - (uintptr_t)area); /* line: requests.both */
    printf("good up to %d, bits %u\n", checked, (unsigned)VALGRIND_GET_VBITS(area, bits, 16));
    VALGRIND_MAKE_MEM_DEFINED_IF_ADDRESSABLE(area, 64);
    SEE(((volatile unsigned char *)area)[21] == 1);
    unsigned block = VALGRIND_CREATE_BLOCK(area, 16, "cell of honour"); /* line: requests.named */
    SEE(((volatile unsigned char *)area)[10] == 1);                  /* line: requests.inside */
    printf("discard %u, %u\n", (unsigned)VALGRIND_DISCARD(block), (unsigned)VALGRIND_DISCARD(block));
    SEE(((volatile unsigned char *)area)[11] == 1);                  /* line: requests.unnamed */
    unsigned off = VALGRIND_DISABLE_ADDR_ERROR_REPORTING_IN_RANGE(area + 8, 2);
    SEE(((volatile unsigned char *)area)[8] == 1);
    SEE(((volatile unsigned char *)area)[12] == 1);                  /* line: requests.beside */
    unsigned on = VALGRIND_ENABLE_ADDR_ERROR_REPORTING_IN_RANGE(area + 8, 2);
    SEE(((volatile unsigned char *)area)[9] == 1);                   /* line: requests.again */
    printf("off %u, on %u, none %u\n", off, on, (unsigned)VALGRIND_DISABLE_ADDR_ERROR_REPORTING_IN_RANGE(area, 0));
    VALGRIND_MAKE_MEM_DEFINED(area, 64);
    VALGRIND_MALLOCLIKE_BLOCK(area, 16, 0, 0);                       /* line: requests.like */
    SEE(((volatile unsigned char *)area)[3] == 1);                   /* line: requests.new */
    VALGRIND_FREELIKE_BLOCK(area, 0);
    VALGRIND_MALLOCLIKE_BLOCK(area + 32, 16, 0, 1);
    SEE(((volatile unsigned char *)area)[33] == 1);
    VALGRIND_FREELIKE_BLOCK(area + 32, 0);
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    pthread_t other;
    if (!strcmp(what, "errors")) errors();
    if (!strcmp(what, "requests")) requests();
    if (!strcmp(what, "thread") && !pthread_create(&other, NULL, thread, NULL)) pthread_join(other, NULL);
    return 0;
}
