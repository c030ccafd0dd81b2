/**
 * @fileoverview Large blocks that are hardly used: what memcheck knows of them takes no memory where nobody looks, and is right all the
 * same, in both processes after a fork as well. Errors are told where the line says so.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LARGE ((size_t)1 << 30)
#define MEBIBYTE ((size_t)1 << 20)

static volatile unsigned long count;

static void *hide(void *pointer) {
    __asm__ volatile("" : "+r"(pointer) : : "memory");
    return pointer;
}

/** All of the large block is undefined but for what was written, in the process that has written it. */
static void forked(void) {
    char *block = hide(malloc(LARGE));
    memset(block + 100 * MEBIBYTE, 1, 3 * MEBIBYTE);
    pid_t child = fork();
    if (child == 0) {
        memset(block + 200 * MEBIBYTE, 1, MEBIBYTE);
        if (block[100 * MEBIBYTE + 5]) count++;
        if (block[200 * MEBIBYTE + 5]) count++;
        if (block[300 * MEBIBYTE + 5]) count++; /* error: jump */
        _exit(0);
    }
    waitpid(child, NULL, 0);
    if (block[100 * MEBIBYTE + 5]) count++;
    if (block[103 * MEBIBYTE - 1]) count++;
    if (block[103 * MEBIBYTE]) count++; /* error: jump */
    if (block[200 * MEBIBYTE + 5]) count++; /* error: jump */
    free(block);
    block = hide(calloc(1, LARGE)); /* where the other one lay */
    for (size_t at = 0; at < LARGE; at += 64 * MEBIBYTE)
        if (block[at]) count++;
    free(block);
}

/** A block that grows takes with it what is known. */
static void grown(void) {
    char *block = hide(malloc(32 * MEBIBYTE));
    memset(block + 16 * MEBIBYTE, 1, MEBIBYTE);
    block = hide(realloc(block, 64 * MEBIBYTE));
    if (block[16 * MEBIBYTE] != block[17 * MEBIBYTE - 1]) count++;
    if (block[15 * MEBIBYTE]) count++; /* error: jump */
    if (block[63 * MEBIBYTE]) count++; /* error: jump */
    free(block);
}

/** Memory of the kernel's has values, whatever lay there. */
static void mapped(void) {
    char *block = hide(malloc(16 * MEBIBYTE));
    char *page = (char *)(((unsigned long)block + 8 * MEBIBYTE) & ~4095ul);
    mmap(page, 3 * MEBIBYTE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (page[MEBIBYTE]) count++;
    if (page[-1]) count++; /* error: jump */
    if (page[3 * MEBIBYTE]) count++; /* error: jump */
}

int main(void) {
    forked();
    grown();
    mapped();
    puts("done");
    return 0;
}
