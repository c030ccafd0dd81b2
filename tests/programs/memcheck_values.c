/**
 * @fileoverview Uses of undefined values, for memcheck: "errors" has those that must be reported, each with a comment that says so,
 * in order; "thread" the same in a thread; "sound" what must be silent.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "hidden.h"

static void straight(const unsigned char *unset, const unsigned char *set);

/** Leaves the stack below with values. */
static APART void fill_below(int value) {
    volatile char cells[600];
    for (int i = 0; i < 600; i++) cells[i] = (char)value;
}

/** Calls nobody: what it keeps may lie below the stack pointer, all of it or a part. */
static APART void small_frame(int count) {
    volatile int cells[20];
    if (count > 5) cells[3] = 1;
    SEE(cells[3] == 7);                                      /* error: jump */
}

static APART void large_frame(int count) {
    volatile int cells[60];
    if (count > 5) cells[3] = cells[59] = 1;
    SEE(cells[3] == 7);                                      /* error: jump */
    SEE(cells[59] == 7);                                     /* error: jump */
}

static void errors(void) {
    fill_below(3);
    small_frame(3);
    fill_below(4);
    large_frame(3);
    unsigned char *block = hide(malloc(64)), *other = hide(malloc(64));
    memset(block, 1, 10);
    SEE(block[9] == 1);
    SEE(block[10] == 1);                                     /* error: jump */
    sum += ((volatile unsigned char *)block)[other[1] & 7];  /* error: value */
    other[2] &= 0x0f;
    SEE(other[2] & 0x10);
    SEE(other[2] & 0x01);                                    /* error: jump */
    memcpy(other + 20, block + 5, 6);
    SEE(other[24] == 1);
    SEE(other[25] == 1);                                     /* error: jump */
    struct { unsigned set : 3, not_set : 5; } *bits = hide(malloc(4));
    bits->set = 2;
    SEE(bits->set == 2);
    SEE(bits->not_set == 3);                                 /* error: jump */
    double *number = hide(malloc(16));
    SEE(*number > 1.5);                                      /* error: jump */
    int descriptor = open("/dev/null", O_WRONLY);
    if (write(descriptor, block, 10) != 10) abort();
    if (write(descriptor, block, 11) != 11) abort();         /* error: write */
    uint32_t *words = hide(realloc(hide(malloc(8)), 800));
    words[3] = 7;
    SEE(words[3] == 7);
    SEE(words[4] == 7);                                      /* error: jump */
    char *text = hide(malloc(200));
    memset(text, 'a', 199);
    text[199] = 0;
    SEE(strrchr(text, 'b') == text);
    memcpy(text + 77, other + 40, 1);
    SEE(strrchr(text, 'b') == text);                         /* error: jump */
    text = hide(malloc(40));
    memset(text, 'a', 20);
    text[30] = 0;
    SEE(strlen(text) == 30);                                 /* error: jump */
    SEE(strnlen(text, 20) == 3);
    hide((void *)strnlen(text, 25));                         /* error: jump */
    SEE(strcspn(text, "=#!?@;:,.-_+*%&/()") == 3);           /* error: jump */
    SEE(strspn(text, "aefghijklmnopqrstuvwx") == 3);         /* error: jump */
    char *set = hide(calloc(1, 40));
    memset(set, 'a', 38);
    SEE(strncmp(text, set, 20));
    hide((void *)(long)strncmp(text, set, 21));              /* error: jump */
    hide((void *)(long)strncasecmp(set, text, 21));          /* error: jump */
    strncpy(set, text, 20);
    SEE(set[19] == 3);
    strncpy(set, text, 21);                                  /* error: jump */
    strncat(memset(set, 0, 40), text, 21);                   /* error: jump */
    straight(block + 16, (const unsigned char *)words);
}

/** What was reported is defined until something is written to it again; nothing ends a block in between. */
static APART void straight(const unsigned char *unset, const unsigned char *set) {
    __asm__ volatile("mov (%0), %%rax; and $7, %%eax;" /* error: value */ /* error: value */ /* error: jump */
                     "movzbl (%1,%%rax), %%ecx; movzbl 1(%1,%%rax), %%ecx; lea 1(%%rax), %%rcx; movzbl (%1,%%rcx), %%ecx;"
                     "mov 8(%0), %%rax; and $7, %%eax; movzbl (%1,%%rax), %%ecx; cmp $3, %%eax; jb 1f; 1:"
                     "mov 16(%0), %%rax; xor %%ecx, %%ecx; cmp %%ecx, %%eax; je 2f; 2: jb 3f; 3:"
                     : : "r"(unset), "r"(set) : "rax", "rcx", "cc", "memory");
}

/** Behind the undefined bytes there is one that would be found: it lies beyond the length. */
static APART void found_beyond(unsigned size, unsigned distance) {
    char *block = hide(malloc(80));
    memset(block, 'a', size);
    block[size + distance] = '=';
    SEE(memchr(block, '=', size) != NULL);
    block[size + distance] = 0;
    SEE(strnlen(block, size) != size);
    memset(block + 80 - size, 'a', size);
    block[79 - size - distance] = '=';
    SEE(memrchr(block + 80 - size, '=', size) != NULL);
    free(block);
}

