/**
 * @fileoverview Threads that each walk through an array of their own: `cache_threads THREADS ROUNDS`. For
 * tests/test_cache.py, which knows how often the marked line misses.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { LINES = 4096, MOST = 8 };

static struct line {
    uint64_t value, unused[7];
} arrays[MOST][LINES] __attribute__((aligned(4096)));

static int rounds;

static void *work(void *data) {
    const struct line *lines = data;
    uint64_t sum = 0;
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < LINES; i++)
            sum += lines[i].value; /* the line that misses */
    return (void *)(uintptr_t)sum;
}

int main(int count, char **arguments) {
    pthread_t threads[MOST];
    int wanted = count > 2 ? atoi(arguments[1]) : 1;
    rounds = count > 2 ? atoi(arguments[2]) : 1;
    for (int i = 0; i < wanted; i++)
        pthread_create(&threads[i], NULL, work, arrays[i]);
    for (int i = 0; i < wanted; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
