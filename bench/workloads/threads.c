/**
 * @file bench/workloads/threads.c
 * @fileoverview A fixed amount of work shared out over threads that do not touch each other's memory.
 *
 * Arguments: threads, millions of steps. The printed checksum does not depend on the number of threads, so that runs
 * with one and with two threads are comparable and their quotient is the speed-up.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CHUNKS = 64, TABLE = 4096 };

typedef struct worker {
    pthread_t thread;
    int first, stride;
    long steps;
    uint64_t sums[CHUNKS];
} worker;

static uint64_t chunk(int number, long steps) {
    uint32_t table[TABLE] = {0};
    uint64_t state = 0x9e3779b97f4a7c15u * (uint64_t)(number + 1), sum = 0;
    for (long step = 0; step < steps; step++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        uint32_t *cell = &table[state % TABLE];
        if (*cell & 1) sum += *cell;
        else sum ^= state;
        *cell += (uint32_t)(state >> 40) + 1;
    }
    return sum;
}

static void *work(void *argument) {
    worker *self = argument;
    for (int number = self->first; number < CHUNKS; number += self->stride)
        self->sums[number] = chunk(number, self->steps);
    return NULL;
}

int main(int count, char **arguments) {
    int threads = count > 1 ? atoi(arguments[1]) : 2;
    long steps = (count > 2 ? atol(arguments[2]) : 10) * 1000000 / CHUNKS;
    if (threads < 1 || threads > CHUNKS) return 2;
    worker *workers = calloc((size_t)threads, sizeof *workers);
    if (!workers) return 1;
    for (int index = 0; index < threads; index++) {
        workers[index].first = index;
        workers[index].stride = threads;
        workers[index].steps = steps;
        if (pthread_create(&workers[index].thread, NULL, work, &workers[index])) return 1;
    }
    uint64_t total = 0;
    for (int index = 0; index < threads; index++) {
        pthread_join(workers[index].thread, NULL);
        for (int number = 0; number < CHUNKS; number++) total += workers[index].sums[number];
    }
    printf("%016llx\n", (unsigned long long)total);
    free(workers);
    return 0;
}