/** Upper halves of bytes that have no lower ones, and have none themselves where they were cleared: by vectors. */
static APART void vectors_of_bits(void) {
    uint64_t *block = hide(malloc(32)), *masks = hide(malloc(32)), *ones = hide(malloc(32));
    memset(masks, 0x0f, 32);
    memset(ones, 0xf0, 32);
    __asm__ volatile("movdqu (%0), %%xmm0\n\tmovdqu (%1), %%xmm1\n\tpand %%xmm1, %%xmm0\n\tmovdqu %%xmm0, (%0)\n\t"
                     "movdqu 16(%0), %%xmm0\n\tmovdqu (%2), %%xmm1\n\tpor %%xmm1, %%xmm0\n\tmovdqu %%xmm0, 16(%0)"
                     :: "r"(block), "r"(masks), "r"(ones) : "xmm0", "xmm1", "memory");
    SEE(block[0] & UINT64_C(0xf0f0f0f0f0f0f0f0));
    SEE((block[3] & UINT64_C(0xf0f0f0f0f0f0f0f0)) == 7);
    __asm__ volatile("movdqu (%1), %%xmm0\n\tmovdqu (%0), %%xmm1\n\tpandn %%xmm1, %%xmm0\n\tmovdqu %%xmm0, (%0)"
                     :: "r"(block), "r"(masks) : "xmm0", "xmm1", "memory");
    SEE(block[1] & UINT64_C(0x0f0f0f0f0f0f0f0f));
    if (__builtin_cpu_supports("avx512vl")) {
        /* (a and b) or (c and not b), in one instruction; then a mask of one element for all; both are added up */
        uint64_t *first = hide(malloc(32)), *second = hide(malloc(32)), mask = UINT64_C(0x00ff00ff00ff00ff);
        for (int i = 0; i < 16; i++) ((uint8_t *)first)[2 * i] = 3, ((uint8_t *)second)[2 * i + 1] = 4;
        __asm__ volatile("vpbroadcastq (%2), %%ymm2\n\tvmovdqu (%0), %%ymm0\n\tvmovdqu (%1), %%ymm1\n\t"
                         "vpternlogq $0xe4, %%ymm2, %%ymm1, %%ymm0\n\tvmovdqu %%ymm0, (%0)\n\t"
                         "vpandq (%2)%{1to4%}, %%ymm1, %%ymm1\n\tvmovdqu %%ymm1, (%1)"
                         :: "r"(first), "r"(second), "r"(&mask) : "xmm0", "xmm1", "xmm2", "memory");
        SEE(first[0] + first[1] + first[2] + first[3] == 1);
        SEE((second[0] | second[3]) & ~mask);
    }
}

static APART void wide_texts(unsigned size) {
    wchar_t *text = hide(malloc((size + 11) * sizeof *text));
    wmemset(text, 'a', size);
    text[size] = 0;
    SEE(wcsrchr(text, 'a') != (size ? text + size - 1 : NULL));
    SEE(wcsrchr(text, 'b') != NULL);
    SEE(wcschr(text, 'b') != NULL);
    SEE(wcslen(text) != size);
    wchar_t *near = alloca((size + 1) * sizeof *near);
    wmemcpy(near, text, size);
    SEE(wmemchr(near, 'b', size) != NULL);
    SEE(wcsnlen(near, size) != size);
    SEE(wmemcmp(near, text, size) != 0);
    SEE(wcsncmp(near, text, size) != 0);
    free(text);
}

/** The upper bits of a word of which the lower ones are not set, and the other way round: sums that move bits. */
static APART void moved_bits(void) {
    unsigned *words = hide(malloc(8)), low = words[0] & 0xfff, moved = low;
    __asm__("lea (%q1, %q1), %0" : "=r"(moved) : "r"(low));
    SEE(moved >> 13);
    SEE(moved & 1);
    __asm__("lea 0(, %q1, 8), %0" : "=r"(moved) : "r"(low));
    SEE(moved >> 15);
    SEE(moved & 7);
    moved = low;
    __asm__("add %0, %0" : "+r"(moved));
    SEE(moved >> 13);
    SEE(moved & 1);
    struct { unsigned before : 15, field : 16, behind : 1; } *bits = hide(words);
    bits->field = 5;
    SEE(bits->field == 7);
}

/** A block, never freed, of which more than `size` bytes have no value. */
static APART char *filled(unsigned size) { return memset(hide(malloc(size + size % 40)), 'a', size); }

