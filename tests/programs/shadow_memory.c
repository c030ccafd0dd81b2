/**
 * @fileoverview What shadow memory must follow: stores of all sizes at all alignments, mappings that go and move, a fork,
 * addresses that have no memory, and the kernel's own pages.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096 };
static volatile uint64_t sum;

static void all_sizes(volatile unsigned char *at) {
    for (unsigned offset = 0; offset < 64; offset++) {
        *(at + offset) = 1;
        *(volatile uint16_t *)(at + 64 + offset) = 2;
        *(volatile uint32_t *)(at + 128 + offset) = 4;
        *(volatile uint64_t *)(at + 256 + offset) = 8;
        sum += *(at + offset / 2) + *(volatile uint16_t *)(at + offset) + *(volatile uint32_t *)(at + offset) + *(volatile uint64_t *)(at + offset);
    }
}

static sigjmp_buf back;
static volatile sig_atomic_t faults;

static void handler(int number, siginfo_t *info, void *context) {
    (void)context;
    faults += number == SIGSEGV && info != NULL;
    siglongjmp(back, 1);
}

static void wild(uint64_t address) {
    if (!sigsetjmp(back, 1)) sum += *(volatile uint64_t *)address;
}

static void wild_addresses(void) {
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    static const uint64_t addresses[] = {8, UINT64_C(0x5ffff0000), UINT64_C(0x700000000008), UINT64_C(0x155555555550), UINT64_C(0x580000000000),
                                         UINT64_C(0x600000000123), UINT64_C(0x800000000000), UINT64_C(0xffff800000000000),
                                         UINT64_C(0x123456789abcdef0)};
    for (unsigned i = 0; i < sizeof addresses / sizeof *addresses; i++) wild(addresses[i]);
}

static void kernel_pages(void) {
    const unsigned char *image = (const unsigned char *)getauxval(AT_SYSINFO_EHDR);
    struct timespec now;
    for (int i = 0; i < 1000; i++) clock_gettime(CLOCK_MONOTONIC, &now);
    for (int i = 0; i < 64; i++) sum += image ? *(volatile const uint64_t *)(image + i) : 0;
}

int main(void) {
    unsigned char *memory = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    all_sizes(memory);
    for (unsigned i = 0; i < 4 * PAGE; i++) *(volatile unsigned char *)(memory + i) = (unsigned char)i;
    memory = mremap(memory, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, memory - 64 * PAGE);
    all_sizes(memory + PAGE);
    pid_t child = fork();
    if (!child) {
        all_sizes(memory);
        munmap(memory, 2 * PAGE);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    munmap(memory, 4 * PAGE);
    wild_addresses();
    kernel_pages();
    char *grown = malloc(100);
    for (int i = 0; i < 20; i++) grown = realloc(grown, (size_t)100 << i), grown[(100 << i) - 1] = 1;
    free(grown);
    printf("faults %d child %d\n", (int)faults, status);
    return 0;
}
