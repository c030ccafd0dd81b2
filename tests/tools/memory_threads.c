/**
 * @fileoverview Threads that change memory at random, all at once; at the end the map as the kernel shows it is printed.
 * Usage: memory_threads SEED.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096ul
enum { THREADS = 4, ROUNDS = 400, PLACES = 12, ROOM = 64 };

static uint64_t seed;
static char *area;

/** Each thread has an area of its own, in which everything is at fixed places, and unplaced mappings besides. */
static void *work(void *argument) {
    uint64_t number = (uintptr_t)argument, state = seed * 977 + number;
    char *own = area + number * ROOM * PAGE, *others[PLACES] = {0};
    unsigned long sizes[PLACES] = {0};
    static const int protections[] = {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE, PROT_READ | PROT_EXEC};
    for (int round = 0; round < ROUNDS; round++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        unsigned draw = (unsigned)(state >> 33), first = draw % 48, pages = 1 + draw / 64 % 16;
        int protection = protections[draw / 1024 % 4];
        unsigned place = draw / 4096 % PLACES;
        switch (draw / 65536 % 5) {
        case 0:
            mmap(own + first * PAGE, pages * PAGE, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
            break;
        case 1: munmap(own + first * PAGE, pages * PAGE); break;
        case 2: mprotect(own + first * PAGE, pages * PAGE, protection); break;
        case 3:
            if (others[place]) munmap(others[place], sizes[place]);
            sizes[place] = 16 * PAGE;
            others[place] = mmap(NULL, sizes[place], protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            break;
        default:
            if (others[place]) {
                char *moved = mremap(others[place], sizes[place], pages * PAGE, MREMAP_MAYMOVE);
                if (moved == MAP_FAILED) continue;
                others[place] = moved;
                sizes[place] = pages * PAGE;
            }
            break;
        }
    }
    return NULL;
}

int main(int count, char **words) {
    pthread_t threads[THREADS];
    char piece[4096];
    ssize_t size;
    if (count < 2) return 2;
    seed = (uint64_t)atoll(words[1]);
    area = mmap(NULL, THREADS * ROOM * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (uintptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    int maps = open("/proc/self/maps", O_RDONLY);
    while ((size = read(maps, piece, sizeof piece)) > 0)
        if (write(1, piece, (size_t)size) != size) return 1;
    return 0;
}