static APART void texts(unsigned size) {
    char *text = hide(malloc(size + 5)), *other = hide(malloc(size + 20)), *near = alloca(size + 1), *exact = hide(malloc(size + 1));
    memset(text, 'a', size);
    strcpy(text + size, "=yz");
    near[size] = 0;
    memcpy(near, text, size);
    SEE(strlen(text) != size + 3);
    SEE(strchr(text, '=') != text + size);
    SEE(strchr(text, '!') != NULL);
    SEE(strrchr(text, '=') != text + size);
    SEE(strrchr(text, '!') != NULL);
    SEE(memchr(text, '=', size + 1) != text + size);
    SEE(strnlen(text, size) != size);
    SEE(strncmp(near, text, size));
    SEE(memchr(near, '!', size) != NULL);
    SEE(memrchr(near, '!', size) != NULL);
    SEE(strnlen(near, size) != size);
    SEE(memcmp(near, text, size) != 0);
    SEE(strncmp(near, text, size) != 0);
    SEE(strncasecmp(near, text, size) != 0);
    SEE(strncasecmp(near, memset(other, 'A', size), size) != 0);
    SEE(strncmp(filled(size), filled(size), size) != 0);
    SEE(strncasecmp(filled(size), filled(size), size) != 0);
    SEE(strncpy(other, filled(size), size)[size - 1] != 'a');
    SEE(stpncpy(other, filled(size), size) != other + size);
    SEE(strncat(memset(other, 0, 1), filled(size), size)[size - 1] != 'a');
    SEE(memmem(near, size, "!!", 2) != NULL);
    SEE(strcspn(near, "=#!?@;:,.-_+*%&/()") != size);
    SEE(strspn(near, "abcdefghijklmnopqrstuvwx") != size);
    SEE(strpbrk(near, "=#!?@;:,.-_+*%&/()") != NULL);
    memcpy(exact, near, size + 1);
    SEE(strcspn(exact, "=#!?@;:,.-_+*%&/()") != size);
    SEE(strspn(exact, "abcdefghijklmnopqrstuvwx") != size);
    SEE(strpbrk(exact, "=#!?@;:,.-_+*%&/()") != NULL);
    free(exact);
    strcpy(other, text);
    SEE(strcmp(other, text));
    SEE(memcmp(other, text, size + 4));
    SEE(strstr(text, "=y") != text + size);
    SEE(strcspn(text, "=") != size);
    SEE(strcspn(text, "=#!?@;:,.-_+*%&/()") != size); /* a set of more than 16 */
    SEE(strspn(text, "abcdefghijklmnopqrstuvwx") != size);
    SEE(strpbrk(text, "=#!?@;:,.-_+*%&/()") != text + size);
    snprintf(other, size + 10, "%s%d", text, 12);
    SEE(strlen(other) != size + 5);
    free(text);
    free(other);
}

static void sound(void) {
    for (unsigned size = 1; size < 100; size++) texts(size);
    for (unsigned size = 100; size < 700; size += 17) texts(size);
    for (unsigned size = 0; size < 300; size += 7) wide_texts(size);
    moved_bits();
    vectors_of_bits();
    for (unsigned size = 1; size < 32; size++) for (unsigned distance = 1; distance < 34; distance += 3) found_beyond(size, distance);
    struct { char byte; int word; } first, second;
    first.byte = 1;
    first.word = 2;
    second = first;
    memcpy(&first, &second, sizeof first);
    SEE(first.byte == 1 && first.word == 2);
    unsigned mixed = *(unsigned *)hide(malloc(4));
    SEE((mixed & 0) == 0);
    SEE((mixed | ~0u) == ~0u);
    mixed ^= mixed & 0xffff0000;
    SEE(mixed >> 16 == 0);
    uint64_t *words = hide(malloc(65 * 8));
    for (int i = 0; i < 64; i++) words[i] = (uint64_t)i;
    for (int i = 0; i < 64; i++) SEE(words[i] * 3 + (words[63 - i] ^ 5) == 17);
    char *zeros = hide(calloc(7, 11));
    for (int i = 0; i < 77; i++) SEE(zeros[i]);
    wchar_t wide[32];
    SEE(mbstowcs(wide, "some text", 32) != 9 || wide[8] != L't');
    int chosen = zeros[3] ? (int)mixed : 5;
    SEE(chosen == 5);
    uint32_t features;
    __asm__ volatile("mov %1, %%ecx; mov $1, %%eax; cpuid; mov %%edx, %0" /* whose part nobody has asked for */
                     : "=r"(features) : "r"((uint32_t)words[64]) : "rax", "rbx", "rcx", "rdx");
    SEE(features == 5);
    char line[64];
    snprintf(line, sizeof line, "%5.2f %lx", 2.5, 77ul);
    SEE(line[3] == '5');
    puts("sound");
}

static void *thread(void *argument) {
    errors();
    return argument;
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    pthread_t other;
    if (!strcmp(what, "errors")) errors();
    if (!strcmp(what, "sound")) sound();
    if (!strcmp(what, "thread") && !pthread_create(&other, NULL, thread, NULL)) pthread_join(other, NULL);
    return 0;
}
